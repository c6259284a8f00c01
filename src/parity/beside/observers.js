import net from 'node:net'
import tls from 'node:tls'
import { hasWholeRecord, parseClientGroups } from './hello.js'
import { NO_TLS, renderSession } from './negotiation.js'

/** Observers: upstreams that note the TLS and the HTTP that a sidecar speaks with them. */

// The first byte of a TLS client's first record (RFC 8446, 5.1).
const TLS_HANDSHAKE = 22

/**
 * The beginning of a connection, in words.
 * @typedef {object} FirstBytes
 * @property {string} tls the session, as `renderSession`; NO_TLS; or `TLS` for a handshake that a peer without TLS notes
 * @property {string} protocol HTTP/2, HTTP/1.1 or TCP
 * @property {string | null} [share] the group of the first key share in a client's hello; null: it sent none, absent: the hello
 *   was not read
 */

/**
 * Creates an observer: a server that notes the first bytes of each connection. With TLS it accepts only the group of the options,
 * and the suite that the client prefers.
 * @param {(tls.TlsOptions & { ecdhCurve: string }) | null} options null: it speaks no TLS
 * @param {(firstBytes: FirstBytes) => void} note
 * @returns {net.Server} not listening yet
 */
export function createObserver(options, note) {
  if (options === null) return net.createServer(socket => noteFirstBytes(socket, note))
  return tls
    .createServer({ ...options, requestCert: true, honorCipherOrder: false })
    .on('tlsClientError', () => {})
    .on('secureConnection', socket => noteFirstBytes(socket, note, options.ecdhCurve))
}

/**
 * Notes the first bytes of a connection, and ends it without an answer, for which HTTP/2 would need a whole server.
 * @param {net.Socket} socket
 * @param {(firstBytes: FirstBytes) => void} note is called once, and not at all if nothing comes
 * @param {string} [group] that the server accepts; absent: it speaks no TLS
 */
function noteFirstBytes(socket, note, group = '') {
  let data = Buffer.alloc(0)
  const noteChunk = (/** @type {Buffer} */ chunk) => {
    data = Buffer.concat([data, chunk])
    const isHandshake = !(socket instanceof tls.TLSSocket) && data[0] === TLS_HANDSHAKE
    // A hello with a post-quantum share (over 1 kB) may come in several segments.
    if (isHandshake && !hasWholeRecord(data)) return
    socket.off('data', noteChunk)
    const protocol = detectProtocol(data.toString('latin1'))
    if (socket instanceof tls.TLSSocket) note({ tls: renderNamedSession(socket, group), protocol })
    else if (isHandshake) note({ tls: 'TLS', protocol, share: parseClientGroups(data)?.shares[0] ?? null })
    else note({ tls: NO_TLS, protocol })
    socket.end()
  }
  socket.on('error', () => {}).on('data', noteChunk)
}

/**
 * Renders a TLS session as `renderSession`, with the server name of the client if that is not `server`.
 * @param {tls.TLSSocket} socket
 * @param {string} group of the key exchange
 * @returns {string}
 */
function renderNamedSession(socket, group) {
  const { servername } = /** @type {any} */ (socket)
  const otherName = servername === 'server' ? '' : ` for ${servername || 'no name'}`
  return `${renderSession(socket, group)}${otherName}`
}

/**
 * Detects the protocol that a client speaks.
 * @param {string} text the first bytes of its connection, as latin1
 * @returns {string} HTTP/2, HTTP/1.1, or TCP for any other
 */
function detectProtocol(text) {
  if (text.startsWith('PRI * HTTP/2')) return 'HTTP/2'
  return / HTTP\/1\.1\r\n/.test(text) ? 'HTTP/1.1' : 'TCP'
}
