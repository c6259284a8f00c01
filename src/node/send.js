import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { BenchError, OWN_CODES } from '../lib/errors.js'
import { callUnary } from './call.js'

/** @import { Endpoint } from '../model/types.ts' */

// A body is written in parts of this length.
const WRITE_BYTES = 65_536

/**
 * @typedef {object} Request
 * @property {string | null} host null: no Host header is sent
 * @property {string} [path] `/` by default
 * @property {string} [method] GET by default
 * @property {Record<string, string>} [headers]
 * @property {string} [body] bytes as latin1; empty by default
 * @property {boolean} [isChunked] sends the body in chunks, without a length; false by default
 * @property {import('../model/types.ts').Protocol} [protocol] `grpc`: a unary call, whose message is the body; else HTTP/1.1
 */

/**
 * @typedef {object} SendOptions
 * @property {http.Agent} [agent] keeps connections; absent: the request has its own, as always in a tunnel
 * @property {tls.ConnectionOptions} [tls] absent: plaintext
 * @property {number} [timeoutSeconds] 10 by default
 * @property {AbortSignal} [signal] ends the request; it does not end a gRPC call
 * @property {http2.ClientHttp2Session} [channel] of a gRPC call; absent: the call has a connection of its own
 * @property {number} [tunnelPort] with `tls`, not for gRPC: the port of an HBONE tunnel to the endpoint; absent: there is no tunnel
 */

/**
 * @typedef {object} RepeatOptions
 * @property {number} requests the number to send
 * @property {number} atOnce the number at a time
 * @property {number} timeoutSeconds of each request
 * @property {string} answer the body of each answer, whose status is 200
 * @property {{ status: number, bytes: number }} [expected] status and length instead, if a proxy answers with a body of its own
 * @property {number} [before] requests sent earlier, for errors; 0 by default
 * @property {number} [total] requests in all, for errors; `requests` by default
 * @property {tls.ConnectionOptions} [tls] absent: plaintext
 * @property {http.Agent} [agent] keeps its connections afterwards; absent: connections are closed
 */

/**
 * @typedef {object} Response
 * @property {number} status
 * @property {string} body bytes as latin1
 * @property {http.IncomingHttpHeaders} headers
 * @property {number | undefined} localPort of the connection; undefined: not known
 * @property {boolean} isReused the connection had served a request before
 * @property {string} [fingerprint] SHA-256 of the certificate that the peer showed; absent: plaintext, gRPC, or it showed none
 * @property {string} [keyType] of that certificate, such as RSA 4096; absent likewise
 */

/**
 * Sends one request, over a connection of its own unless an agent keeps connections. The peer's certificate is not checked.
 * @param {Endpoint} endpoint
 * @param {Request} request
 * @param {SendOptions} [options]
 * @returns {Promise<Response>} as `callUnary` for gRPC
 * @throws {Error} if nothing comes for timeoutSeconds (in a tunnel: the answer is not complete by then), or the connection breaks;
 *   an AbortError when the signal aborts; a TypeError for a header that cannot be sent; as `openTunnel` with a tunnel, and as
 *   `callUnary` for gRPC
 */
export async function sendRequest(endpoint, request, options = {}) {
  const { channel, tls, tunnelPort, timeoutSeconds = 10 } = options
  if (request.protocol === 'grpc') return callUnary(endpoint, request, { channel, tls, timeoutSeconds })
  const tunnel = tls && tunnelPort ? await openTunnel(endpoint, { tunnelPort, tls, timeoutSeconds }) : null
  return new Promise((resolve, reject) => {
    const outgoing = openRequest(endpoint, request, { ...options, timeoutSeconds, tunnel })
    const abortRequest = () => outgoing.destroy(new Error(`no answer within ${timeoutSeconds} s`))
    if (tunnel) {
      const timer = setTimeout(abortRequest, timeoutSeconds * 1000)
      outgoing.on('close', () => {
        clearTimeout(timer)
        tunnel.socket.destroy()
      })
    }
    outgoing.on('timeout', abortRequest)
    outgoing.on('error', reject)
    outgoing.on('response', response => {
      const chunks = /** @type {Buffer[]} */ ([])
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString('latin1'),
          headers: response.headers,
          localPort: outgoing.socket?.localPort,
          isReused: outgoing.reusedSocket,
          ...(tls && readPeerCertificate(tunnel?.socket ?? /** @type {tls.TLSSocket} */ (outgoing.socket))),
        }),
      )
    })
    const { body = '' } = request
    for (let offset = 0; offset < body.length; offset += WRITE_BYTES)
      outgoing.write(body.slice(offset, offset + WRITE_BYTES), 'latin1')
    outgoing.end()
  })
}

/**
 * Opens an HTTP/1.1 request, without writing its body: through a tunnel, over TLS, or in plaintext.
 * @param {Endpoint} endpoint
 * @param {Request} request
 * @param {SendOptions & { timeoutSeconds: number, tunnel: Awaited<ReturnType<typeof openTunnel>> | null }} options tunnel: null:
 *   there is none
 * @returns {http.ClientRequest}
 * @throws {TypeError} for a header that cannot be sent
 */
function openRequest({ address, port }, request, { agent, tls, tunnel, timeoutSeconds, signal }) {
  const { host, path = '/', method = 'GET', headers = {} } = request
  const requestOptions = {
    host: address,
    port,
    path,
    method,
    agent: agent ?? false,
    timeout: timeoutSeconds * 1000,
    signal,
    setHost: host !== null,
    headers: { ...headers, ...createFramingHeader(request), ...(host === null ? {} : { host }) },
  }
  if (tunnel) {
    // An agent would open a connection of its own instead of taking the tunnel.
    const createConnection = () => tunnel.stream
    return http.request({ ...requestOptions, agent: undefined, timeout: undefined, createConnection })
  }
  return tls ? https.request({ ...requestOptions, ...tls, rejectUnauthorized: false }) : http.request(requestOptions)
}

/**
 * Creates the header that frames a request's body.
 * @param {Request} request
 * @returns {Record<string, string>} {}: it has no body, and is no POST
 */
function createFramingHeader({ method, body = '', isChunked = false }) {
  if (isChunked) return { 'transfer-encoding': 'chunked' }
  const hasLength = body !== '' || method === 'POST'
  return hasLength ? { 'content-length': `${Buffer.byteLength(body, 'latin1')}` } : {}
}

/**
 * Reads the fingerprint and the key type of the peer's certificate.
 * @param {tls.TLSSocket} socket
 * @returns {Pick<Response, 'fingerprint' | 'keyType'>} keyType: such as RSA 2048; undefined or absent: the peer showed none
 */
function readPeerCertificate(socket) {
  const certificate = socket.getPeerX509Certificate()
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate?.publicKey ?? {}
  const size = details?.modulusLength ?? details?.namedCurve
  return {
    fingerprint: certificate?.fingerprint256,
    ...(type && { keyType: [type.toUpperCase(), size].filter(Boolean).join(' ') }),
  }
}

/**
 * Sends a request `requests` times, `atOnce` at a time, over as many kept connections. After a failure no more are sent.
 * @param {Endpoint} endpoint
 * @param {Request & { body: string }} request
 * @param {RepeatOptions} options
 * @throws {BenchError} that numbers the first request which fails or has another answer; a TypeError, or a fault of this
 *   machine (OWN_CODES), as it is
 */
export async function repeatRequest(endpoint, request, options) {
  const { requests, atOnce, timeoutSeconds, tls, before = 0, total = requests } = options
  const agent = options.agent ?? new (tls ? https : http).Agent({ keepAlive: true, maxSockets: atOnce })
  let sentCount = 0
  let isOver = false
  const sendRemaining = async () => {
    while (sentCount < requests && !isOver) {
      const requestName = `request ${before + ++sentCount} of ${total} to ${request.host}`
      const response = await sendRequest(endpoint, request, { agent, timeoutSeconds, tls }).catch(error => {
        if (error instanceof TypeError || OWN_CODES.includes(error.code)) throw error
        throw new BenchError(`${requestName} failed: ${error.message}`, { cause: error })
      })
      assertExpected(response, requestName, options)
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, sendRemaining))
  } finally {
    isOver = true
    if (!options.agent) agent.destroy()
  }
}

/**
 * Asserts that a response is the expected one: by status and length if `expected` has them, else 200 with the body `answer`.
 * @param {Response} response
 * @param {string} requestName for the error
 * @param {Pick<RepeatOptions, 'answer' | 'expected'>} options
 * @throws {BenchError} if it is another
 */
function assertExpected({ status, body }, requestName, { answer, expected }) {
  const isExpected = expected
    ? status === expected.status && body.length === expected.bytes
    : status === 200 && body === answer
  if (isExpected) return
  throw new BenchError(
    `${requestName} was answered ${status} with ${body.length} bytes, ${expected ? `not ${expected.status} with ${expected.bytes}` : 'not by the application'}`,
  )
}

/**
 * Opens a tunnel of HBONE: HTTP/2 CONNECT for the endpoint, over mTLS to `tunnelPort` of the same address.
 * @param {Endpoint} endpoint behind the tunnel
 * @param {{ tunnelPort: number, tls: tls.ConnectionOptions, timeoutSeconds: number }} options
 * @returns {Promise<{ stream: Duplex, socket: tls.TLSSocket }>} stream: the bytes to and from the endpoint; socket: the
 *   connection below it, which the caller destroys
 * @throws {Error} if the handshake fails, nothing comes for timeoutSeconds, or CONNECT is not answered 200
 */
function openTunnel({ address, port }, { tunnelPort, timeoutSeconds, ...options }) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: address,
      port: tunnelPort,
      rejectUnauthorized: false,
      ...options.tls,
      ALPNProtocols: ['h2'],
    })
    const fail = (/** @type {Error} */ error) => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(timeoutSeconds * 1000, () => fail(new Error(`no answer within ${timeoutSeconds} s`)))
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the connection was closed in the handshake')))
    socket.once('secureConnect', () => {
      const session = http2.connect(`https://${address}:${tunnelPort}`, { createConnection: () => socket })
      session.on('error', fail)
      const stream = session.request({ ':method': 'CONNECT', ':authority': `${address}:${port}` })
      stream.on('error', fail)
      stream.on('close', () => session.close())
      stream.once('response', ({ ':status': status }) => {
        // Strings written to a stream of HTTP/2 are sent as other bytes (seen with Node 20.20); a Duplex makes them buffers.
        if (status === 200) resolve({ stream: Duplex.from({ readable: stream, writable: stream }), socket })
        else fail(new Error(`the tunnel was refused with ${status}`))
      })
    })
  })
}
