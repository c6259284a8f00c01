import tls from 'node:tls'
import { send } from '../../node/send.js'
import { ask } from './answers.js'
import { secureEndpointOf } from './corpus.js'
import { NO_TLS } from './negotiation.js'
import { PEERS, SERVERS } from './peers.js'
import { PEER_PATH } from './upstreams.js'

/** The peers that a sidecar accepts, as a server and as a client, by traffic policy. */
/** @import { Configuration, Probed, Row } from './probe.js' */
/** @import { Peer } from './peers.js' */

/** @typedef {keyof typeof DIRECTIONS} Direction where a peer meets a sidecar */
/** One connection. @typedef {{ peer: string, direction: Direction, expected: string, run: (rig: Probed) => Promise<string> }} Attempt run: what is found */
/** @typedef {Omit<Attempt, 'run'> & { found: string }} Tried */

const ACCEPTED = 'accepted'
const REFUSED = 'refused'
const ALERT = 'an alert in the handshake'
// An alert takes less time than this, on a busy machine, too.
const SILENT_MS = 3000
const SEND_SECONDS = 10
// A server may know only some methods by their first bytes.
const METHODS = ['GET', 'DELETE', 'PATCH']
// Errors of a connection that nobody took, or that this machine could not make.
const NOT_REFUSED = /^(ECONNREFUSED|EMFILE|ENFILE|EADDRNOTAVAIL|ETIMEDOUT)$/

/** The row of each direction. */
const DIRECTIONS = {
  'in strict mode': 'parity-refusals',
  'in permissive mode': 'parity-permissive',
  'as an upstream': 'parity-upstreams',
}

/**
 * Says what a configuration accepts, by direction.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration @param {Direction} direction
 */
export function describeAccess({ tls, trafficPolicy }, direction) {
  if (tls === 'plaintext') return 'nobody refused: there is no TLS'
  const end = direction === 'as an upstream' ? 'server' : 'client'
  const isPlainAccepted = direction === 'in permissive mode'
  const refused = Object.values(PEERS)
    .filter(({ ends, acceptedUnder }) => ends.includes(end) && !acceptedUnder.includes(trafficPolicy))
    .filter(({ options }) => !(isPlainAccepted && options === null))
  const open = trafficPolicy === 'open' ? ["any identity of the mesh's CA accepted (open policy)"] : []
  return [
    `${refused.map(({ name }) => name).join(', ')} refused`,
    ...(isPlainAccepted ? ['plaintext accepted'] : []),
    ...open,
  ].join('; ')
}

/**
 * Lists every peer at an inbound listener of either mode, and as an upstream.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration @returns {Attempt[]}
 */
export function listAttempts({ tls, trafficPolicy }) {
  const hasTls = tls !== 'plaintext'
  const clients = Object.values(PEERS).filter(
    ({ options, ends }) => ends.includes('client') && (hasTls || options === null),
  )
  const enterAt = (/** @type {string} */ service, /** @type {Direction} */ direction, isPlaintextAccepted = !hasTls) =>
    clients.map(peer => ({
      peer: peer.name,
      direction,
      expected: say(peer.options === null ? isPlaintextAccepted : peer.acceptedUnder.includes(trafficPolicy)),
      run: (/** @type {Probed} */ rig) => enter(rig, service, peer),
    }))
  const upstreams = SERVERS.map(([upstream, peer]) => ({
    peer: peer.name,
    direction: /** @type {const} */ ('as an upstream'),
    expected: say(peer.acceptedUnder.includes(trafficPolicy)),
    run: (/** @type {Probed} */ rig) => leaveTo(rig, upstream, peer),
  }))
  return [
    ...enterAt('server', 'in strict mode'),
    ...enterAt('permissive', 'in permissive mode', true),
    ...(hasTls ? upstreams : []),
  ]
}

/** @param {Probed} rig @returns {Promise<Tried[]>} */
export function probeAccess(rig) {
  return Promise.all(
    listAttempts(rig.configuration).map(async ({ run, ...attempt }) => ({
      ...attempt,
      found: await run(rig).catch(error => `failed: ${error.message}`),
    })),
  )
}

/** @param {Tried[]} tried */
export function listDifferences(tried) {
  return tried
    .filter(({ found, expected }) => found !== expected)
    .map(({ peer, direction, found, expected }) => `${peer}, ${direction}: ${found}, expected ${expected}`)
}

/** Tries the peers, and makes a row for each direction. @param {Probed} rig @returns {Promise<Row[]>} */
export async function tryPeers(rig) {
  const { configuration } = rig
  const tried = await probeAccess(rig)
  const directions = /** @type {Direction[]} */ ([...new Set(tried.map(({ direction }) => direction))])
  return directions.map(direction => {
    const differences = listDifferences(tried.filter(one => one.direction === direction))
    const expected = describeAccess(configuration, direction)
    const found = differences.length === 0 ? expected : `${differences.length} peers treated otherwise`
    const mode = direction === 'in permissive mode' && configuration.tls !== 'plaintext' ? { mode: 'permissive' } : {}
    return /** @type {Row} */ ({ name: DIRECTIONS[direction], ...mode, found, expected, differences })
  })
}

/**
 * Tells which refused peers learn it in the handshake, before they have asked for anything.
 * @param {Probed} rig @returns {Promise<Row>}
 */
export async function tryHandshakes(rig) {
  const { trafficPolicy } = rig.configuration
  const endpoint = secureEndpointOf(rig, 'server')
  const refused = Object.values(PEERS).filter(
    ({ ends, options, acceptedUnder }) =>
      ends.includes('client') && options !== null && !acceptedUnder.includes(trafficPolicy),
  )
  const handshakes = await Promise.all(refused.map(peer => shakeHands(endpoint, optionsOf(peer, rig.credentials))))
  const differences = refused.flatMap(({ name }, i) =>
    handshakes[i] === ALERT ? [] : [`${name}: ${handshakes[i]}, expected ${ALERT}`],
  )
  const expected = 'each refused peer gets an alert in its handshake'
  const wrong = `${differences.length} refused peers get none in their handshake`
  return { name: 'parity-handshakes', found: differences.length === 0 ? expected : wrong, expected, differences }
}

/** @param {Probed} rig @param {string} service whose sidecar is called @param {Peer} peer */
async function enter(rig, service, peer) {
  const options = peer.options === null ? undefined : optionsOf(peer, rig.credentials)
  const { protocol, tunnelPort } = rig.configuration
  const answers = await Promise.all(
    (options || protocol === 'grpc' ? METHODS.slice(0, 1) : METHODS).map(async method => {
      const path = `${PEER_PATH}/${service}/${peer.name}/${method}`
      const request = { host: 'echo', path: encodeURI(path), method, protocol }
      const how = { tls: options, tunnelPort, timeoutSeconds: SEND_SECONDS }
      const words = await send(rig.sidecars[service], request, how).then(
        ({ status }) => (status === 200 ? ACCEPTED : `answered ${status}`),
        tellError,
      )
      const isForwarded = words !== ACCEPTED && rig.hasGot(request.path)
      return { method, words: isForwarded ? `${words}, and yet its request came to the application` : words }
    }),
  )
  const [first] = answers
  const isOne = answers.every(({ words }) => words === first.words)
  return isOne ? first.words : answers.map(({ method, words }) => `${method} ${words}`).join(', ')
}

/** A connection that the sidecar has ended is a refusal; one that never came about, or stays open, is none. @param {Error & { code?: string }} error */
function tellError({ code, message }) {
  if (/no answer within/.test(message)) return `neither answered nor refused within ${SEND_SECONDS} s`
  return NOT_REFUSED.test(code ?? '') ? `failed: ${message}` : REFUSED
}

/** @param {Peer} peer @param {Probed['credentials']} credentials @returns {tls.ConnectionOptions} */
function optionsOf({ credential, options }, credentials) {
  return { servername: 'server', ...(credential === null ? {} : credentials[credential]), ...options }
}

/**
 * Tells how a listener ends a connection that asks for nothing: a server of TLS 1.3 looks at a certificate when the client's
 * part of the handshake is over.
 * @param {import('../../model/types.ts').Endpoint} endpoint @param {tls.ConnectionOptions} options
 * @returns {Promise<string>}
 */
function shakeHands({ address, port }, options) {
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
 * The upstream notes what reaches it, and closes: the client's sidecar answers 503, or 504 in HTTP/2 (HAProxy).
 * @param {Probed} rig @param {string} upstream @param {Peer} peer
 */
async function leaveTo(rig, upstream, { options }) {
  // The scripts of FSM hang up instead.
  const { status } = await ask(rig, { host: upstream }).catch(() => ({ status: 503 }))
  // Each of these peers ends its connection without an answer; parity-answers has the status for that.
  if (status < 500) return `answered ${status}`
  // Without TLS, the sidecar's attempt to begin it is noted, too.
  return say(rig.observed.some(o => o.observer === upstream && (options !== null || o.tls === NO_TLS)))
}

/** @param {boolean} isAccepted */
function say(isAccepted) {
  return isAccepted ? ACCEPTED : REFUSED
}
