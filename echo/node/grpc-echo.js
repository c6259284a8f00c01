// A gRPC server: answers each unary call with its message, and the nonce where there was one. The same for every plane: Pipy
// crashes where calls are cancelled.
//   node grpc-echo.js 127.0.0.1:8080
import http2 from 'node:http2'

const [address, port] = process.argv[2].split(':')
const WINDOW_BYTES = 1024 * 1024

const server = http2.createServer({ settings: { initialWindowSize: WINDOW_BYTES } })
server.on('session', session => session.setLocalWindowSize(WINDOW_BYTES))
server.on('sessionError', () => {})
server.on('stream', (stream, headers) => {
  const nonce = headers['x-nonce']
  /** @type {Buffer[]} */
  const chunks = []
  stream.on('error', () => {})
  stream.on('data', chunk => chunks.push(/** @type {Buffer} */ (chunk)))
  stream.on('end', () => {
    if (stream.destroyed) return
    const head = { ':status': 200, 'content-type': 'application/grpc', ...(nonce ? { 'x-nonce': nonce } : {}) }
    stream.respond(head, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    // The message goes back framed as it came.
    stream.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  })
})
server.listen(Number(port), address)
