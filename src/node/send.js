import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { BenchError, OWN_CODES } from '../lib/errors.js'
import { callEndpoint } from './call.js'

/** @import { Endpoint } from '../model/types.ts' */

/**
 * host null: no Host header is sent; protocol `grpc`: a unary call, whose message is the body; isReused: the connection had
 * served a request before; fingerprint, keyType (such as RSA 4096): of the certificate that the peer showed
 * @typedef {{ host: string | null, path?: string, method?: string, headers?: Record<string, string>, body?: string,
 *   isChunked?: boolean, protocol?: import('../model/types.ts').Protocol }} Ask
 * @typedef {{ status: number, body: string, headers: http.IncomingHttpHeaders, localPort: number | undefined,
 *   isReused: boolean, fingerprint?: string, keyType?: string }} Answer
 */

/**
 * Sends one request, over a connection of its own unless an agent keeps connections.
 * @param {Endpoint} endpoint
 * @param {Ask} ask
 * @param {{ agent?: http.Agent, tls?: tls.ConnectionOptions, timeoutSeconds?: number, signal?:
 *   AbortSignal, channel?: http2.ClientHttp2Session, tunnelPort?: number }} [options] channel: for gRPC;
 *   tunnelPort: with tls, the port of an HBONE tunnel to the endpoint
 * @returns {Promise<Answer>} body: bytes as latin1
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
    for (let at = 0; at < body.length; at += 65536) request.write(body.slice(at, at + 65536), 'latin1')
    request.end()
  })
}

/**
 * Reads the fingerprint and the key type of the peer's certificate.
 * @param {tls.TLSSocket} socket
 * @returns {Pick<Answer, 'fingerprint' | 'keyType'>} keyType: such as RSA 2048; undefined or absent: the peer showed none
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
 * @param {{ requests: number, atOnce: number, timeoutSeconds: number, answer: string, expected?: { status: number, bytes: number },
 *   before?: number, total?: number, tls?: tls.ConnectionOptions, agent?: http.Agent }} options agent: keeps its
 *   connections afterwards; before, total: requests sent earlier and in all, for errors; answer: the body of each answer; expected: its status and length instead, if a proxy answers with a body of its own
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
  let sent = 0
  const sendInTurn = async () => {
    while (sent < requests) {
      const which = `request ${before + ++sent} of ${total} to ${ask.host}`
      const { status, body } = await sendRequest(endpoint, ask, { agent, timeoutSeconds, tls }).catch(error => {
        if (error instanceof TypeError || OWN_CODES.includes(error.code)) throw error
        throw new BenchError(`${which} failed: ${error.message}`, { cause: error })
      })
      const isEcho = status === 200 && body === answer
      if (expected ? status === expected.status && body.length === expected.bytes : isEcho) continue
      throw new BenchError(
        `${which} was answered ${status} with ${body.length} bytes, ${expected ? `not ${expected.status} with ${expected.bytes}` : 'not by the application'}`,
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
