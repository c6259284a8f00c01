// A gRPC server: answers each unary call with a message of the size asked for, after its service time. The message begins with
// the nonce of the call.
//   node grpc-answer.js 127.0.0.1:8080 '[{"method":"POST","path":"/","requestBytes":100,"responseBytes":1024,"waitMs":30}]'
// A call with a message of another size is answered INVALID_ARGUMENT.
import http2 from 'node:http2'
import { readKinds, renderBody, waitForKind } from './kinds.js'

const [address, port] = process.argv[2].split(':')
// A call has one method and path: there is one kind.
const [kind] = readKinds(process.argv[3]).values()
const WINDOW_BYTES = 1024 * 1024
const PREFIX_BYTES = 5
const INVALID_ARGUMENT = 3
// The field 1, a string, of echo.proto.
const BODY = 0x0a

const server = http2.createServer({ settings: { initialWindowSize: WINDOW_BYTES } })
server.on('session', session => session.setLocalWindowSize(WINDOW_BYTES))
server.on('sessionError', () => {})
server.on('stream', (stream, headers) => {
  let bytes = 0
  stream.on('error', () => {})
  stream.on('data', chunk => {
    bytes += chunk.length
  })
  stream.on('end', () => void answer(stream, { headers, bytes }))
})

/** @param {http2.ServerHttp2Stream} stream @param {{ headers: http2.IncomingHttpHeaders, bytes: number }} options */
async function answer(stream, { headers, bytes }) {
  const nonce = /** @type {string | undefined} */ (headers['x-nonce'])
  const isRight = bytes === encode('x'.repeat(kind.requestBytes)).length
  const waited = isRight && kind.waitMs ? await waitForKind(kind) : null
  if (stream.destroyed) return
  const head = { ':status': 200, 'content-type': 'application/grpc' }
  const known = { ...(nonce && { 'x-nonce': nonce }), ...(waited && { 'x-waited': waited }) }
  stream.respond({ ...head, ...known }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isRight ? '0' : `${INVALID_ARGUMENT}` }))
  if (isRight) stream.end(encode(renderBody(kind, nonce)))
  else stream.end()
}

/** Encodes a message of echo.proto, with the prefix of gRPC. @param {string} body */
function encode(body) {
  const field = body.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([BODY]), encodeVarint(body.length)])
  const message = Buffer.concat([field, Buffer.from(body)])
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** @param {number} value */
function encodeVarint(value) {
  const bytes = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest & 127) | 128)
  }
}

server.listen(Number(port), address)
