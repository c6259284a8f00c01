import { send } from '../../node/send.js'
import { ask } from './answers.js'
import { NO_TLS } from './negotiation.js'
import { PEERS, SERVERS } from './peers.js'

/** The peers that a sidecar accepts, as a server and as a client, by traffic policy. */
/** @import { Configuration, Probed } from './probe.js' */
/** @import { Peer } from './peers.js' */

/** One connection. @typedef {{ peer: string, direction: string, expected: string, run: (rig: Probed) => Promise<string> }} Attempt run: what is found */
/** @typedef {Omit<Attempt, 'run'> & { found: string }} Tried */

const ACCEPTED = 'accepted'
const REFUSED = 'refused'

/** Says what a configuration accepts. @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration */
export function describeAccess({ tls, trafficPolicy }) {
  if (tls === 'plaintext') return 'nobody refused: there is no TLS'
  const listNames = (/** @type {Peer[]} */ peers) => peers.map(({ name }) => name).join(', ')
  const peers = Object.values(PEERS).filter(peer => !peer.acceptedUnder.includes(trafficPolicy))
  const refused = listNames(peers).replace('plaintext', 'plaintext (in strict mode)')
  return trafficPolicy === 'open'
    ? `${refused} refused; any identity of the mesh's CA accepted (open policy)`
    : `${refused} refused`
}

/**
 * Every peer at an inbound listener of either mode, and as an upstream.
 * @param {Pick<Configuration, 'tls' | 'trafficPolicy'>} configuration @returns {Attempt[]}
 */
export function listAttempts({ tls, trafficPolicy }) {
  const hasTls = tls !== 'plaintext'
  const clients = Object.values(PEERS).filter(
    ({ options, ends }) => ends.includes('client') && (hasTls || options === null),
  )
  const enterAt = (/** @type {string} */ service, /** @type {string} */ direction, isPlaintextAccepted = !hasTls) =>
    clients.map(peer => ({
      peer: peer.name,
      direction,
      expected: say(peer.options === null ? isPlaintextAccepted : peer.acceptedUnder.includes(trafficPolicy)),
      run: (/** @type {Probed} */ rig) => enter(rig, service, peer),
    }))
  const upstreams = SERVERS.map(([upstream, peer]) => ({
    peer: peer.name,
    direction: 'as an upstream',
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

/** @param {Probed} rig @param {string} service whose sidecar is called @param {Peer} peer */
async function enter(rig, service, { credential, options }) {
  const own = credential === null ? {} : rig.credentials[credential]
  const tls = options === null ? undefined : { servername: 'server', ...own, ...options }
  return send(rig.sidecars[service], { host: 'echo' }, { tls }).then(
    ({ status }) => (status === 200 ? ACCEPTED : `answered ${status}`),
    () => REFUSED,
  )
}

/**
 * The upstream notes what reaches it, and closes: the client's sidecar answers 503, or 504 in HTTP/2 (HAProxy).
 * @param {Probed} rig @param {string} upstream @param {Peer} peer
 */
async function leaveTo(rig, upstream, { options }) {
  // The scripts of FSM hang up instead.
  const { status } = await ask(rig, { host: upstream }).catch(() => ({ status: 503 }))
  if (status !== 503 && status !== 504) return `answered ${status}`
  // Without TLS, the sidecar's attempt to begin it is noted, too.
  return say(rig.observed.some(o => o.observer === upstream && (options !== null || o.tls === NO_TLS)))
}

/** @param {boolean} isAccepted */
function say(isAccepted) {
  return isAccepted ? ACCEPTED : REFUSED
}
