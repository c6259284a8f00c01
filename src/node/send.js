import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { BenchError, OWN_CODES } from '../lib/errors.js'
import { callEndpoint } from './call.js'

/** @import { Endpoint } from '../model/types.ts' */

/**
 * A request.
 * @typedef {object} Ask
 * @property {string | null} host null: no Host header is sent
 * @property {string} [path] `/` by default
 * @property {string} [method] GET by default
 * @property {Record<string, string>} [headers]
 * @property {string} [body] bytes as latin1; empty by default
 * @property {boolean} [isChunked]
 * @property {import('../model/types.ts').Protocol} [protocol] `grpc`: a unary call, whose message is the body
 */

/**
 * @typedef {object} SendOptions
 * @property {http.Agent} [agent] keeps connections; absent: the request has its own
 * @property {tls.ConnectionOptions} [tls] absent: plaintext
 * @property {number} [timeoutSeconds] 10 by default
 * @property {AbortSignal} [signal] ends the request
 * @property {http2.ClientHttp2Session} [channel] of a gRPC call; absent: the call has a connection of its own
 * @property {number} [tunnelPort] with `tls`: the port of an HBONE tunnel to the endpoint; absent: there is no tunnel
 */

/**
 * @typedef {object} RepeatOptions
 * @property {number} requests how many to send
 * @property {number} atOnce how many at a time
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
 * @property {number | undefined} localPort
 * @property {boolean} isReused the connection had served a request before
 * @property {string} [fingerprint] of the certificate that the peer showed
 * @property {string} [keyType] of that certificate, such as RSA 4096
 */

/**
 * Sends one request, over a connection of its own unless an agent keeps connections.
 * @param {Endpoint} endpoint
 * @param {Ask} ask
 * @param {SendOptions} [options]
 * @returns {Promise<Response>} body: bytes as latin1
 * @throws when nothing comes for timeoutSeconds (10 by default), or the connection breaks
 */
export async function sendRequest(
  { address, port },
  ask,
  { agent, channel, tls, tunnelPort, timeoutSeconds = 10, signal } = {},
) {
  if (ask.protocol === 'grpc') return callEndpoint({ address, port }, ask, { channel, tls, timeoutSeconds })
  const { host, path = '/', method = 'GET', headers = {}, body = '', isChunked = false } = ask
  const tunnel = tls && tunnelPort ? await openTunnel({ address, port }, { tunnelPort, tls, timeoutSeconds }) : null
  return new Promise((resolve, reject) => {
    const framing = isChunked
      ? { 'transfer-encoding': 'chunked' }
      : body || method === 'POST'
        ? { 'content-length': `${Buffer.byteLength(body, 'latin1')}` }
        : {}
    const options = {
      host: address,
      port,
      path,
      method,
      agent: agent ?? false,
      timeout: timeoutSeconds * 1000,
      signal,
      setHost: host !== null,
      headers: { ...headers, ...framing, ...(host === null ? {} : { host }) },
    }
    const abortRequest = () => request.destroy(new Error(`no answer within ${timeoutSeconds} s`))
    const request = tunnel
      ? // An agent would open a connection of its own instead of taking the tunnel.
        http.request({ ...options, agent: undefined, timeout: undefined, createConnection: () => tunnel.stream })
      : tls
        ? https.request({ ...options, ...tls, rejectUnauthorized: false })
        : http.request(options)
    if (tunnel) {
      const timer = setTimeout(abortRequest, timeoutSeconds * 1000)
      request.on('close', () => {
        clearTimeout(timer)
        tunnel.socket.destroy()
      })
    }
    request.on('timeout', abortRequest)
    request.on('error', reject)
    request.on('response', response => {
      const chunks = /** @type {Buffer[]} */ ([])
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString('latin1'),
          headers: response.headers,
          localPort: request.socket?.localPort,
          isReused: request.reusedSocket,
          ...(tls && readPeerCertificate(tunnel?.socket ?? /** @type {tls.TLSSocket} */ (request.socket))),
        })
      })
    })
    for (let offset = 0; offset < body.length; offset += 65536)
      request.write(body.slice(offset, offset + 65536), 'latin1')
    request.end()
  })
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
 * Sends a request `requests` times, `atOnce` at a time, over as many kept connections.
 * @param {Endpoint} endpoint
 * @param {Ask & { body: string }} ask
 * @param {RepeatOptions} options
 * @throws {BenchError} that numbers the first request which fails or has another answer; a TypeError, or a fault of this
 *   machine (OWN_CODES), as it is
 */
export async function repeatRequest(
  endpoint,
  ask,
  { requests, atOnce, timeoutSeconds, answer, expected, tls, agent: kept, ...place },
) {
  const { before = 0, total = requests } = place
  const agent = kept ?? new (tls ? https : http).Agent({ keepAlive: true, maxSockets: atOnce })
  let sentCount = 0
  const sendInTurn = async () => {
    while (sentCount < requests) {
      const requestName = `request ${before + ++sentCount} of ${total} to ${ask.host}`
      const { status, body } = await sendRequest(endpoint, ask, { agent, timeoutSeconds, tls }).catch(error => {
        if (error instanceof TypeError || OWN_CODES.includes(error.code)) throw error
        throw new BenchError(`${requestName} failed: ${error.message}`, { cause: error })
      })
      const isEcho = status === 200 && body === answer
      if (expected ? status === expected.status && body.length === expected.bytes : isEcho) continue
      throw new BenchError(
        `${requestName} was answered ${status} with ${body.length} bytes, ${expected ? `not ${expected.status} with ${expected.bytes}` : 'not by the application'}`,
      )
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, sendInTurn))
  } finally {
    if (!kept) agent.destroy()
  }
}

/**
 * Opens a tunnel of HBONE: HTTP/2 CONNECT for the endpoint, over mTLS to `tunnelPort` of the same address.
 * @param {Endpoint} endpoint behind the tunnel
 * @param {{ tunnelPort: number, tls: tls.ConnectionOptions, timeoutSeconds: number }} options
 * @returns {Promise<{ stream: Duplex, socket: tls.TLSSocket }>} stream: the bytes to and from the endpoint; socket: the
 *   connection below it, which the caller destroys
 * @throws when the handshake fails, nothing comes for timeoutSeconds, or CONNECT is not answered 200
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
