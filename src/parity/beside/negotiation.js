import tls from 'node:tls'
import { requestEcho } from './answers.js'
import { exchangeBytes } from './bytes.js'
import { readServerGroup } from './hello.js'

/** The TLS and the HTTP that sidecars speak with each other, in words that are equal if the behaviour is. */
/** @import { X509Certificate } from 'node:crypto' */
/** @import { Configuration, Probed, ProbedRow } from './probe.js' */
/** @import { Endpoint } from '../../model/types.ts' */

const HANDSHAKE_MS = 5000
// A pinned sidecar must not follow its peer's preference of a group, so P-256 stands first. The suite is the client's to
// order: Envoy has no setting for those of TLS 1.3, and as a client puts the pinned one first, as here.
const PREFERENCES = { ecdhCurve: 'P-256:X25519', ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384' }

// A strong suite, but not the one to which sidecars are pinned.
const OTHER_SUITE = 'TLS_AES_256_GCM_SHA384'
const BYTES_OF_NO_PROTOCOL = Buffer.from('bytes of no protocol\r\n\r\n')
export const NO_TLS = 'no TLS'
const TAKES_OTHERS = 'takes P-256 too'

/**
 * Renders what must be negotiated, as the `expected` of the row.
 * @param {Configuration} configuration
 * @returns {string} NO_TLS in plaintext
 */
export function renderNegotiation({ tls, suite, group, groups }) {
  if (tls === 'plaintext') return NO_TLS
  const [keyType] = tls.split('+')
  return `TLSv1.3 ${suite} ${group} ${keyType}${hasChoice(groups) ? renderFirstGroup(groups[0]) : ''}`
}

/** @param {string[]} groups of the key exchange */
function hasChoice(groups) {
  return groups.length > 1
}

/**
 * Renders the first group of an end, which is read from its hello: Node's TLS knows only the last group of a configuration.
 * @param {string | null} group null: `no group`
 * @returns {string} with a leading comma
 */
function renderFirstGroup(group) {
  return `, ${group ?? 'no group'} first`
}

/**
 * Negotiates with the server's sidecar, and renders the result; if the sidecar has a choice of groups, also which one it
 * chooses when all are offered.
 * @param {{ endpoint: Endpoint, credentials: tls.ConnectionOptions, configuration: Configuration }} peer
 * @returns {Promise<string>} TAKES_OTHERS: it accepts P-256, to which it is not pinned; NO_TLS: the handshake failed
 */
export async function negotiateAsServer({ endpoint, credentials, configuration: { groups } }) {
  const negotiate = (/** @type {tls.ConnectionOptions} */ options) =>
    negotiateSession(endpoint, { ...PREFERENCES, ...credentials, ...options }).catch(() => NO_TLS)
  const session = await negotiate({})
  const otherSession = await negotiate({ ecdhCurve: 'P-256' })
  if (otherSession !== NO_TLS) return TAKES_OTHERS
  return hasChoice(groups) ? `${session}${renderFirstGroup(await readServerGroup(endpoint, groups))}` : session
}

/**
 * Checks whether the server's sidecar accepts a strong suite other than the one to which it is pinned.
 * @param {{ endpoint: Endpoint, credentials: tls.ConnectionOptions, suite: string }} peer
 * @returns {Promise<ProbedRow>} the row `parity-suites`; `no handshake` and the error, if the sidecar neither accepts nor refuses it
 */
export async function probeSuites({ endpoint, credentials, suite }) {
  const expected = `no suite but ${suite}`
  const outcome = await negotiateSession(endpoint, { ...credentials, ciphers: OTHER_SUITE }).then(
    () => `${OTHER_SUITE} too`,
    error => (isRefusal(error) ? expected : `no handshake: ${error.message}`),
  )
  return { name: 'parity-suites', found: outcome, expected, differences: [] }
}

/**
 * Says whether a handshake failed because the peer refused it: by an alert, or by closing the connection without one, as Pipy 1.5.18 and
 * 2.0.2 do.
 * @param {NodeJS.ErrnoException} error
 */
function isRefusal({ code = '' }) {
  return code.includes('_ALERT_') || code === 'ECONNRESET'
}

/**
 * Makes the client's sidecar negotiate with observers, and renders the TLS and the HTTP that these noted: by two requests through
 * it to an observer, and one to an observer that has P-256 alone. Requests that fail are not reported here.
 * @param {Probed} rig
 * @returns {Promise<{ tls: string, protocol: string }>} distinct findings joined by `and`; `nothing`: no connection arrived;
 *   tls: TAKES_OTHERS if it accepts P-256
 */
export async function negotiateAsClient(rig) {
  const before = rig.observed.length
  const isTcp = rig.configuration.protocol === 'tcp'
  for (const host of ['observed', 'observed', 'p256']) {
    if (isTcp) await exchangeBytes(rig, { host, bytes: BYTES_OF_NO_PROTOCOL })
    else await requestEcho(rig, { host }).catch(() => {})
  }
  const connections = rig.observed.slice(before)
  const pinned = connections.filter(({ observer }) => observer === 'observed')
  const takesOthers = connections.some(({ observer, tls: session }) => observer === 'p256' && session !== NO_TLS)
  const join = (/** @type {string[]} */ words) => [...new Set(words)].join(' and ') || 'nothing'
  return {
    tls: takesOthers ? TAKES_OTHERS : `${join(pinned.map(connection => connection.tls))}${renderClientFirstGroup(rig)}`,
    protocol: join(pinned.map(({ protocol }) => protocol)),
  }
}

/**
 * Renders the first group of the client's sidecar, which peers without TLS have noted from its hellos since the rig was opened.
 * @param {Probed} rig
 * @returns {string} with a leading comma, distinct groups joined by `or`, `no group` if no hello was read or none had a key share;
 *   empty: the configuration has no choice of groups
 */
function renderClientFirstGroup({ configuration: { groups }, observed }) {
  if (!hasChoice(groups)) return ''
  const shares = observed.flatMap(({ share }) => (share === undefined ? [] : [share]))
  return renderFirstGroup([...new Set(shares)].join(' or ') || null)
}

/**
 * Renders a TLS session: its version, suite, group, the peer's key type, and whether it was resumed.
 * @param {tls.TLSSocket} socket whose peer has shown a certificate
 * @param {string} group of the key exchange
 * @returns {string} such as `TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ecdsa-p256`
 */
export function renderSession(socket, group) {
  const certificate = /** @type {X509Certificate} */ (socket.getPeerX509Certificate())
  const words = [socket.getProtocol(), socket.getCipher().name, group, renderKeyType(certificate)]
  return [...words, ...(socket.isSessionReused() ? ['resumed'] : [])].join(' ')
}

/**
 * Makes a handshake, and ends the connection.
 * @param {Endpoint} endpoint
 * @param {tls.ConnectionOptions} options
 * @returns {Promise<string>} the session, as `renderSession`
 * @throws {Error} if it fails, or nothing arrives for HANDSHAKE_MS
 */
function negotiateSession({ address, port }, options) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: address, port, servername: 'server', rejectUnauthorized: false, ...options })
    socket.setTimeout(HANDSHAKE_MS, () => socket.destroy(new Error(`nothing arrived for ${HANDSHAKE_MS / 1000} s`)))
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      const { name } = /** @type {tls.EphemeralKeyInfo} */ (socket.getEphemeralKeyInfo())
      resolve(renderSession(socket, `${name}`))
      socket.destroy()
    })
  })
}

/**
 * Renders the type of a certificate's key as in `--tls`.
 * @param {X509Certificate} certificate
 * @returns {string} such as `rsa-2048` or `ecdsa-p256`; other curves have the name that OpenSSL gives them
 */
function renderKeyType({ publicKey }) {
  const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {}
  return modulusLength ? `rsa-${modulusLength}` : `ecdsa-${namedCurve === 'prime256v1' ? 'p256' : namedCurve}`
}
