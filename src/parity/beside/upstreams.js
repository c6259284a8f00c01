import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { pollInTime } from '../../lib/wait.js'
import { EARLY_PATH, FAILS_PATH, GREETING, PASSED_ON } from './corpus.js'
import { createGrpcServer } from './grpc-upstream.js'
import { createObserver } from './observers.js'
import { SERVERS } from './peers.js'

/** Upstreams that answer, refuse, reset or hang, and observers that note the TLS and the HTTP of a sidecar. */
/**
 * @import { TlsOptions } from 'node:tls'
 * @import { Endpoint, Protocol, Tls } from '../../model/types.ts'
 * @import { FirstBytes } from './observers.js'
 */

/** Requests of peers have paths below this one; upstream `a` notes those that it gets. */
export const PEER_PATH = '/peer'

const FULL_SECONDS = 60
// By default, Node closes a connection that is idle for 5 s. On a slow machine a sidecar would use it at that moment.
const KEEPING = { keepAliveTimeout: 0 }

// The program of `full`: it says that it listens, and is stopped before it accepts any connection, so that the kernel takes none
// when its backlog is full.
const STOPPED_LISTENER = `require('net').createServer().listen({ host: process.argv[1], port: +process.argv[2], backlog: 1 }, () => {
  require('fs').writeSync(1, 'listening')
  process.kill(process.pid, 'SIGSTOP')
})`

/** The ports of the upstreams, by name; nothing listens at that of `gone`. */
export const UPSTREAMS = Object.fromEntries(
  ['a', 'b', 'slow', 'rude', 'quiet', 'late', 'greeting', 'full', 'gone', 'observed', 'p256']
    .concat(SERVERS.map(([name]) => name))
    .map((name, i) => [name, 20001 + i]),
)

/** A certificate and its key, PEM. @typedef {{ cert: string, key: string }} Credentials */

/** @typedef {FirstBytes & { observer: string }} Observed observer: the upstream's name */

/**
 * @typedef {object} Upstreams
 * @property {() => number} countConnections to upstream a, so far
 * @property {Observed[]} observed grows with each connection to an observer
 * @property {(path: string) => boolean} hasReceived says whether a path of a peer or of a gRPC call, or bytes, came to an upstream
 * @property {() => void} close ends all upstreams
 */

/**
 * Starts the upstreams of a configuration, each at its port of UPSTREAMS.
 * @param {object} options
 * @param {string} options.address at which they listen
 * @param {string} options.ca PEM
 * @param {Record<string, Credentials>} options.credentials by the name of the upstream
 * @param {Tls} options.tls
 * @param {Protocol} options.protocol
 * @param {string} options.group to which sidecars are pinned
 * @returns {Promise<Upstreams>}
 * @throws {Error} if a port is taken, or `full` ends or does not fill; those that were started are closed
 */
export async function startUpstreams({ address, ca, credentials, group, protocol, ...options }) {
  const hasTls = options.tls !== 'plaintext'
  // A Go client speaks HTTP/2 only if the server chose it by ALPN; a client that tunnels bytes in HTTP/2 speaks nothing else.
  const ALPNProtocols = protocol !== 'http/1.1' ? ['h2', 'http/1.1'] : ['http/1.1']
  let connections = 0
  /** @type {Set<string>} */
  const receivedPaths = new Set()
  /** @type {Observed[]} */
  const observed = []
  /** @type {(() => unknown)[]} */
  const closers = []
  const close = () => {
    for (const closer of closers.toReversed()) closer()
  }
  const serve = async (/** @type {string} */ name, /** @type {net.Server} */ server) =>
    closers.push(await startListening(server, { address, port: UPSTREAMS[name] }))
  const observe = (/** @type {string} */ name, /** @type {TlsOptions | null} */ tlsOptions) => {
    const note = (/** @type {FirstBytes} */ firstBytes) => observed.push({ observer: name, ...firstBytes })
    return serve(name, createObserver(tlsOptions && { ca, ecdhCurve: group, ALPNProtocols, ...tlsOptions }, note))
  }
  try {
    const servers = createServers({ isGrpc: protocol === 'grpc', note: path => receivedPaths.add(path) })
    servers.a.on('connection', () => connections++)
    for (const [name, server] of Object.entries(servers)) await serve(name, server)
    await observe('observed', hasTls ? credentials.server : null)
    await observe('p256', hasTls ? { ...credentials.server, ecdhCurve: 'P-256' } : null)
    for (const [name, { credential, options: tlsOptions }] of hasTls ? SERVERS : [])
      await observe(name, tlsOptions && { ...credentials[/** @type {string} */ (credential)], ...tlsOptions })
    closers.push(await startFullListener(address))
    return { countConnections: () => connections, observed, hasReceived: path => receivedPaths.has(path), close }
  } catch (error) {
    close()
    throw error
  }
}

/**
 * Starts to listen.
 * @param {net.Server} server
 * @param {Endpoint} endpoint
 * @returns {Promise<() => void>} closes the server and its connections
 * @throws {Error} if the port is taken
 */
async function startListening(server, { address, port }) {
  /** @type {Set<net.Socket>} */
  const sockets = new Set()
  server.on('connection', socket => sockets.add(socket.on('close', () => sockets.delete(socket))))
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, address, () => resolve(null)))
  return () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

/**
 * Creates the upstreams that answer, reset or hang, but for `full`.
 * @param {{ isGrpc: boolean, note: (path: string) => void }} options note: is called with the path of a peer or a gRPC call, and
 *   with the bytes that `greeting` received
 * @returns by name; not listening yet
 */
function createServers({ isGrpc, note }) {
  const notePeer = (/** @type {http.IncomingMessage} */ { url }) => {
    if (url?.startsWith(PEER_PATH)) note(url)
  }
  const requestServers = isGrpc
    ? { a: createGrpcServer('a', note), b: createGrpcServer('b', note), slow: createGrpcServer(null, note) }
    : {
        a: http.createServer(KEEPING, createEchoHandler('a')).on('request', notePeer),
        b: http.createServer(KEEPING, createEchoHandler('b')),
        slow: http.createServer(() => {}),
      }
  return {
    ...requestServers,
    rude: net.createServer(socket => void socket.once('data', () => socket.resetAndDestroy())),
    quiet: net.createServer(socket => void socket.once('data', () => socket.end())),
    late: createTcpServer({ onHalfClose: (socket, bytes) => void socket.end(bytes) }),
    greeting: createTcpServer({
      onConnect: socket => void socket.end(GREETING),
      onHalfClose: (_, bytes) => note(`${bytes}`),
    }),
  }
}

/**
 * Creates a TCP server that collects what a client sends. It keeps its own half of a connection open: a handler ends the socket.
 * @param {object} handlers
 * @param {(socket: net.Socket) => void} [handlers.onConnect] is called with each connection
 * @param {(socket: net.Socket, bytes: Buffer) => void} handlers.onHalfClose is called when the client has ended its half, with all
 *   bytes that came; not after an error of the socket, which is ignored
 * @returns {net.Server} not listening yet
 */
function createTcpServer({ onConnect, onHalfClose }) {
  return net.createServer({ allowHalfOpen: true }, socket => {
    /** @type {Buffer[]} */
    const chunks = []
    onConnect?.(socket)
    socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
    socket.on('end', () => onHalfClose(socket, Buffer.concat(chunks)))
  })
}

/**
 * Creates a handler that answers with the body of the request, and its name in a header, when it has the whole request, as the
 * kit's applications do; at EARLY_PATH already while the request arrives. `/status/N` is answered with that status, `/headers`
 * with the request's headers, FAILS_PATH with 500 if it names this upstream.
 * @param {string} name of the upstream
 * @returns {http.RequestListener}
 */
function createEchoHandler(name) {
  return async (request, response) => {
    const isEarly = request.url === EARLY_PATH
    const body = isEarly ? [] : await request.toArray().catch(() => null)
    if (body === null) return response.destroy()
    const codeInPath = Number(/^\/status\/(\d+)/.exec(request.url ?? '')?.[1] ?? 200)
    const status = request.url === `${FAILS_PATH}/${name}` ? 500 : codeInPath
    const { 'x-nonce': nonce, 'x-long': long } = request.headers
    response.writeHead(status, {
      'x-upstream': name,
      'x-path': request.url,
      'x-method': request.method,
      ...(nonce ? { 'x-nonce': nonce } : {}),
      ...(long ? { 'x-long': long } : {}),
      ...(request.url === '/headers' ? { 'x-debug': 'yes', via: PASSED_ON.via } : {}),
    })
    if (request.url === '/headers') response.end(JSON.stringify(request.headers))
    else if (isEarly) request.pipe(response)
    else response.end(Buffer.concat(body))
  }
}

/**
 * Starts the upstream `full`, which takes no connection since its backlog is full.
 * @param {string} address at which it listens
 * @returns {Promise<() => void>} ends it
 * @throws {Error} if its process ends, or its backlog is not full after FULL_SECONDS; its process is ended before
 */
async function startFullListener(address) {
  const listener = spawn(process.execPath, ['-e', STOPPED_LISTENER, address, `${UPSTREAMS.full}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => listener.kill('SIGKILL')
  try {
    const ended = createEndSignal(listener)
    // Until it listens, another program at its port would take the connections.
    await once(listener.stdout, 'data', { signal: ended }).catch(error => {
      ended.throwIfAborted()
      throw error
    })
    // In a pod, upstreams listen at the wildcard address, which is no address to connect to.
    const reachedAt = address === '0.0.0.0' ? '127.0.0.1' : address
    const closeConnections = await fillBacklog({ address: reachedAt, port: UPSTREAMS.full }, ended)
    return () => {
      closeConnections()
      kill()
    }
  } catch (error) {
    kill()
    throw error
  }
}

/**
 * Creates a signal that aborts when a process ends, with its error.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {AbortSignal}
 */
function createEndSignal(child) {
  const ended = new AbortController()
  let errorText = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    errorText += text
  })
  const end = (/** @type {unknown} */ why) =>
    ended.abort(new Error(`the upstream that takes no connections ended: ${why}`))
  child.once('error', error => end(error.message))
  child.once('close', (code, killedBy) => end(/^.*Error.*/m.exec(errorText)?.[0] ?? killedBy ?? `status ${code}`))
  return ended.signal
}

/**
 * Opens connections until the backlog of a listener is full, so that the last one stays unconnected.
 * @param {Endpoint} endpoint
 * @param {AbortSignal} signal aborts if the listener's process ends
 * @returns {Promise<() => void>} closes the connections
 * @throws {Error} if the backlog is not full after FULL_SECONDS; the signal's reason when it aborts
 */
async function fillBacklog({ address, port }, signal) {
  /** @type {net.Socket[]} */
  const sockets = []
  const isFull = () => {
    signal.throwIfAborted()
    if (sockets.at(-1)?.connecting) return true
    sockets.push(net.connect(port, address).on('error', () => {}))
    return false
  }
  if (!(await pollInTime(isFull, { deadlineSeconds: FULL_SECONDS, intervalMs: 50 })))
    throw new Error(`timed out after ${FULL_SECONDS} s waiting for a full backlog`)
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}
