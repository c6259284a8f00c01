import path from 'node:path'
import { readCredentials } from '../certificates/credentials.js'
import { locateAuthorityKey, locateCertificates } from '../lib/certificate-files.js'
import { readTextFiles } from '../lib/text-files.js'
import { withAbort } from '../lib/wait.js'
import {
  createPlace,
  listKeyExchangeGroups,
  NODE_AGENT,
  NODE_PROXY,
  PORTS,
  PROBER,
  renderSpiffeId,
  TLS,
} from '../model/sidecar-contract.js'
import { createModel } from '../services/topology.js'
import { BYTE_HOSTS, BYTE_UPSTREAMS, computeBytePort, createHostRoute, ROUTES } from './beside/corpus.js'
import { SERVERS } from './beside/peers.js'
import { UPSTREAMS } from './beside/upstreams.js'
import { adaptModels } from './tunnels.js'

/**
 * @import { Ask, Response } from '../node/send.js'
 * @import { Cluster, Conditions, DataPlane, Deployment, Endpoint, Place, Pod, ProcessSpec, Protocol } from '../model/types.ts'
 * @import { Route, SidecarModel, Target, Tls, Tool, Topology, TrafficPolicy } from '../model/types.ts'
 */

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
// The request timeout is 16 times what the upstreams take to start, a quarter of a second as a rule, which shows how slow a machine
// is. A busy one takes over a second for a body of 10 MiB. The longest is half of ANSWER_SECONDS, after which an answer is late.
const REQUEST_SECONDS = { least: 4, most: 60, timesStart: 16 }
// The connect timeout as a share of the request timeout, so that both tries of a connection end well within the latter.
const CONNECT_SHARE = 1 / 4

/** The most requests at a time to the cluster `narrow`, if sidecars break circuits. */
export const NARROW = 2

/** The ejection of clusters whose endpoints fail. */
export const EJECTION = { consecutiveFailures: 3, baseSeconds: 2, maxShare: 0.5 }

/** The most retries at a time to the cluster `crowded`, if sidecars have a retry budget. */
export const RETRIES = 2
const CROWDED = { share: 0.2, minConcurrent: RETRIES }
// The ejection of clusters with an endpoint that refuses connections and must keep its turns.
const NEVER = { ...EJECTION, consecutiveFailures: 1000 }

/** By a route's host, the service that the route lists as its only caller; no service calls as `stranger`. */
const CALLER_OF = { allowed: 'client', guest: 'server', denied: 'stranger' }

/** @type {Route[]} */
const AUTHORISED = Object.entries(CALLER_OF).map(([host, name]) =>
  createHostRoute(host, { allowedIdentities: [renderSpiffeId(name)] }, [host === 'denied' ? 'half' : 'a', 1]),
)

const HOSTS = new Set([...AUTHORISED, ...ROUTES].flatMap(({ host }) => host ?? []))

/**
 * The conditions that change what sidecars do for a request.
 * @typedef {{ tls: Tls, protocol: Protocol, trafficPolicy: TrafficPolicy, features?: string }} Measured
 */

/**
 * A plane's sidecars and the upstreams to try them with.
 * @typedef {object} Rig
 * @property {Deployment} sidecars of client, server and permissive
 * @property {Target['call']} call
 * @property {(ask: Ask, how?: { endpoint?: Endpoint, timeoutSeconds?: number }) => Promise<Response>} send to the client's sidecar
 *   unless an endpoint is given; rejects if nothing answers in time
 * @property {number} requestSeconds the sidecars' timeout of a request
 * @property {Endpoint} permissive of the sidecar that takes plaintext, too
 * @property {Measured} measured
 * @property {DataPlane} plane
 * @property {AbortSignal} signal ends the waits of its checks
 * @property {() => Promise<void>} close
 */

/**
 * Starts three sidecars of a plane and the upstreams to try them with. The client's sidecar (plaintext outbound) calls the
 * server's (strict) in the measured configuration, which calls upstreams that answer, refuse, reset or hang; the third is
 * permissive.
 * @param {object} options
 * @param {Target} options.target
 * @param {number} options.index of a start that no other has
 * @param {DataPlane} options.plane
 * @param {Tool} options.tool
 * @param {string} options.scripts the folder of the plane's scripts
 * @param {string} options.certificates the folder of those of all key types, as in certificate-files.js
 * @param {string} options.folder of the rig's files
 * @param {Measured} options.measured
 * @param {string | null} options.profile
 * @param {Conditions['interception']} [options.interception] absent: connections come directly
 * @param {AbortSignal} options.signal ends the start, and calls of procedures
 * @returns {Promise<Rig>}
 * @throws if a process does not start or cannot be reached; all is then removed
 */
export async function createRig({ target, index, plane, folder, measured, signal, ...options }) {
  const { tool, scripts, profile, interception } = options
  const { tunnelPort, routesAtCaller } = plane
  // Redirected bytes can go to one port only, and the corpus of bytes has a port for each host: they go to the listeners themselves.
  const isRedirected = interception === 'redirect' && measured.protocol !== 'tcp'
  const certificates = locateCertificates(options.certificates, measured.tls)
  const isOfNode = plane.deployed?.[`${profile}`]?.isOfNode === true
  const serviceNames = [...TOPOLOGY.services.map(s => s.name), ...(isOfNode ? [NODE_PROXY, NODE_AGENT] : [])]
  const places = await target.placesFor(index, serviceNames, { hasNamespaces: interception !== undefined })
  // Redirected connections are opened to the port of the application; only the client's sidecar is called at its own.
  const port = isRedirected ? PORTS.application : PORTS.inbound
  // Sidecars that forward to the port of the connection are called at that of the upstream `a`.
  const portAt = tunnelPort || routesAtCaller ? UPSTREAMS.a : port
  const sidecarsAt = {
    client: { address: places.client.reach, port: PORTS.outbound },
    server: { address: places.server.reach, port: portAt },
    permissive: { address: places.permissive.reach, port: portAt },
  }
  /** Calls a procedure until the signal aborts: a sidecar that hangs must not hold up an interrupted run. @type {Target['call']} */
  const call = (procedure, args) => withAbort(target.call(procedure, args, { rig: index }), signal)
  /** @type {Deployment | null} */
  let sidecars = null
  const close = async () => {
    await sidecars?.remove()
    await target.call('close', undefined, { rig: index })
  }
  try {
    const startedAt = performance.now()
    await call('open', {
      address: places[PROBER].listen,
      ...readCredentials(certificates),
      sidecars: sidecarsAt,
      configuration: {
        ...measured,
        ...TLS,
        groups: listKeyExchangeGroups(measured.tls),
        ...(tunnelPort && measured.tls !== 'plaintext' && { tunnelPort }),
      },
    })
    const timeouts = chooseTimeouts((performance.now() - startedAt) / 1000)
    const models = createModels({
      places,
      certificates: target.locate(certificates),
      measured,
      timeouts,
      isRedirected,
      port,
    })
    const specs = createSpecs(models, {
      plane,
      tool,
      profile,
      scripts,
      folder,
      locate: target.locate,
      authorityKeyPath: locateAuthorityKey(target.locate(certificates)),
    })
    sidecars = await target.deploy(specs, { start: index, folder })
    await Promise.all(sidecars.processes.map(p => p.waitUntilReady(signal)))
    await call('reach', { endpoints: Object.values(sidecarsAt) })
    const { client, permissive } = sidecarsAt
    /** @type {Rig['send']} */
    const send = (ask, { endpoint = client, ...how } = {}) => call('send', { endpoint, ask, ...how })
    const { requestSeconds } = timeouts
    return { sidecars, call, send, requestSeconds, permissive, measured, plane, signal, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Creates the processes of the rig's models: sidecars with their companions, or the one proxy of the node.
 * @param {SidecarModel[]} direct the models before the plane's own way to forward (tunnels.js)
 * @param {{ plane: DataPlane, tool: Tool, profile: string | null, scripts: string, folder: string, locate: Target['locate'],
 *   authorityKeyPath?: string }} options
 * @returns {ProcessSpec[]}
 */
function createSpecs(direct, { plane, tool, profile, scripts, folder, locate, authorityKeyPath }) {
  const { createSidecar, createCompanions } = plane
  const scriptFiles = plane.deployed?.[`${profile}`]?.scripts && readTextFiles(scripts)
  const { models, translations } = adaptModels(direct, plane)
  const createSidecarOptions = (/** @type {SidecarModel} */ model) => {
    const paths = { scripts: locate(scripts), folder: locate(path.join(folder, model.service)) }
    return { ...paths, model, tool, profile, cpuLimitCores: null, scriptFiles, authorityKeyPath }
  }
  if (plane.deployed?.[`${profile}`]?.isOfNode) {
    const translate = (/** @type {Pod} */ pod) => ({
      ...pod,
      ...(translations && { redirects: { ...pod.redirects, translations: translations[pod.service] } }),
    })
    const specs = plane.createNodeProxy?.(models.map(createSidecarOptions), locate(path.join(folder, NODE_PROXY))) ?? []
    return specs.map(spec => ({ ...spec, ...(spec.pods && { pods: spec.pods.map(translate) }) }))
  }
  return models.flatMap(model => {
    const options = createSidecarOptions(model)
    const spec = /** @type {ProcessSpec} */ (createSidecar?.(options))
    const redirects = spec.redirects && translations && { ...spec.redirects, translations: translations[model.service] }
    return [...(createCompanions?.(options) ?? []), { ...spec, ...(redirects && { redirects }) }]
  })
}

/**
 * Creates the processes of a rig at addresses and in folders that are the same each time, so that their hash changes only if
 * the configuration does.
 * @param {Pick<Parameters<typeof createRig>[0], 'plane' | 'tool' | 'scripts' | 'measured' | 'profile' | 'interception'>}
 *   options
 * @returns {ProcessSpec[]}
 */
export function renderRig({ plane, tool, scripts, measured, profile, interception }) {
  const isRedirected = interception === 'redirect' && measured.protocol !== 'tcp'
  const names = [...TOPOLOGY.services.map(({ name }) => name), PROBER]
  const places = Object.fromEntries(names.map((name, i) => [name, createPlace(`127.0.0.${i + 1}`)]))
  const port = isRedirected ? PORTS.application : PORTS.inbound
  const timeouts = chooseTimeouts(0)
  const models = createModels({ places, certificates: '/certificates', measured, timeouts, isRedirected, port })
  return createSpecs(models, { plane, tool, profile, scripts, folder: '/rig', locate: where => where })
}

/**
 * Chooses the timeouts of a rig's sidecars: that of a request is 16 times the start of the upstreams, within REQUEST_SECONDS;
 * that of a connection is CONNECT_SHARE of it; an idle connection outlasts a request by a minute.
 * @param {number} startSeconds how long the upstreams took to start
 * @returns {SidecarModel['timeouts']} in seconds
 */
export function chooseTimeouts(startSeconds) {
  const { least, most, timesStart } = REQUEST_SECONDS
  const requestSeconds = Math.min(most, Math.max(least, Math.floor(timesStart * startSeconds)))
  return { connectSeconds: requestSeconds * CONNECT_SHARE, requestSeconds, idleSeconds: 60 + requestSeconds }
}

/**
 * Creates the models of the measured configuration (client, server, permissive), with the routes and upstreams of the corpus
 * instead of those of applications.
 * @param {{ places: Record<string, Place>, certificates: string, measured: Measured, timeouts: SidecarModel['timeouts'],
 *   isRedirected: boolean, port: number }} options port: of the servers
 * @returns {SidecarModel[]} client, server, permissive
 */
function createModels({ places, certificates, measured, timeouts, isRedirected, port }) {
  const [client, ...servers] = TOPOLOGY.services.map(service => ({
    ...createModel(TOPOLOGY, { service, places, workers: 1, certificates, isRedirected, ...measured }),
    timeouts,
  }))
  const locateUpstream = (/** @type {string} */ name) => ({ address: places[PROBER].reach, port: UPSTREAMS[name] })
  const server = { ...client.clusters[0], endpoints: [{ address: places.server.reach, port }] }
  const observers = ['observed', 'p256'].map(name => ({ ...server, name, endpoints: [locateUpstream(name)] }))
  const { mtls } = server
  const acceptedIdentities = measured.trafficPolicy === 'open' ? null : [renderSpiffeId('client')]
  const peers =
    mtls === null
      ? []
      : SERVERS.map(([name]) => ({
          ...server,
          name,
          endpoints: [locateUpstream(name)],
          // This is the DNS name of their certificates, which a plane may compare with that of the cluster.
          mtls: { serverName: 'client', acceptedIdentities },
        }))
  if (measured.protocol === 'tcp') {
    const serverClusters = BYTE_HOSTS.map(host => ({
      ...server,
      name: `server-${host}`,
      endpoints: [{ address: places.server.reach, port: computeBytePort(port, host) }],
    }))
    // Only the client's sidecar has this cluster.
    const refusedClusters = [{ ...server, name: 'refused', endpoints: [locateUpstream('gone')] }]
    const routes = [
      ...BYTE_HOSTS.map((host, i) => createByteRoute(PORTS.outbound, { host, cluster: serverClusters[i].name })),
      ...[...refusedClusters, ...observers, ...peers].map(({ name: host }) =>
        createByteRoute(PORTS.outbound, { host }),
      ),
    ]
    const outbound = { address: places.client.listen, port: PORTS.outbound, routes }
    return [
      { ...client, outbound, clusters: [...serverClusters, ...refusedClusters, ...observers, ...peers] },
      ...servers.map(model => addByteCorpus(model, locateUpstream)),
    ]
  }
  const outbound = {
    address: places.client.listen,
    port: PORTS.outbound,
    routes: [
      ...[...observers, ...peers].map(({ name }) => createHostRoute(name, {}, [name, 1])),
      // Hosts have routes by name, too: the scripts of FSM have no route for any host.
      ...[...HOSTS].map(host => createHostRoute(host, {}, ['server', 1])),
      createHostRoute(null, {}, ['server', 1]),
    ],
  }
  const clusters = [server, ...observers, ...peers]
  return [{ ...client, outbound, clusters }, ...servers.map(model => addRequestCorpus(model, locateUpstream))]
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
 * @param {(name: string) => Endpoint} upstream returns the endpoint of an upstream
 * @returns {SidecarModel}
 */
function addByteCorpus({ inbound, clusters: [application], ...model }, upstream) {
  const listUpstreamEndpoints = (/** @type {string} */ host) => (BYTE_UPSTREAMS[host] ?? [host]).map(upstream)
  return {
    ...model,
    inbound: inbound && { ...inbound, routes: BYTE_HOSTS.map(host => createByteRoute(inbound.port, { host })) },
    clusters: BYTE_HOSTS.map(name => ({ ...application, name, endpoints: listUpstreamEndpoints(name) })),
  }
}

/**
 * Creates a server's model with the routes and clusters of the corpus of requests instead of its own.
 * @param {SidecarModel} model its first cluster is that of its application
 * @param {(name: string) => Cluster['endpoints'][number]} upstream returns the endpoint of an upstream
 * @returns {SidecarModel}
 */
function addRequestCorpus({ inbound, clusters: [application], ...model }, upstream) {
  // The handshake must accept both callers, so that routes can distinguish them.
  const acceptedIdentities =
    model.features.authorization && inbound?.acceptedIdentities
      ? [...inbound.acceptedIdentities, renderSpiffeId(CALLER_OF.guest)]
      : (inbound?.acceptedIdentities ?? null)
  const createPlainCluster = (/** @type {string} */ name, hosts = [name]) => ({
    ...application,
    name,
    endpoints: hosts.map(upstream),
  })
  return {
    ...model,
    inbound: inbound && { ...inbound, acceptedIdentities, routes: [...AUTHORISED, ...ROUTES] },
    clusters: [
      ...['a', 'b', 'gone', 'slow', 'rude', 'quiet', 'full'].map(name => createPlainCluster(name)),
      { ...createPlainCluster('half', ['gone', 'a']), ejection: NEVER },
      { ...createPlainCluster('narrow', ['slow']), maxRequests: NARROW },
      { ...createPlainCluster('flaky', ['a', 'b']), ejection: EJECTION },
      { ...createPlainCluster('fragile', ['rude', 'b']), ejection: EJECTION },
      { ...createPlainCluster('alone', ['b']), ejection: EJECTION },
      { ...createPlainCluster('crowded', ['gone', 'slow']), retryBudget: CROWDED, ejection: NEVER },
    ],
  }
}
