import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import tls from 'node:tls'
import { isInTime } from '../../lib/wait.js'
import { EARLY_PATH, FAILS_PATH, GREETING, PASSED_ON } from './corpus.js'
import { createGrpcServer } from './grpc-upstream.js'
import { hasWholeRecord, parseClientGroups } from './hello.js'
import { NO_TLS, renderSession } from './negotiation.js'
import { SERVERS } from './peers.js'

/** Upstreams that answer, refuse, reset or hang, and observers that note what a sidecar negotiates with them. */
/** @import { Endpoint, Protocol, Tls } from '../../model/types.ts' */

/** Requests of peers have paths below this one; upstream `a` notes those that it gets. */
export const PEER_PATH = '/peer'

const FULL_SECONDS = 60
// By default, Node closes a connection that is idle for 5 s. On a slow machine a sidecar would use it at that moment.
const KEEPING = { keepAliveTimeout: 0 }
// The first byte of a TLS client's first record (RFC 8446, 5.1).
const TLS_HANDSHAKE = 22

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

/**
 * The beginning of a connection, in words.
 * @typedef {object} Observed
 * @property {string} observer the upstream's name
 * @property {string} tls
 * @property {string} protocol
 * @property {string | null} [share] the group of the first key share in a client's hello; null: it sent none, absent: the hello
 *   was not read
 */

/**
 * @typedef {object} Upstreams
 * @property {() => number} countConnections to upstream a, so far
 * @property {Observed[]} observed grows with each connection to an observer
 * @property {(path: string) => boolean} hasGot says whether an upstream noted a path: of a peer, a gRPC call, or bytes
 * @property {() => void} close
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
 * @throws if a port is taken, or `full` does not fill; those that were started are closed
 */
export async function startUpstreams({ address, ca, credentials, group, protocol, ...options }) {
  // A Go client speaks HTTP/2 only if the server chose it by ALPN; a client that tunnels bytes in HTTP/2 speaks nothing else.
  const isGrpc = protocol === 'grpc'
  const ALPNProtocols = protocol !== 'http/1.1' ? ['h2', 'http/1.1'] : ['http/1.1']
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
    /** @type {Set<string | undefined>} */
    const notedPaths = new Set()
    const note = (/** @type {http.IncomingMessage} */ { url }) => url?.startsWith(PEER_PATH) && notedPaths.add(url)
    const serveBytes = (/** @type {(socket: net.Socket) => void} */ begin, /** @type {typeof endSocket} */ end) =>
      net.createServer({ allowHalfOpen: true }, socket => {
        /** @type {Buffer[]} */
        const chunks = []
        begin(socket)
        socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
        socket.on('end', () => end(socket, Buffer.concat(chunks)))
      })
    const noteGrpc = (/** @type {string} */ path) => void notedPaths.add(path)
    const requestServers = isGrpc
      ? {
          a: createGrpcServer('a', noteGrpc),
          b: createGrpcServer('b', noteGrpc),
          slow: createGrpcServer(null, noteGrpc),
        }
      : {
          a: http.createServer(KEEPING, createEchoHandler('a')).on('request', note),
          b: http.createServer(KEEPING, createEchoHandler('b')),
          slow: http.createServer(() => {}),
        }
    requestServers.a.on('connection', () => connections++)
    const servers = {
      ...requestServers,
      rude: net.createServer(socket => void socket.once('data', () => socket.resetAndDestroy())),
      quiet: net.createServer(socket => void socket.once('data', () => socket.end())),
      late: serveBytes(() => {}, endSocket),
      greeting: serveBytes(
        socket => socket.end(GREETING),
        (_, bytes) => void notedPaths.add(`${bytes}`),
      ),
    }
    for (const [name, server] of Object.entries(servers)) await serve(name, server)
    /** @type {Observed[]} */
    const observed = []
    const observe = (/** @type {string} */ name, /** @type {tls.TlsOptions | null} */ tlsOptions) => {
      const pinned = tlsOptions && { ca, ecdhCurve: group, ALPNProtocols, ...tlsOptions }
      const server = pinned ? createTlsServer(pinned) : net.createServer()
      const note = (/** @type {Omit<Observed, 'observer'>} */ first) => observed.push({ observer: name, ...first })
      server.on(pinned ? 'secureConnection' : 'connection', socket =>
        noteFirstBytes(socket, note, pinned?.ecdhCurve ?? group),
      )
      return serve(name, server)
    }
    const hasTls = options.tls !== 'plaintext'
    await observe('observed', hasTls ? credentials.server : null)
    await observe('p256', hasTls ? { ...credentials.server, ecdhCurve: 'P-256' } : null)
    for (const [name, { credential, options: tlsOptions }] of hasTls ? SERVERS : [])
      await observe(name, tlsOptions && { ...credentials[/** @type {string} */ (credential)], ...tlsOptions })

    const full = spawn(process.execPath, ['-e', STOPPED_LISTENER, address, `${UPSTREAMS.full}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    closers.push(() => full.kill('SIGKILL'))
    const ended = createEndSignal(full)
    // Until it listens, another program at its port would take the connections.
    await once(full.stdout, 'data', { signal: ended }).catch(error => {
      ended.throwIfAborted()
      throw error
    })
    // In a pod, upstreams listen at the wildcard address, which is no address to connect to.
    const fullEndpoint = { address: address === '0.0.0.0' ? '127.0.0.1' : address, port: UPSTREAMS.full }
    closers.push(await fillBacklog(fullEndpoint, ended))
    return { countConnections: () => connections, observed, hasGot: path => notedPaths.has(path), close }
  } catch (error) {
    close()
    throw error
  }
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
 * Sends bytes, and ends this half of a connection.
 * @param {net.Socket} socket
 * @param {Buffer} bytes
 */
function endSocket(socket, bytes) {
  socket.end(bytes)
}

/**
 * Creates a server that accepts only the group of the options, and the suite that the client prefers.
 * @param {tls.TlsOptions} options
 * @returns {tls.Server} not listening yet
 */
function createTlsServer(options) {
  return tls.createServer({ ...options, requestCert: true, honorCipherOrder: false }).on('tlsClientError', () => {})
}

/**
 * Notes the first bytes of a connection, and ends it without an answer, for which HTTP/2 would need a whole server.
 * @param {net.Socket} socket
 * @param {(note: Omit<Observed, 'observer'>) => void} note is called once, with what was read
 * @param {string} group that the server accepts
 */
function noteFirstBytes(socket, note, group) {
  let data = Buffer.alloc(0)
  const noteChunk = (/** @type {Buffer} */ chunk) => {
    data = Buffer.concat([data, chunk])
    const isHandshake = !(socket instanceof tls.TLSSocket) && data[0] === TLS_HANDSHAKE
    // A hello with a post-quantum share (over 1 kB) may come in several segments.
    if (isHandshake && !hasWholeRecord(data)) return
    socket.off('data', noteChunk)
    const protocol = detectProtocol(data.toString('latin1'))
    if (socket instanceof tls.TLSSocket) {
      const { servername } = /** @type {any} */ (socket)
      const unnamed = servername === 'server' ? '' : ` for ${servername || 'no name'}`
      note({ tls: `${renderSession(socket, group)}${unnamed}`, protocol })
    } else if (isHandshake) {
      note({ tls: 'TLS', protocol, share: parseClientGroups(data)?.shares[0] ?? null })
    } else {
      note({ tls: NO_TLS, protocol })
    }
    socket.end()
  }
  socket.on('error', () => {}).on('data', noteChunk)
}

/**
 * Finds the protocol that a client speaks.
 * @param {string} text the first bytes of its connection, as latin1
 * @returns {string} HTTP/2, HTTP/1.1, or TCP for any other
 */
function detectProtocol(text) {
  if (text.startsWith('PRI * HTTP/2')) return 'HTTP/2'
  return / HTTP\/1\.1\r\n/.test(text) ? 'HTTP/1.1' : 'TCP'
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
 * @throws the signal's reason, or an Error after 60 s
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
  if (!(await isInTime(isFull, { deadlineSeconds: FULL_SECONDS, intervalMs: 50 })))
    throw new Error(`timed out after ${FULL_SECONDS} s waiting for a full backlog`)
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}
