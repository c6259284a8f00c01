/** A sidecar's ports, TLS and identity, for both ends of a connection. Pure, without imports: it runs in pods. */
/** @import { Endpoint, Place } from './types.ts' */

/** The ports of every service, as in a pod; each service has an address of its own. */
export const PORTS = {
  application: 8080,
  admin: 15000,
  outbound: 15001,
  inbound: 15003,
  control: 6070,
  // Sidecars fetch at this port the configurations that a control plane receives at `control`.
  stream: 6071,
  generator: 6565,
}

/** The user of sidecars with redirected connections. Rules exempt its connections, which would otherwise return to the sidecar. */
export const SIDECAR_USER = 1500

// Its files and its log belong to the run's user, and a sidecar of another user must read and write them (capabilities(7)).
const CAPABILITIES = '+dac_override,+dac_read_search'
// A proxy of a node enters the namespaces of pods (setns(2)), and marks its packets in them (SO_MARK, socket(7)).
const CAPABILITIES_OF_NODE = `${CAPABILITIES},+sys_admin,+net_admin`
const createSidecarArgv = (/** @type {string} */ capabilities) => [
  'setpriv',
  `--reuid=${SIDECAR_USER}`,
  `--inh-caps=${capabilities}`,
  `--ambient-caps=${capabilities}`,
  '--',
]
/** setpriv(1) with its arguments, which precede the argv of a process to start it as SIDECAR_USER. */
export const AS_SIDECAR = createSidecarArgv(CAPABILITIES)
/** The same for a proxy that enters the namespaces of pods. */
export const AS_NODE_PROXY = createSidecarArgv(CAPABILITIES_OF_NODE)

export const TLS = { suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519' }

const POST_QUANTUM = 'X25519MLKEM768'

/**
 * Says whether a kind of TLS puts a post-quantum group first.
 * @param {string} tls as `--tls` has it
 * @returns {boolean}
 */
export function isPostQuantum(tls) {
  return tls.endsWith(`+${POST_QUANTUM.toLowerCase()}`)
}

/**
 * Lists the groups of a key exchange, the preferred one first. X25519 is the last, for peers without the post-quantum group.
 * @param {string} tls as `--tls` has it
 * @returns {string[]}
 */
export function listKeyExchangeGroups(tls) {
  return isPostQuantum(tls) ? [POST_QUANTUM, TLS.group] : [TLS.group]
}

/** The program of a process that the Node of the kit runs; its first argument is a file of the kit. */
export const KIT_NODE = 'node-of-the-kit'

/** The program of a process that Python 3 runs; its first argument is a file of the kit. */
export const KIT_PYTHON = 'python-of-the-kit'

/** The name, and so the identity, of a load that speaks mTLS itself. */
export const GENERATOR = 'load-generator'

/** The name of the place of a proxy that serves all pods of its node. */
export const NODE_PROXY = 'node-proxy'
/** The name of the place of the agent that hands it the pods. */
export const NODE_AGENT = 'node-agent'

/** The name of the place from which services are tried. */
export const PROBER = 'prober'

/**
 * Renders the SPIFFE ID of a service, the URI name of its certificate.
 * @param {string} service
 * @returns {string}
 */
export function renderSpiffeId(service) {
  return `spiffe://sidecar-bench/ns/bench/sa/${service}`
}

/**
 * Parses a SPIFFE ID of the form of Kubernetes. The service account is the name of the service.
 * @param {string} identity
 * @returns {{ trustDomain: string, namespace: string, serviceAccount: string }}
 * @throws {TypeError} for another form
 */
export function parseSpiffeId(identity) {
  const [, trustDomain, namespace, serviceAccount] = /** @type {RegExpExecArray} */ (
    /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(identity)
  )
  return { trustDomain, namespace, serviceAccount }
}

/**
 * Renders an address and port for command lines and configurations.
 * @param {Endpoint} endpoint
 * @returns {string} such as `127.0.0.1:8080`
 */
export function renderEndpoint({ address, port }) {
  return `${address}:${port}`
}

/**
 * Creates a place with one address for everything, as services on one machine have.
 * @param {string} address
 * @returns {Place}
 */
export function createPlace(address) {
  return { reach: address, listen: address, inside: address }
}
