/** A sidecar's ports, TLS and identity, for both ends of a connection. Pure, without imports: it runs in pods. */
/** @import { Place } from './types.ts' */

/** The ports of every service, as in a pod; each service has an address of its own. */
export const PORTS = {
  application: 8080,
  admin: 15000,
  outbound: 15001,
  inbound: 15003,
  control: 6070,
  // Sidecars ask for configurations at this port, where a control plane takes them at `control`.
  stream: 6071,
  generator: 6565,
}

/** The user as which sidecars run where connections are redirected to them: rules tell their connections by it. */
export const SIDECAR_USER = 1500

// A sidecar reads files of the run's user alone, and writes its log.
const CAPABILITIES = '+dac_override,+dac_read_search'
// A proxy of a node enters the namespaces of pods (setns(2)), and marks its packets in them (SO_MARK, socket(7)).
const CAPABILITIES_OF_NODE = `${CAPABILITIES},+sys_admin,+net_admin`
const asSidecar = (/** @type {string} */ capabilities) => [
  ...['setpriv', `--reuid=${SIDECAR_USER}`, `--inh-caps=${capabilities}`, `--ambient-caps=${capabilities}`, '--'],
]
/** The words before the command of a process of that user. */
export const AS_SIDECAR = asSidecar(CAPABILITIES)
/** The same for a proxy that enters the namespaces of pods. */
export const AS_NODE_PROXY = asSidecar(CAPABILITIES_OF_NODE)

export const TLS = { suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519' }

const POST_QUANTUM = 'X25519MLKEM768'

/** Says whether a kind of TLS puts a post-quantum group first. @param {string} tls as `--tls` has it */
export function isPostQuantum(tls) {
  return tls.endsWith(`+${POST_QUANTUM.toLowerCase()}`)
}

/** Lists the groups of a key exchange, in order: who has none but the last is served, too. @param {string} tls */
export function groupsOf(tls) {
  return isPostQuantum(tls) ? [POST_QUANTUM, TLS.group] : [TLS.group]
}

/** As the program of a process: the Node that runs the kit; its first argument is a file of the kit. */
export const KIT_NODE = 'node-of-the-kit'

/** As the program of a process: Python 3; its first argument is a file of the kit. */
export const KIT_PYTHON = 'python-of-the-kit'

/** The name of a load that speaks mTLS itself. */
export const GENERATOR = 'load-generator'

/** The place of a proxy that serves all pods of its node. */
export const NODE_PROXY = 'node-proxy'
/** The place of what hands it the pods. */
export const NODE_AGENT = 'node-agent'

/** The name of the place from which services are tried. */
export const PROBER = 'prober'

/** Makes the SPIFFE identity of a service. @param {string} service */
export function identityOf(service) {
  return `spiffe://sidecar-bench/ns/bench/sa/${service}`
}

/** Makes a place whose one address serves for all, as on one machine. @param {string} address @returns {Place} */
export function placeAt(address) {
  return { reach: address, listen: address, inside: address }
}
