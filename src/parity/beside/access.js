import tls from 'node:tls'
import { groupBy } from '../../lib/group-by.js'
import { sendRequest } from '../../node/send.js'
import { requestEcho } from './answers.js'
import { chooseSecureEndpoint } from './corpus.js'
import { NO_TLS } from './negotiation.js'
import { PEERS, SERVERS } from './peers.js'
import { PEER_PATH } from './upstreams.js'

/** The checks of which peers a sidecar accepts, as a server and as a client, under a traffic policy. */
/** @import { ConnectionOptions } from 'node:tls' */
/** @import { Endpoint, ParityRow } from '../../model/types.ts' */
/** @import { Configuration, Probed, ProbedRow } from './probe.js' */
/** @import { Peer } from './peers.js' */

/** @typedef {keyof typeof DIRECTIONS} Direction the listener or connection at which a peer meets a sidecar */
/**
 * One connection.
 * @typedef {object} Attempt
 * @property {string} peer its name in rows
 * @property {Direction} direction
 * @property {string} expected `accepted` or `refused`
 * @property {(rig: Probed) => Promise<string>} run resolves to `accepted`, `refused` or other words
 */
/** @typedef {Omit<Attempt, 'run'> & { found: string }} AttemptResult */

const ACCEPTED = 'accepted'
const REFUSED = 'refused'
const ALERT = 'an alert in the handshake'
const NO_ALERT = 'closed without an alert'
// An alert takes less time than this, on a busy machine, too.
const SILENT_MS = 3000
const SEND_SECONDS = 10
// A port for plaintext and TLS may recognise plaintext by the first bytes of some methods only.
const METHODS = ['GET', 'DELETE', 'PATCH']
// Codes of a connection that no socket accepted, or that this machine could not make: neither is a sidecar's refusal.
const NOT_REFUSED = /^(ECONNREFUSED|EMFILE|ENFILE|EADDRNOTAVAIL|ETIMEDOUT)$/

/** The row of each direction. */
const DIRECTIONS = {
  'in strict mode': 'parity-refusals',
  'in permissive mode': 'parity-permissive',
  'as an upstream': 'parity-upstreams',
}

/**
 * Renders what a configuration must refuse and accept in a direction, as the `expected` of a row.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 * @param {Direction} direction
 * @returns {string}
 */
export function renderAccess({ tls, trafficPolicy }, direction) {
  if (tls === 'plaintext') return 'nobody refused: there is no TLS'
  const peerEnd = direction === 'as an upstream' ? 'server' : 'client'
  const isPlaintextAccepted = direction === 'in permissive mode'
  const refused = Object.values(PEERS)
    .filter(({ ends, acceptedUnder }) => ends.includes(peerEnd) && !acceptedUnder.includes(trafficPolicy))
    .filter(({ options }) => !(isPlaintextAccepted && options === null))
  return [
    `${refused.map(({ name }) => name).join(', ')} refused`,
    ...(isPlaintextAccepted ? ['plaintext accepted'] : []),
    ...(trafficPolicy === 'open' ? ["any identity of the mesh's CA accepted (open policy)"] : []),
  ].join('; ')
}

/**
 * Lists the connections to try: of every peer to an inbound listener of either mode, and to every peer as an upstream. Without
 * TLS it lists only those in plaintext to listeners.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 * @returns {Attempt[]}
 */
export function listAttempts(configuration) {
  const hasTls = configuration.tls !== 'plaintext'
  return [
    ...createInboundAttempts(configuration, { service: 'server', direction: 'in strict mode' }),
    ...createInboundAttempts(configuration, { service: 'permissive', direction: 'in permissive mode' }),
    ...(hasTls ? createUpstreamAttempts(configuration) : []),
  ]
}

/**
 * Creates the connections of peers to an inbound listener. Without TLS, only the peer in plaintext connects, and is accepted.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 * @param {{ service: string, direction: Direction }} listener
 * @returns {Attempt[]}
 */
function createInboundAttempts({ tls, trafficPolicy }, { service, direction }) {
  const hasTls = tls !== 'plaintext'
  const isPlaintextAccepted = !hasTls || direction === 'in permissive mode'
  const clients = Object.values(PEERS).filter(({ ends }) => ends.includes('client'))
  return clients
    .filter(({ options }) => hasTls || options === null)
    .map(peer => ({
      peer: peer.name,
      direction,
      expected: renderAcceptance(
        peer.options === null ? isPlaintextAccepted : peer.acceptedUnder.includes(trafficPolicy),
      ),
      run: rig => sendAsPeer(rig, service, peer),
    }))
}

/**
 * Creates the connections of the client's sidecar to each peer that can be an upstream.
 * @param {Pick<Configuration, 'trafficPolicy'>} configuration
 * @returns {Attempt[]}
 */
function createUpstreamAttempts({ trafficPolicy }) {
  return SERVERS.map(([upstream, peer]) => ({
    peer: peer.name,
    direction: 'as an upstream',
    expected: renderAcceptance(peer.acceptedUnder.includes(trafficPolicy)),
    run: rig => sendToPeer(rig, upstream, peer),
  }))
}

/**
 * Tries all connections at the same time.
 * @param {Probed} rig
 * @returns {Promise<AttemptResult[]>} found: `accepted`, `refused`, other words, or `failed: …` for one that throws
 */
export function probeAccess(rig) {
  return Promise.all(
    listAttempts(rig.configuration).map(async ({ run, ...attempt }) => ({
      ...attempt,
      found: await run(rig).catch(error => `failed: ${error.message}`),
    })),
  )
}

/**
 * Lists the connections that ended otherwise than expected.
 * @param {AttemptResult[]} results
 * @returns {string[]} one line for each; []: none did
 */
export function listAccessDifferences(results) {
  return results.filter(({ found, expected }) => found !== expected).map(renderDifference)
}

/**
 * Renders a connection that ended otherwise than expected.
 * @param {AttemptResult} result
 * @returns {string}
 */
const renderDifference = ({ peer, direction, found, expected }) =>
  `${peer}, ${direction}: ${found}, expected ${expected}`

/** The differences of a sidecar that accepts plaintext where it must speak mTLS. */
const ACCEPTED_PLAINTEXT = /** @type {const} */ (['in strict mode', 'as an upstream']).map(direction =>
  renderDifference({ peer: PEERS.plaintext.name, direction, found: ACCEPTED, expected: REFUSED }),
)

/**
 * Says whether a sidecar accepted plaintext where it must speak mTLS, as a server or as a client. No mesh deploys that.
 * @param {Pick<ParityRow, 'differences'>} row
 * @returns {boolean}
 */
export function hasAcceptedPlaintext({ differences }) {
  return differences.some(line => ACCEPTED_PLAINTEXT.includes(line))
}

/**
 * Tries the peers in each direction.
 * @param {Probed} rig
 * @returns {Promise<ProbedRow[]>} a row for each direction; in plaintext none for upstreams
 */
export async function probePeers(rig) {
  const { configuration } = rig
  const results = await probeAccess(rig)
  return [...groupBy(results, ({ direction }) => direction)].map(([direction, directionResults]) => {
    const differences = listAccessDifferences(directionResults)
    const expected = renderAccess(configuration, direction)
    const found = differences.length === 0 ? expected : `${differences.length} peers treated otherwise`
    const isOfPermissive = direction === 'in permissive mode' && configuration.tls !== 'plaintext'
    return {
      name: DIRECTIONS[direction],
      ...(isOfPermissive && { mode: /** @type {const} */ ('permissive') }),
      found,
      expected,
      differences,
    }
  })
}

/**
 * Tries the handshakes of refused peers: each must get an alert in its handshake, before it has sent a request.
 * @param {Probed} rig with TLS
 * @returns {Promise<ProbedRow>} differences: one for each peer that gets none
 */
export async function probeHandshakes(rig) {
  const { trafficPolicy } = rig.configuration
  const endpoint = chooseSecureEndpoint(rig)
  const refused = Object.values(PEERS).filter(
    ({ ends, options, acceptedUnder }) =>
      ends.includes('client') && options !== null && !acceptedUnder.includes(trafficPolicy),
  )
  const outcomes = await Promise.all(
    refused.map(peer => tryHandshake(endpoint, createTlsOptions(peer, rig.credentials))),
  )
  const differences = refused.flatMap(({ name }, i) =>
    outcomes[i] === ALERT ? [] : [`${name}: ${outcomes[i]}, expected ${ALERT}`],
  )
  const expected = 'each refused peer gets an alert in its handshake'
  const failureText = `${differences.length} refused peers get none in their handshake`
  return { name: 'parity-handshakes', found: differences.length === 0 ? expected : failureText, expected, differences }
}

/**
 * Sends a request to a sidecar as a peer: in plaintext one of each method, unless they are gRPC calls.
 * @param {Probed} rig
 * @param {string} service whose sidecar is called
 * @param {Peer} peer
 * @returns {Promise<string>} `accepted`, `refused`, or other words for how the sidecar treated it; if methods differ, for each
 */
async function sendAsPeer(rig, service, peer) {
  const isPlainHttp = peer.options === null && rig.configuration.protocol !== 'grpc'
  const methods = isPlainHttp ? METHODS : METHODS.slice(0, 1)
  const outcomes = await Promise.all(methods.map(method => sendMethodAsPeer(rig, { service, peer, method })))
  const [first] = outcomes
  const areEqual = outcomes.every(outcome => outcome === first)
  return areEqual ? first : methods.map((method, i) => `${method} ${outcomes[i]}`).join(', ')
}

/**
 * Sends one request to a sidecar as a peer.
 * @param {Probed} rig
 * @param {{ service: string, peer: Peer, method: string }} options service: whose sidecar is called
 * @returns {Promise<string>} `accepted`, `refused`, or other words for how the sidecar treated it, also that the request came to
 *   the application although it was not answered 200
 */
async function sendMethodAsPeer(rig, { service, peer, method }) {
  const { protocol, tunnelPort } = rig.configuration
  const path = encodeURI(`${PEER_PATH}/${service}/${peer.name}/${method}`)
  const tlsOptions = peer.options === null ? undefined : createTlsOptions(peer, rig.credentials)
  const outcome = await sendRequest(
    rig.sidecars[service],
    { host: 'echo', path, method, protocol },
    { tls: tlsOptions, tunnelPort, timeoutSeconds: SEND_SECONDS },
  ).then(({ status }) => (status === 200 ? ACCEPTED : `answered ${status}`), renderRefusal)
  const isForwarded = outcome !== ACCEPTED && rig.hasReceived(path)
  return isForwarded ? `${outcome}, and yet its request came to the application` : outcome
}

/**
 * Renders what an error of a request means. A connection that the sidecar ended is a refusal; one that never came about, or
 * stays open, is not.
 * @param {Error & { code?: string }} error
 * @returns {string} `refused`, `failed: …`, or that nothing came in time
 */
function renderRefusal({ code, message }) {
  if (/no answer within/.test(message)) return `neither answered nor refused within ${SEND_SECONDS} s`
  return NOT_REFUSED.test(code ?? '') ? `failed: ${message}` : REFUSED
}

/**
 * Creates the options with which a peer connects.
 * @param {Peer} peer with TLS
 * @param {Probed['credentials']} credentials
 * @returns {ConnectionOptions} without certificate and key if the peer has none
 */
function createTlsOptions({ credential, options }, credentials) {
  return { servername: 'server', ...(credential === null ? {} : credentials[credential]), ...options }
}

/**
 * Tries a handshake without a request, and renders how the listener ends it. In TLS 1.3 the client ends its part of the
 * handshake before the server has checked its certificate, so the alert comes after that.
 * @param {Endpoint} endpoint
 * @param {ConnectionOptions} options
 * @returns {Promise<string>} ALERT; NO_ALERT, also if it cannot connect; or, if nothing comes for SILENT_MS, `kept open`
 */
function tryHandshake({ address, port }, options) {
  return new Promise(resolve => {
    const socket = tls.connect({ host: address, port, rejectUnauthorized: false, ...options })
    const settle = (/** @type {string} */ outcome) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(SILENT_MS, () => settle('kept open'))
    socket.on('error', (/** @type {Error & { code?: string }} */ { code = '', message }) =>
      settle(/ALERT/i.test(`${code} ${message}`) ? ALERT : NO_ALERT),
    )
    socket.on('close', () => settle(NO_ALERT))
    // Without a reader, neither an alert nor the end is noticed.
    socket.resume()
  })
}

/**
 * Sends a request through the client's sidecar to a peer that is an upstream. The upstream notes a connection, and closes it:
 * the sidecar then answers 503, or 504 in HTTP/2 (HAProxy).
 * @param {Probed} rig
 * @param {string} upstream the name of the peer's upstream
 * @param {Peer} peer
 * @returns {Promise<string>} whether the sidecar accepted the peer: `accepted`, `refused` or the status of an unexpected answer;
 *   a request that fails counts as answered 503
 */
async function sendToPeer(rig, upstream, { options }) {
  // FSM's scripts close the connection instead of answering.
  const { status } = await requestEcho(rig, { host: upstream }).catch(() => ({ status: 503 }))
  // None of these peers answers. The row parity-answers tries which 5xx the sidecar gives then.
  if (status < 500) return `answered ${status}`
  const connections = rig.observed.filter(({ observer }) => observer === upstream)
  // A peer without TLS also notes a sidecar's attempt at a handshake, which is no acceptance.
  return renderAcceptance(connections.some(({ tls: session }) => options !== null || session === NO_TLS))
}

/** @param {boolean} isAccepted */
function renderAcceptance(isAccepted) {
  return isAccepted ? ACCEPTED : REFUSED
}
