import tls from 'node:tls'
import { sendRequest } from '../../node/send.js'
import { requestEcho } from './answers.js'
import { chooseSecureEndpoint } from './corpus.js'
import { NO_TLS } from './negotiation.js'
import { PEERS, SERVERS } from './peers.js'
import { PEER_PATH } from './upstreams.js'

/** Checks which peers a sidecar accepts, as a server and as a client, under a traffic policy. */
/** @import { Configuration, Probed, ProbedRow } from './probe.js' */
/** @import { Peer } from './peers.js' */

/** @typedef {keyof typeof DIRECTIONS} Direction the listener or connection at which a peer meets a sidecar */
/**
 * One connection.
 * @typedef {object} Attempt
 * @property {string} peer
 * @property {Direction} direction
 * @property {string} expected
 * @property {(rig: Probed) => Promise<string>} run resolves to `accepted`, `refused` or other words
 */
/** @typedef {Omit<Attempt, 'run'> & { found: string }} Tried */

const ACCEPTED = 'accepted'
const REFUSED = 'refused'
const ALERT = 'an alert in the handshake'
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
  const isPlainAccepted = direction === 'in permissive mode'
  const refused = Object.values(PEERS)
    .filter(({ ends, acceptedUnder }) => ends.includes(peerEnd) && !acceptedUnder.includes(trafficPolicy))
    .filter(({ options }) => !(isPlainAccepted && options === null))
  const openPolicyNote = trafficPolicy === 'open' ? ["any identity of the mesh's CA accepted (open policy)"] : []
  return [
    `${refused.map(({ name }) => name).join(', ')} refused`,
    ...(isPlainAccepted ? ['plaintext accepted'] : []),
    ...openPolicyNote,
  ].join('; ')
}

/**
 * Lists the connections to try: of every peer to an inbound listener of either mode, and to every peer as an upstream. Without
 * TLS it lists only those in plaintext to listeners.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration
 * @returns {Attempt[]}
 */
export function listAttempts({ tls, trafficPolicy }) {
  const hasTls = tls !== 'plaintext'
  const clients = Object.values(PEERS).filter(
    ({ options, ends }) => ends.includes('client') && (hasTls || options === null),
  )
  const createInboundAttempts = (
    /** @type {string} */ service,
    /** @type {Direction} */ direction,
    isPlaintextAccepted = !hasTls,
  ) =>
    clients.map(peer => ({
      peer: peer.name,
      direction,
      expected: renderAcceptance(
        peer.options === null ? isPlaintextAccepted : peer.acceptedUnder.includes(trafficPolicy),
      ),
      run: (/** @type {Probed} */ rig) => sendAsPeer(rig, service, peer),
    }))
  const upstreams = SERVERS.map(([upstream, peer]) => ({
    peer: peer.name,
    direction: /** @type {const} */ ('as an upstream'),
    expected: renderAcceptance(peer.acceptedUnder.includes(trafficPolicy)),
    run: (/** @type {Probed} */ rig) => sendToPeer(rig, upstream, peer),
  }))
  return [
    ...createInboundAttempts('server', 'in strict mode'),
    ...createInboundAttempts('permissive', 'in permissive mode', true),
    ...(hasTls ? upstreams : []),
  ]
}

/**
 * Tries all connections at the same time.
 * @param {Probed} rig
 * @returns {Promise<Tried[]>} found: `accepted`, `refused`, other words, or `failed: …` for one that throws
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
 * @param {Tried[]} tried
 * @returns {string[]} one line for each; []: none did
 */
export function listAccessDifferences(tried) {
  return tried.filter(({ found, expected }) => found !== expected).map(renderDifference)
}

/**
 * Renders a connection that ended otherwise than expected.
 * @param {Tried} tried
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
 * @param {Pick<import('../../model/types.ts').ParityRow, 'differences'>} row
 * @returns {boolean}
 */
export function hasAcceptedPlaintext({ differences }) {
  return differences.some(line => ACCEPTED_PLAINTEXT.includes(line))
}

/**
 * Tries the peers in each direction.
 * @param {Probed} rig
 * @returns {Promise<ProbedRow[]>} one row for each direction
 */
export async function probePeers(rig) {
  const { configuration } = rig
  const attempts = await probeAccess(rig)
  const directions = /** @type {Direction[]} */ ([...new Set(attempts.map(({ direction }) => direction))])
  return directions.map(direction => {
    const differences = listAccessDifferences(attempts.filter(attempt => attempt.direction === direction))
    const expected = renderAccess(configuration, direction)
    const found = differences.length === 0 ? expected : `${differences.length} peers treated otherwise`
    const mode = direction === 'in permissive mode' && configuration.tls !== 'plaintext' ? { mode: 'permissive' } : {}
    return /** @type {ProbedRow} */ ({ name: DIRECTIONS[direction], ...mode, found, expected, differences })
  })
}

/**
 * Tries the handshakes of refused peers: each must get an alert in its handshake, before it has sent a request.
 * @param {Probed} rig
 * @returns {Promise<ProbedRow>}
 */
export async function probeHandshakes(rig) {
  const { trafficPolicy } = rig.configuration
  const endpoint = chooseSecureEndpoint(rig)
  const refused = Object.values(PEERS).filter(
    ({ ends, options, acceptedUnder }) =>
      ends.includes('client') && options !== null && !acceptedUnder.includes(trafficPolicy),
  )
  const handshakes = await Promise.all(
    refused.map(peer => probeHandshake(endpoint, createTlsOptions(peer, rig.credentials))),
  )
  const differences = refused.flatMap(({ name }, i) =>
    handshakes[i] === ALERT ? [] : [`${name}: ${handshakes[i]}, expected ${ALERT}`],
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
 * @returns {Promise<string>} `accepted`, `refused`, or other words for how the sidecar treated it
 */
async function sendAsPeer(rig, service, peer) {
  const options = peer.options === null ? undefined : createTlsOptions(peer, rig.credentials)
  const { protocol, tunnelPort } = rig.configuration
  const answers = await Promise.all(
    (options || protocol === 'grpc' ? METHODS.slice(0, 1) : METHODS).map(async method => {
      const path = `${PEER_PATH}/${service}/${peer.name}/${method}`
      const request = { host: 'echo', path: encodeURI(path), method, protocol }
      const sendOptions = { tls: options, tunnelPort, timeoutSeconds: SEND_SECONDS }
      const words = await sendRequest(rig.sidecars[service], request, sendOptions).then(
        ({ status }) => (status === 200 ? ACCEPTED : `answered ${status}`),
        renderRefusal,
      )
      const isForwarded = words !== ACCEPTED && rig.hasGot(request.path)
      return { method, words: isForwarded ? `${words}, and yet its request came to the application` : words }
    }),
  )
  const [first] = answers
  const areEqual = answers.every(({ words }) => words === first.words)
  return areEqual ? first.words : answers.map(({ method, words }) => `${method} ${words}`).join(', ')
}

/**
 * Renders what an error of a request means. A connection that the sidecar ended is a refusal; one that never came about, or
 * stays open, is not.
 * @param {Error & { code?: string }} error
 * @returns {string}
 */
function renderRefusal({ code, message }) {
  if (/no answer within/.test(message)) return `neither answered nor refused within ${SEND_SECONDS} s`
  return NOT_REFUSED.test(code ?? '') ? `failed: ${message}` : REFUSED
}

/**
 * Creates the options with which a peer connects.
 * @param {Peer} peer
 * @param {Probed['credentials']} credentials
 * @returns {tls.ConnectionOptions}
 */
function createTlsOptions({ credential, options }, credentials) {
  return { servername: 'server', ...(credential === null ? {} : credentials[credential]), ...options }
}

/**
 * Makes a handshake without a request, and renders how the listener ends it. In TLS 1.3 the client ends its part of the
 * handshake before the server has checked its certificate, so the alert comes after that.
 * @param {import('../../model/types.ts').Endpoint} endpoint
 * @param {tls.ConnectionOptions} options
 * @returns {Promise<string>} ALERT, `closed without an alert` or `kept open`
 */
function probeHandshake({ address, port }, options) {
  return new Promise(resolve => {
    const socket = tls.connect({ host: address, port, rejectUnauthorized: false, ...options })
    const settle = (/** @type {string} */ outcome) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(SILENT_MS, () => settle('kept open'))
    socket.on('error', (/** @type {Error & { code?: string }} */ { code = '', message }) =>
      settle(/ALERT/i.test(`${code} ${message}`) ? ALERT : 'closed without an alert'),
    )
    socket.on('close', () => settle('closed without an alert'))
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
 * @returns {Promise<string>} whether the sidecar accepted the peer: `accepted`, `refused` or the status of an unexpected answer
 */
async function sendToPeer(rig, upstream, { options }) {
  // FSM's scripts close the connection instead of answering.
  const { status } = await requestEcho(rig, { host: upstream }).catch(() => ({ status: 503 }))
  // None of these peers answers. Which 5xx the sidecar gives then is tried in parity-answers.
  if (status < 500) return `answered ${status}`
  // A peer without TLS also notes a sidecar's attempt at a handshake, which is no acceptance.
  return renderAcceptance(rig.observed.some(o => o.observer === upstream && (options !== null || o.tls === NO_TLS)))
}

/**
 * Renders whether a peer is accepted.
 * @param {boolean} isAccepted
 * @returns {string}
 */
function renderAcceptance(isAccepted) {
  return isAccepted ? ACCEPTED : REFUSED
}
