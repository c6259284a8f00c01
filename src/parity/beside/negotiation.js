import tls from 'node:tls'
import { requestEcho } from './answers.js'
import { exchangeBytes } from './bytes.js'
import { readServerGroup } from './hello.js'

/** Finds the TLS and the HTTP that sidecars speak with each other, in words that are equal if the behaviour is. */
/** @import { X509Certificate } from 'node:crypto' */
/** @import { Configuration, Probed } from './probe.js' */
/** @import { Endpoint } from '../../model/types.ts' */

const HANDSHAKE_MS = 5000
// A pinned sidecar must not follow its peer's preference of a group, so P-256 stands first. The suite is the client's to
// order: Envoy has no setting for those of TLS 1.3, and as a client puts the pinned one first, as here.
const PREFERENCES = { ecdhCurve: 'P-256:X25519', ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384' }

// A strong suite, but not the one to which sidecars are pinned.
const OTHER_SUITE = 'TLS_AES_256_GCM_SHA384'
const OF_NO_PROTOCOL = 'bytes of no protocol\r\n\r\n'
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

/**
 * Says whether the configuration prefers one group to another.
 * @param {string[]} groups
 * @returns {boolean}
 */
const hasChoice = groups => groups.length > 1
// Node's TLS knows only the last group, so the first is read from the hellos of both ends.
/**
 * Renders which group comes first.
 * @returns {string}
 */
const renderFirstGroup = (/** @type {string | null | undefined} */ group) => `, ${group ?? 'no group'} first`

/**
 * Negotiates with the server's sidecar, and renders the result; if the sidecar has a choice of groups, also which one it
 * chooses when all are offered.
 * @param {{ endpoint: Endpoint, credentials: tls.ConnectionOptions, configuration: Configuration }} peer
 * @returns {Promise<string>} TAKES_OTHERS: it accepts P-256, to which it is not pinned; NO_TLS: the handshake failed
 */
export async function negotiateAsServer({ endpoint, credentials, configuration: { groups } }) {
  const negotiated = await renderHandshake(endpoint, { ...PREFERENCES, ...credentials })
  const otherGroup = await renderHandshake(endpoint, { ...PREFERENCES, ...credentials, ecdhCurve: 'P-256' })
  if (otherGroup !== NO_TLS) return TAKES_OTHERS
  return hasChoice(groups) ? `${negotiated}${renderFirstGroup(await readServerGroup(endpoint, groups))}` : negotiated
}

/**
 * Checks whether the server's sidecar accepts a strong suite other than the one to which it is pinned. Any handshake that fails
 * counts as refused.
 * @param {{ endpoint: Endpoint, credentials: tls.ConnectionOptions, suite: string }} peer
 * @returns {Promise<import('./probe.js').ProbedRow>}
 */
export async function probeSuites({ endpoint, credentials, suite }) {
  const session = await renderHandshake(endpoint, { ...credentials, ciphers: OTHER_SUITE })
  const expected = `no suite but ${suite}`
  const suites = session === NO_TLS ? expected : `${OTHER_SUITE} too`
  return { name: 'parity-suites', found: suites, expected, differences: [] }
}

/**
 * Reads what the client's sidecar negotiates as a client, and which HTTP it speaks: by two requests through it to an observer,
 * and one to an observer that has P-256 alone. Requests that fail are not reported here.
 * @param {Probed} rig
 * @returns {Promise<{ tls: string, protocol: string }>} distinct findings joined by `and`; `nothing`: no connection arrived;
 *   tls: TAKES_OTHERS if it accepts P-256
 */
export async function negotiateAsClient(rig) {
  const before = rig.observed.length
  const isTcp = rig.configuration.protocol === 'tcp'
  for (const host of ['observed', 'observed', 'p256'])
    await (isTcp ? exchangeBytes(rig, { host, bytes: Buffer.from(OF_NO_PROTOCOL) }) : requestEcho(rig, { host })).catch(
      () => {},
    )
  const observed = rig.observed.slice(before)
  const withChoice = observed.filter(o => o.observer === 'observed')
  const join = (/** @type {string[]} */ words) => [...new Set(words)].join(' and ') || 'nothing'
  const { groups } = rig.configuration
  const shares = rig.observed.flatMap(o => (o.share === undefined ? [] : [o.share]))
  const firstGroup = hasChoice(groups) ? renderFirstGroup([...new Set(shares)].join(' or ') || null) : ''
  const takesOthers = observed.some(o => o.observer === 'p256' && o.tls !== NO_TLS)
  return {
    tls: takesOthers ? TAKES_OTHERS : `${join(withChoice.map(o => o.tls))}${firstGroup}`,
    protocol: join(withChoice.map(o => o.protocol)),
  }
}

/**
 * Renders a TLS session: its version, suite, group, the peer's key type, and whether it was resumed.
 * @param {tls.TLSSocket} socket
 * @param {string} group of the key exchange
 * @returns {string}
 */
export function renderSession(socket, group) {
  const certificate = /** @type {X509Certificate} */ (socket.getPeerX509Certificate())
  const words = [socket.getProtocol(), socket.getCipher().name, group, renderKeyType(certificate)]
  return [...words, ...(socket.isSessionReused() ? ['resumed'] : [])].join(' ')
}

/**
 * Makes a handshake, and renders its session.
 * @param {Endpoint} endpoint
 * @param {tls.ConnectionOptions} options
 * @returns {Promise<string>} NO_TLS: it failed, or nothing arrived for HANDSHAKE_MS
 */
function renderHandshake({ address, port }, options) {
  return new Promise(resolve => {
    const socket = tls.connect({ host: address, port, servername: 'server', rejectUnauthorized: false, ...options })
    const settle = (/** @type {string} */ outcome) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(HANDSHAKE_MS, () => settle(NO_TLS))
    socket.on('error', () => settle(NO_TLS))
    socket.on('secureConnect', () => {
      const { name } = /** @type {tls.EphemeralKeyInfo} */ (socket.getEphemeralKeyInfo())
      settle(renderSession(socket, `${name}`))
    })
  })
}

/**
 * Renders the type of a certificate's key as in `--tls`.
 * @param {X509Certificate} certificate
 * @returns {string}
 */
function renderKeyType({ publicKey }) {
  const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {}
  return modulusLength ? `rsa-${modulusLength}` : `ecdsa-${namedCurve === 'prime256v1' ? 'p256' : namedCurve}`
}
