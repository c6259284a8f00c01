import http2 from 'node:http2'
import { callSafely } from '../lib/call-safely.js'

/** Unary calls of gRPC over HTTP/2, by the protocol's own specification (grpc/grpc, doc/PROTOCOL-HTTP2.md). */
/**
 * @import { Endpoint } from '../model/types.ts'
 * @import { Request, Response } from './send.js'
 */

/** Status codes of gRPC (doc/statuscodes.md). */
export const CODES = { ok: 0, unknown: 2, permissionDenied: 7, unimplemented: 12, internal: 13, unavailable: 14 }

/** The code of an answer without grpc-status, by its HTTP status (doc/http-grpc-status-mapping.md). @type {Record<number, number>} */
const CODE_OF_STATUS = { 400: 13, 401: 16, 403: 7, 404: 12, 429: 14, 502: 14, 503: 14, 504: 14 }
/** The HTTP status that stands for a code which a proxy gives. @type {Record<number, number>} */
const STATUS_OF_CODE = { 0: 200, 7: 403, 12: 404, 14: 503 }

const PREFIX_BYTES = 5
const WINDOW_BYTES = 1024 * 1024
/**
 * Node refuses headers with ENHANCE_YOUR_CALM while a connection holds more than this, by default 10 MB: a body of 10 MiB that
 * waits to be sent is more (nodejs.org/api/http2.html, maxSessionMemory).
 */
export const SESSION_MEGABYTES = 256

/**
 * The headers and trailers of an answer; status 0: none has arrived.
 * @typedef {{ status: number, headers: http2.IncomingHttpHeaders, trailers: http2.IncomingHttpHeaders }} ReceivedHeaders
 */
/**
 * @typedef {object} CallFields
 * @property {number} code that of gRPC; internal for an answer that was cut, has no code, or lacks the message of an OK
 * @property {Record<string, string>} trailers
 */
/**
 * A call that was answered, or whose stream was refused. `status` is the HTTP status that stands for the code, 500 for codes
 * that only an application gives. `body` is the message, else grpc-message or the bytes of the answer, as latin1. `headers`
 * lacks those whose names begin with `grpc-`.
 * @typedef {Response & CallFields} Called
 */

/**
 * Opens a connection for many calls. It swallows its errors, since each call reports them itself. The peer's certificate is not
 * checked.
 * @param {Endpoint} endpoint
 * @param {import('node:tls').ConnectionOptions} [tls] absent: plaintext
 * @returns {http2.ClientHttp2Session} the caller destroys it
 */
export function openChannel({ address, port }, tls) {
  const channel = http2.connect(`${tls ? 'https' : 'http'}://${address}:${port}`, {
    settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
    maxSessionMemory: SESSION_MEGABYTES,
    ...(tls && { ...tls, rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
  })
  channel.on('connect', () => channel.setLocalWindowSize(WINDOW_BYTES))
  // Without this listener an error would end the process.
  return channel.on('error', () => {})
}

/**
 * Frames a message (Length-Prefixed-Message): a byte 0 for no compression, its length, and the message.
 * @param {Buffer} message
 * @returns {Buffer}
 */
export function frameMessage(message) {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/**
 * Takes the message out of a frame.
 * @param {Buffer} bytes
 * @returns {Buffer | null} null: the bytes are not exactly one whole, uncompressed message
 */
function unframeMessage(bytes) {
  const isComplete =
    bytes.length >= PREFIX_BYTES && bytes[0] === 0 && bytes.readUInt32BE(1) === bytes.length - PREFIX_BYTES
  return isComplete ? bytes.subarray(PREFIX_BYTES) : null
}

/**
 * @typedef {object} CallOptions
 * @property {http2.ClientHttp2Session} [channel] of openChannel(); absent: the call has a connection of its own
 * @property {import('node:tls').ConnectionOptions} [tls] of the call's own connection; absent: plaintext
 * @property {number} [timeoutSeconds] for the whole call; 10 by default
 * @property {(stream: http2.ClientHttp2Stream) => void} [begin] writes the messages and ends the stream, instead of sending
 *   `body`
 */
/**
 * Makes one call. An answer that was cut, by the timeout or a broken connection, resolves with the code internal; a stream that
 * the peer refused before an answer resolves with the code unavailable.
 * @param {Endpoint} endpoint
 * @param {Request} request `method` and `isChunked` are ignored
 * @param {CallOptions} [options]
 * @returns {Promise<Called>}
 * @throws {Error} if no answer begins within `timeoutSeconds`, the connection breaks before, or the channel is closed; a TypeError for
 *   a header that cannot be sent
 */
export async function callUnary(endpoint, { host, path = '/', headers = {}, body = '' }, options = {}) {
  const { tls, timeoutSeconds = 10, channel = openChannel(endpoint, tls) } = options
  try {
    if (channel.destroyed || channel.closed) throw new Error('the connection is closed')
    const stream = channel.request({
      ':method': 'POST',
      ':path': path,
      ':authority': `${host}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    if (options.begin) options.begin(stream)
    else stream.end(frameMessage(Buffer.from(body, 'latin1')))
    return await awaitOutcome(stream, { channel, timeoutSeconds })
  } finally {
    if (!options.channel) channel.destroy()
  }
}

/**
 * Receives the answer to a call until its stream is closed.
 * @param {http2.ClientHttp2Stream} stream
 * @param {{ channel: http2.ClientHttp2Session, timeoutSeconds: number }} options
 * @returns {Promise<Called>} as `callUnary`
 * @throws {Error} as `callUnary`
 */
function awaitOutcome(stream, { channel, timeoutSeconds }) {
  return new Promise((resolve, reject) => {
    /** @type {number | undefined} */
    let localPort
    /** @type {ReceivedHeaders} */
    const received = { status: 0, headers: {}, trailers: {} }
    /** @type {Buffer[]} */
    const chunks = []
    /** @type {Error | null} */
    let fault = null
    const timer = setTimeout(
      () => stream.destroy(new Error(`no answer within ${timeoutSeconds} s`)),
      timeoutSeconds * 1000,
    )
    stream.on('response', ({ ':status': status, ...rest }) => {
      localPort = channel.socket?.localPort
      Object.assign(received, { status, headers: rest })
    })
    stream.on('trailers', trailers => Object.assign(received, { trailers: { ...trailers } }))
    stream.on('data', chunk => chunks.push(chunk))
    stream.on('error', error => {
      fault = error
    })
    stream.on('close', () => {
      clearTimeout(timer)
      if (received.status > 0)
        resolve({ ...createOutcome(received, { bytes: Buffer.concat(chunks), isCut: fault !== null }), localPort })
      else if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) resolve(REFUSED)
      else reject(fault ?? new Error('the stream was closed without an answer'))
    })
  })
}

/**
 * The outcome of a stream that was reset with REFUSED_STREAM before an answer (doc/PROTOCOL-HTTP2.md, "Errors").
 * @type {Called}
 */
const REFUSED = {
  code: CODES.unavailable,
  status: 503,
  body: 'the stream was refused',
  headers: {},
  trailers: {},
  localPort: undefined,
  isReused: false,
}

/**
 * Creates the outcome of a call, without its local port.
 * @param {ReceivedHeaders} received
 * @param {{ bytes: Buffer, isCut: boolean }} end bytes: of the body; isCut: a reset or a broken connection ended the answer
 * @returns {Omit<Called, 'localPort'>}
 */
function createOutcome({ status, headers, trailers }, { bytes, isCut }) {
  const grpcStatus = trailers['grpc-status'] ?? headers['grpc-status']
  const message = unframeMessage(bytes)
  // Without a status, or without the whole message that an OK stands for, the call has failed.
  const lacksStatus = grpcStatus === undefined && status === 200
  const lacksMessage = grpcStatus === '0' && message === null
  const isBroken = isCut || lacksStatus || lacksMessage
  const code = isBroken ? CODES.internal : Number(grpcStatus ?? CODE_OF_STATUS[status] ?? CODES.unknown)
  const grpcMessage = trailers['grpc-message'] ?? headers['grpc-message']
  const reason =
    grpcMessage === undefined
      ? bytes.toString('latin1')
      : callSafely(() => decodeURIComponent(`${grpcMessage}`), `${grpcMessage}`)
  const answerHeaders = Object.entries(headers).filter(([name]) => !name.startsWith('grpc-'))
  return {
    code,
    status: STATUS_OF_CODE[code] ?? 500,
    body: code === CODES.ok && message ? message.toString('latin1') : reason,
    headers: Object.fromEntries(answerHeaders),
    trailers: /** @type {Record<string, string>} */ (trailers),
    isReused: false,
  }
}
