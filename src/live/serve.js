import { once } from 'node:events'
import http from 'node:http'
import { isIP } from 'node:net'
import os from 'node:os'
import { BenchError } from '../lib/errors.js'
import { joinAddress } from './address.js'

// Each connection takes a file descriptor that the run may need; a browser opens six.
const CONNECTIONS_MOST = 100
const CONNECTIONS_OF_ADDRESS_MOST = 20
// A client that has not sent its whole request in this time is broken or hostile.
const REQUEST_TIMEOUT_MS = 5000

/** Serves HTTP on an address that an option names. @import { LiveAddress } from './address.js' */

/**
 * Serves requests whose Host header names this machine, and refuses others with status 421: another site can make its own name
 * lead here (DNS rebinding).
 * @param {LiveAddress} address
 * @param {http.RequestListener} answer answers the requests that are not refused
 * @param {(closed: Promise<unknown>) => Promise<unknown> | void} [finish] is awaited by `close` before it cuts open connections;
 *   closed: resolves once all have ended by themselves
 * @returns {Promise<{ url: string, close: () => Promise<void> }>} url: of the root, with a slash at its end, by the host name if the
 *   server listens at all addresses; close: resolves once all connections have ended
 * @throws {BenchError} if nothing can be served there
 */
export async function serveRequests(address, answer, finish = () => {}) {
  const limit = createAddressLimit(CONNECTIONS_OF_ADDRESS_MOST)
  const timeouts = {
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1000,
  }
  const server = http.createServer(timeouts, (request, response) => {
    limit.markServed(request.socket)
    if (isOwnHost(request.headers.host, address)) return answer(request, response)
    response
      .writeHead(421, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
      .end(`nothing is served under this name: use localhost, ${address.host}, or the URL that the run printed\n`)
  })
  server.maxConnections = CONNECTIONS_MOST
  server.on('connection', limit.add)
  try {
    await once(server.listen({ host: address.host, port: address.port }), 'listening')
  } catch (error) {
    throw createListenError(address, /** @type {NodeJS.ErrnoException} */ (error))
  }
  // A client that cannot be served (no file descriptors left) must not end the run.
  server.on('error', () => {})
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://${joinAddress({ host: isAnyAddress(address) ? os.hostname() : address.host, port })}/`,
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      await finish(closed)
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * Creates a limit of the connections of each client address, so that no client takes those of others. If an address has too
 * many, its oldest connection without a request is cut; if all have sent one, the newest is.
 * @param {number} connectionsMost of one address
 * @returns add: adds a connection; markServed: remembers that a connection has sent a request
 */
function createAddressLimit(connectionsMost) {
  /** @type {Map<string, Set<import('node:net').Socket>>} */
  const socketsByAddress = new Map()
  const servedSockets = new WeakSet()
  return {
    /** @param {import('node:net').Socket} socket */
    add(socket) {
      const address = `${socket.remoteAddress}`
      const sockets = socketsByAddress.get(address) ?? new Set()
      socketsByAddress.set(address, sockets.add(socket))
      socket.once('close', () => {
        sockets.delete(socket)
        if (sockets.size === 0) socketsByAddress.delete(address)
      })
      if (sockets.size <= connectionsMost) return
      const surplus = [...sockets].find(other => other !== socket && !servedSockets.has(other)) ?? socket
      sockets.delete(surplus)
      surplus.destroy()
    },
    /** @param {import('node:net').Socket} socket that has sent a request */
    markServed: socket => void servedSockets.add(socket),
  }
}

/**
 * Says whether a Host header names this machine. Its port is not checked, as it may be that of a tunnel.
 * @param {string | undefined} header undefined: the request has none
 * @param {LiveAddress} address at which the server listens
 * @returns {boolean} false also: there is no header, or it is no host
 */
function isOwnHost(header, address) {
  if (!header || !URL.canParse(`http://${header}`)) return false
  const name = new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '')
  if (isLoopback(name) || name === address.host) return true
  // Any IP address is good: no other site has one as its name.
  return isAnyAddress(address) && (isIP(name) > 0 || name === os.hostname().toLowerCase())
}

/**
 * Says whether a name or IP address leads to the machine on which it is used.
 * @param {string} name in lower case
 * @returns {boolean}
 */
function isLoopback(name) {
  const isLoopbackAddress = name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
  return isLoopbackAddress || name === 'localhost' || name.endsWith('.localhost')
}

/**
 * Says whether a server listens at all addresses.
 * @param {LiveAddress} address
 * @returns {boolean}
 */
const isAnyAddress = ({ host }) => host === '0.0.0.0' || host === '::'

/**
 * Creates the error of a server that cannot listen, with what to write instead.
 * @param {LiveAddress} address
 * @param {NodeJS.ErrnoException} error
 * @returns {BenchError}
 */
function createListenError({ option, text, host, port }, error) {
  const advice = {
    EADDRINUSE: `port ${port} of ${host} is in use by something else: give another`,
    EACCES: `there is no permission to listen on port ${port} of ${host}: give one above 1023`,
    EADDRNOTAVAIL: `this machine has no address ${host}: give one that it has, or a port alone`,
  }[error.code ?? '']
  const reason = advice ?? `nothing can be served on port ${port} of ${host} (${error.message}): give another address`
  return new BenchError(`${option} ${text}: ${reason}`, { cause: error })
}
