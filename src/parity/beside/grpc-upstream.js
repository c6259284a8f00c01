import http2 from 'node:http2'
import { frameMessage, SESSION_MEGABYTES } from '../../node/call.js'
import { EARLY_PATH, PASSED_ON } from './corpus.js'

/** Paths of the gRPC upstream, by what it does there. A caller may add to a path, to tell calls apart. */
export const GRPC_PATHS = {
  /** `/code/N` answers the message, and then fails with gRPC's status N, in trailers. */
  code: '/code/',
  /** `/only/N` answers nothing but status N, in one frame of headers. */
  only: '/only/',
  /** Answers nothing. */
  hang: '/hang/',
  /** Resets the stream before an answer. */
  reset: '/reset/',
  /** Resets the stream after half of the answer. */
  cut: '/cut/',
}
/** The prefix of the path that is noted when a caller aborts its stream. */
export const CANCELLED = '/cancelled'
/** The grpc-message of each failure. Its blanks and its % must be percent-encoded on the way. */
export const REASON = 'ends badly: 100 %'

const WINDOW_BYTES = 1024 * 1024
const { NGHTTP2_INTERNAL_ERROR } = http2.constants

/**
 * Creates a gRPC upstream. It answers with the message of the request, and the upstream's name in a header, once it has all of it; at
 * EARLY_PATH while it arrives.
 * @param {string | null} name of the upstream; null: it does not answer
 * @param {(path: string) => void} note is called with the path of each stream, and with CANCELLED before the path if it is aborted
 * @returns {http2.Http2Server} not listening yet
 */
export function createGrpcServer(name, note) {
  const server = http2.createServer({
    settings: { initialWindowSize: WINDOW_BYTES },
    maxSessionMemory: SESSION_MEGABYTES,
  })
  server.on('session', session => {
    session.setLocalWindowSize(WINDOW_BYTES)
    session.on('error', () => {})
  })
  server.on('sessionError', () => {})
  server.on('stream', (stream, headers) => {
    const path = `${headers[':path']}`
    note(path)
    stream.on('error', () => {})
    stream.on('aborted', () => note(CANCELLED + path))
    if (name !== null) answerStream(stream, { name, path, headers }).catch(() => stream.destroy())
    else stream.resume()
  })
  return server
}

/**
 * Answers one stream as its path demands (GRPC_PATHS). At `/headers` the message is the JSON of the request's headers.
 * @param {http2.ServerHttp2Stream} stream
 * @param {{ name: string, path: string, headers: http2.IncomingHttpHeaders }} request name: that of the upstream
 * @throws {Error} if the stream breaks
 */
async function answerStream(stream, { name, path, headers }) {
  if (path.startsWith(GRPC_PATHS.hang)) return void stream.resume()
  const isEarly = path === EARLY_PATH
  const chunks = isEarly ? [] : await stream.toArray()
  if (path.startsWith(GRPC_PATHS.reset)) return stream.close(NGHTTP2_INTERNAL_ERROR)
  const { 'x-nonce': nonce = '', 'x-long': long } = headers
  const echoHeaders = { 'x-upstream': name, 'x-path': path, 'x-method': headers[':method'] }
  const answerHeaders = { ':status': 200, 'content-type': 'application/grpc', ...echoHeaders }
  const [, onlyStatus] = path.split(GRPC_PATHS.only)
  if (onlyStatus)
    return stream.respond(
      { ...answerHeaders, 'grpc-status': onlyStatus, 'grpc-message': encodeURI(REASON) },
      { endStream: true },
    )
  stream.respond(
    {
      ...answerHeaders,
      ...(nonce && { 'x-nonce': nonce }),
      ...(long && { 'x-long': long }),
      ...(path === '/headers' && { via: PASSED_ON.via }),
    },
    { waitForTrailers: true },
  )
  const [, code = '0'] = path.split(GRPC_PATHS.code)
  const trailers = { 'grpc-status': code, ...(code !== '0' && { 'grpc-message': encodeURI(REASON) }) }
  stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers, 'x-trailer': nonce || 'none' }))
  const bytes = Buffer.concat(chunks)
  if (isEarly) stream.pipe(stream)
  else if (path.startsWith(GRPC_PATHS.cut))
    stream.write(bytes.subarray(0, bytes.length / 2), () => stream.close(NGHTTP2_INTERNAL_ERROR))
  else stream.end(path === '/headers' ? frameMessage(Buffer.from(JSON.stringify(headers))) : bytes)
}
