import { spawn } from 'node:child_process'
import http from 'node:http'
import net from 'node:net'
import tls from 'node:tls'
import { waitFor } from '../../lib/wait.js'
import { TLS } from '../../model/sidecar-contract.js'

/**
 * What sidecars are tried with: upstreams that answer, refuse, reset, hang, and say what was negotiated with them.
 * @import { Endpoint } from '../../model/types.ts'
 */

const FULL_SECONDS = 10

// Takes no connection: its backlog is filled, and it is stopped before it could accept.
const STOPPED_LISTENER = `require('net').createServer().listen({ host: process.argv[1], port: +process.argv[2], backlog: 1 },
  () => process.kill(process.pid, 'SIGSTOP'))`

/** The upstreams, each at a port of its own; nothing listens at that of `gone`. */
export const UPSTREAMS = Object.fromEntries(
  ['a', 'b', 'slow', 'rude', 'quiet', 'full', 'gone', 'observer', 'p256'].map((name, i) => [name, 20001 + i]),
)

/** A certificate and its key, PEM. @typedef {{ cert: string, key: string }} Credentials */

/**
 * @typedef {object} Upstreams
 * @property {() => number} countConnections to upstream a, so far
 * @property {Record<string, unknown>[]} negotiated what was negotiated with the observers
 * @property {() => void} close
 */

/**
 * @param {{ address: string, credentials: Credentials & { ca: string }, environment: Record<string, string> }} options
 *   address: to listen at; environment: of the processes that are started
 * @returns {Promise<Upstreams>}
 */
export async function startUpstreams({ address, credentials, environment }) {
  /** @type {(() => unknown)[]} */
  const closers = []
  const close = () => {
    for (const closer of closers.toReversed()) closer()
  }
  const serve = async (/** @type {string} */ name, /** @type {net.Server} */ server) => {
    /** @type {Set<net.Socket>} */
    const sockets = new Set()
    server.on('connection', socket => sockets.add(socket.on('close', () => sockets.delete(socket))))
    await new Promise((resolve, reject) =>
      server.once('error', reject).listen(UPSTREAMS[name], address, () => resolve(null)),
    )
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  }
  try {
    let connections = 0
    await serve(
      'a',
      http.createServer(echoAs('a')).on('connection', () => connections++),
    )
    await serve('b', http.createServer(echoAs('b')))
    await serve(
      'slow',
      http.createServer(() => {}),
    )
    await serve(
      'rude',
      net.createServer(socket => void socket.once('data', () => socket.resetAndDestroy())),
    )
    await serve(
      'quiet',
      net.createServer(socket => void socket.once('data', () => socket.end())),
    )
    /** @type {Record<string, unknown>[]} */
    const negotiated = []
    await serve('observer', createObserver(credentials, TLS.group, negotiated))
    await serve('p256', createObserver(credentials, 'P-256', negotiated))

    const full = spawn(process.execPath, ['-e', STOPPED_LISTENER, address, `${UPSTREAMS.full}`], {
      ...{ stdio: 'ignore', env: { ...environment } },
    })
    closers.push(() => full.kill('SIGKILL'))
    closers.push(await fillBacklog({ address: address === '0.0.0.0' ? '127.0.0.1' : address, port: UPSTREAMS.full }))
    return { countConnections: () => connections, negotiated, close }
  } catch (error) {
    close()
    throw error
  }
}

/**
 * Answers what it got, and who it is. `/status/N` answers with that status.
 * @param {string} name
 * @returns {http.RequestListener}
 */
function echoAs(name) {
  return (request, response) => {
    const status = Number(/^\/status\/(\d+)/.exec(request.url ?? '')?.[1] ?? 200)
    const { 'x-nonce': nonce, 'x-long': long } = request.headers
    response.writeHead(status, {
      'x-upstream': name,
      'x-path': request.url,
      'x-method': request.method,
      ...(nonce ? { 'x-nonce': nonce } : {}),
      ...(long ? { 'x-long': long } : {}),
    })
    request.pipe(response)
  }
}

/**
 * A TLS server that takes one group only, notes what each connection negotiated by the client's preferences,
 * and ends it after the answer.
 * @param {Credentials & { ca: string }} credentials
 * @param {string} ecdhCurve
 * @param {Record<string, unknown>[]} negotiated
 */
function createObserver(credentials, ecdhCurve, negotiated) {
  return tls
    .createServer({ ...credentials, ecdhCurve, requestCert: true, honorCipherOrder: false }, socket => {
      negotiated.push({
        version: socket.getProtocol(),
        suite: socket.getCipher().name,
        group: ecdhCurve,
        isResumed: socket.isSessionReused(),
        serverName: /** @type {any} */ (socket).servername,
      })
      socket.on('error', () => {})
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'))
    })
    .on('tlsClientError', () => {})
}

/**
 * Connects until a connection is no longer taken.
 * @param {Endpoint} endpoint
 * @returns {Promise<() => void>} lets go
 */
async function fillBacklog({ address, port }) {
  /** @type {net.Socket[]} */
  const sockets = []
  const isFull = () => {
    if (sockets.at(-1)?.connecting) return true
    sockets.push(net.connect(port, address).on('error', () => {}))
    return false
  }
  await waitFor(isFull, { what: 'a backlog to be full', deadlineSeconds: FULL_SECONDS, intervalMs: 50 })
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}
