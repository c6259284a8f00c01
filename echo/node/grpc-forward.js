// Calls the next service for every unary call, over one channel, and answers what that answered.
//   node grpc-forward.js 127.0.0.1:8080 127.0.0.1:15001 ratings
// The second address is its sidecar's outbound listener, or the next service itself; the last is the authority.
import http2 from 'node:http2'

const [, , listen, next, authority] = process.argv
const [address, port] = listen.split(':')
const WINDOW_BYTES = 1024 * 1024
const UNAVAILABLE = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' }
const settings = { initialWindowSize: WINDOW_BYTES }

/** @type {http2.ClientHttp2Session | null} */
let channel = null
function takeChannel() {
  if (channel === null || channel.closed || channel.destroyed) {
    const session = http2.connect(`http://${next}`, { settings: { ...settings, enablePush: false } })
    // Its calls tell it.
    session.on('error', () => {})
    session.on('connect', () => session.setLocalWindowSize(WINDOW_BYTES))
    channel = session
  }
  return channel
}

const server = http2.createServer({ settings })
server.on('session', session => session.setLocalWindowSize(WINDOW_BYTES))
server.on('sessionError', () => {})
// A caller's host beside another authority is malformed (RFC 9113, 8.3.1), and nginx answers 400.
server.on('stream', (stream, { host, ...headers }) => {
  const call = takeChannel().request({ ...headers, ':authority': authority })
  /** @type {http2.OutgoingHttpHeaders} */
  let trailers = {}
  stream.pipe(call)
  call.on('response', (head, flags) => {
    const isWhole = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0
    stream.respond(head, isWhole ? { endStream: true } : { waitForTrailers: true })
    if (!isWhole) call.pipe(stream)
  })
  call.on('trailers', received => {
    trailers = received
  })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  stream.on('error', () => {})
  stream.on('aborted', () => call.close(http2.constants.NGHTTP2_CANCEL))
  call.on('error', () => {})
  call.on('close', () => {
    if (stream.destroyed || stream.writableEnded) return
    if (stream.headersSent) stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
    else stream.respond(UNAVAILABLE, { endStream: true })
  })
})
server.listen(Number(port), address)
