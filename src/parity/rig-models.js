import { PORTS, PROBER, renderSpiffeId } from '../model/sidecar-contract.js'
import { createModel } from '../services/sidecar-model.js'
import { BYTE_HOSTS, BYTE_UPSTREAMS, computeBytePort, createHostRoute, ROUTES } from './beside/corpus.js'
import { SERVERS } from './beside/peers.js'
import { UPSTREAMS } from './beside/upstreams.js'

/** The models of a rig's sidecars: the routes and upstreams of the corpus instead of those of applications. */
/** @import { Cluster, Endpoint, Place, Route, SidecarModel, Topology } from '../model/types.ts' */
/** @import { Measured } from './rig.js' */

// The permissive sidecar is another server: it has the server's certificate, and accepts the same identities.
/** @type {Topology} */
const TOPOLOGY = {
  name: 'parity',
  services: [
    { name: 'client', application: null, calls: ['server'] },
    { name: 'server', application: 'echo', calls: [] },
    { name: 'permissive', application: 'echo', calls: [], copyOf: 'server' },
  ],
  entry: { service: 'permissive', listener: 'inbound' },
}
export const SERVICE_NAMES = TOPOLOGY.services.map(({ name }) => name)

/** The most requests at a time to the cluster `narrow`, if sidecars break circuits. */
export const NARROW_REQUESTS = 2

/** The ejection of clusters whose endpoints fail. */
export const EJECTION = { consecutiveFailures: 3, baseSeconds: 2, maxShare: 0.5 }
// The ejection of clusters with an endpoint that refuses connections and must keep its turns.
const NEVER = { ...EJECTION, consecutiveFailures: 1000 }

/** The most retries at a time to the cluster `crowded`, if sidecars have a retry budget. */
export const RETRIES = 2
const CROWDED = { share: 0.2, minConcurrent: RETRIES }

/** The only caller that a route lists, by the route's host; no service is named `stranger`. */
const CALLERS = { allowed: 'client', guest: 'server', denied: 'stranger' }

/** @type {Route[]} */
const AUTHORISED = Object.entries(CALLERS).map(([host, name]) =>
  createHostRoute(host, { allowedIdentities: [renderSpiffeId(name)] }, [host === 'denied' ? 'half' : 'a', 1]),
)

const HOSTS = new Set([...AUTHORISED, ...ROUTES].flatMap(({ host }) => host ?? []))

/** @typedef {(name: string) => Endpoint} LocateUpstream returns the endpoint of an upstream, by its name */

/**
 * Creates the models of a rig in the measured configuration.
 * @param {object} options
 * @param {Record<string, Place>} options.places by service, with that of PROBER, where upstreams listen
 * @param {string} options.certificates the folder of the key type's certificates, as sidecars see it
 * @param {Measured} options.measured
 * @param {SidecarModel['timeouts']} options.timeouts
 * @param {boolean} options.isRedirected connections to applications are redirected to their sidecars
 * @param {number} options.port at which the servers are called
 * @returns {SidecarModel[]} client, server, permissive
 * @throws {BenchError} for a feature that this kit does not know
 */
export function createRigModels({ places, certificates, measured, timeouts, isRedirected, port }) {
  const [client, ...servers] = TOPOLOGY.services.map(service => ({
    ...createModel(TOPOLOGY, { service, places, workers: 1, certificates, isRedirected, ...measured }),
    timeouts,
  }))
  /** @type {LocateUpstream} */
  const locateUpstream = name => ({ address: places[PROBER].reach, port: UPSTREAMS[name] })
  const server = { ...client.clusters[0], endpoints: [{ address: places.server.reach, port }] }
  const isOpen = measured.trafficPolicy === 'open'
  const observers = [
    ...['observed', 'p256'].map(name => ({ ...server, name, endpoints: [locateUpstream(name)] })),
    ...(server.mtls === null ? [] : createPeerClusters(server, { isOpen, locateUpstream })),
  ]
  const address = places.client.listen
  return measured.protocol === 'tcp'
    ? [
        createByteClientModel(client, { address, server, observers, locateUpstream }),
        ...servers.map(model => createByteServerModel(model, locateUpstream)),
      ]
    : [
        createRequestClientModel(client, { address, server, observers }),
        ...servers.map(model => createRequestServerModel(model, locateUpstream)),
      ]
}

/**
 * Creates the clusters of the peers that can be upstreams.
 * @param {Cluster} server a cluster with the protocol of the peers
 * @param {{ isOpen: boolean, locateUpstream: LocateUpstream }} options isOpen: the traffic policy accepts any identity
 * @returns {Cluster[]} one for each of SERVERS
 */
function createPeerClusters(server, { isOpen, locateUpstream }) {
  return SERVERS.map(([name]) => ({
    ...server,
    name,
    endpoints: [locateUpstream(name)],
    // This is the DNS name of their certificates, which a plane may compare with that of the cluster.
    mtls: { serverName: 'client', acceptedIdentities: isOpen ? null : [renderSpiffeId('client')] },
  }))
}

/**
 * @typedef {object} ClientOptions
 * @property {string} address at which the client's sidecar listens
 * @property {Cluster} server the cluster of the server's sidecar
 * @property {Cluster[]} observers the upstreams that note what a sidecar negotiates with them, peers among them
 */

/**
 * Creates the client's model with a route to each observer and, for all other hosts, to the server.
 * @param {SidecarModel} client
 * @param {ClientOptions} options
 * @returns {SidecarModel}
 */
function createRequestClientModel(client, { address, server, observers }) {
  const routes = [
    ...observers.map(({ name }) => createHostRoute(name, {}, [name, 1])),
    // Hosts have routes by name, too: the scripts of FSM have no route for any host.
    ...[...HOSTS].map(host => createHostRoute(host, {}, ['server', 1])),
    createHostRoute(null, {}, ['server', 1]),
  ]
  return { ...client, outbound: { address, port: PORTS.outbound, routes }, clusters: [server, ...observers] }
}

/**
 * Creates the client's model with a port for each host of bytes, and for each upstream that its sidecar calls itself: the observers
 * and one that refuses connections.
 * @param {SidecarModel} client
 * @param {ClientOptions & { locateUpstream: LocateUpstream }} options
 * @returns {SidecarModel}
 */
function createByteClientModel(client, { address, server, observers, locateUpstream }) {
  const serverClusters = BYTE_HOSTS.map(host => ({
    ...server,
    name: `server-${host}`,
    endpoints: server.endpoints.map(endpoint => ({ ...endpoint, port: computeBytePort(endpoint.port, host) })),
  }))
  const directClusters = [
    // Only the client's sidecar has this cluster.
    { ...server, name: 'refused', endpoints: [locateUpstream('gone')] },
    ...observers,
  ]
  const routes = [
    ...BYTE_HOSTS.map(host => createByteRoute(PORTS.outbound, { host, cluster: `server-${host}` })),
    ...directClusters.map(({ name }) => createByteRoute(PORTS.outbound, { host: name })),
  ]
  const outbound = { address, port: PORTS.outbound, routes }
  return { ...client, outbound, clusters: [...serverClusters, ...directClusters] }
}

/**
 * Creates a TCP route. TCP has no Host header, so that each host has a port of its own.
 * @param {number} first the first port of the listener
 * @param {{ host: string, cluster?: string }} to cluster: the host's name by default
 * @returns {Route}
 */
function createByteRoute(first, { host, cluster = host }) {
  return { ...createHostRoute(null, {}, [cluster, 1]), port: computeBytePort(first, host) }
}

/**
 * Creates a server's model with the routes and clusters of the corpus of bytes instead of its own.
 * @param {SidecarModel} model its first cluster is that of its application
 * @param {LocateUpstream} locateUpstream
 * @returns {SidecarModel}
 */
function createByteServerModel({ inbound, clusters: [application], ...model }, locateUpstream) {
  const listEndpoints = (/** @type {string} */ host) => (BYTE_UPSTREAMS[host] ?? [host]).map(locateUpstream)
  return {
    ...model,
    inbound: inbound && { ...inbound, routes: BYTE_HOSTS.map(host => createByteRoute(inbound.port, { host })) },
    clusters: BYTE_HOSTS.map(name => ({ ...application, name, endpoints: listEndpoints(name) })),
  }
}

/**
 * Creates a server's model with the routes and clusters of the corpus of requests instead of its own.
 * @param {SidecarModel} model its first cluster is that of its application
 * @param {LocateUpstream} locateUpstream
 * @returns {SidecarModel}
 */
function createRequestServerModel({ inbound, clusters: [application], ...model }, locateUpstream) {
  const identities = inbound?.acceptedIdentities ?? null
  // The handshake must accept both callers, so that routes can distinguish them.
  const acceptedIdentities =
    identities && model.features.authorization ? [...identities, renderSpiffeId(CALLERS.guest)] : identities
  const createCluster = (/** @type {string} */ name, upstreams = [name]) => ({
    ...application,
    name,
    endpoints: upstreams.map(locateUpstream),
  })
  return {
    ...model,
    inbound: inbound && { ...inbound, acceptedIdentities, routes: [...AUTHORISED, ...ROUTES] },
    clusters: [
      ...['a', 'b', 'gone', 'slow', 'rude', 'quiet', 'full'].map(name => createCluster(name)),
      { ...createCluster('half', ['gone', 'a']), ejection: NEVER },
      { ...createCluster('narrow', ['slow']), maxRequests: NARROW_REQUESTS },
      { ...createCluster('flaky', ['a', 'b']), ejection: EJECTION },
      { ...createCluster('fragile', ['rude', 'b']), ejection: EJECTION },
      { ...createCluster('alone', ['b']), ejection: EJECTION },
      { ...createCluster('crowded', ['gone', 'slow']), retryBudget: CROWDED, ejection: NEVER },
    ],
  }
}
