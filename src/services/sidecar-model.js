import { locateCertificateFiles } from '../model/certificate-files.js'
import { createFeatures, listFeatures } from '../model/features.js'
import { listKeyExchangeGroups, PORTS, renderSpiffeId, TLS } from '../model/sidecar-contract.js'
import { isEntryOf } from './topology.js'

/**
 * @import { Cluster, Endpoint, MtlsMode, Place, Protocol, Route } from '../model/types.ts'
 * @import { Service, SidecarModel, Tls, Topology, TrafficPolicy } from '../model/types.ts'
 */

// Configured services that no service calls have addresses of a block for benchmarks (RFC 2544), where nothing listens.
const NOWHERE = '198.18'
// The address to which REDIRECT sends connections that a namespace opens itself (iptables-extensions(8)).
const REDIRECTED_TO = '127.0.0.1'
// Ports between the outbound listeners of two callees where bytes are carried.
const PORTS_APART = 100
/** The timeouts of every sidecar that the kit configures. */
export const TIMEOUTS = { connectSeconds: 5, requestSeconds: 15, idleSeconds: 60 }

/**
 * @typedef {object} ModelOptions
 * @property {Service} service
 * @property {Record<string, Place>} places by the name of the service
 * @property {TrafficPolicy} trafficPolicy
 * @property {number} workers their number
 * @property {string} certificates the folder that lib/certificates.js writes
 * @property {Tls} [tls] ecdsa-p256 by default
 * @property {Protocol} [protocol] http/1.1 by default
 * @property {number} [configuredServices] the number of services that it knows and no service calls; 0 by default
 * @property {string | null} [client] the name under which the load itself speaks mTLS; null or absent: it does not
 * @property {string} [features] lean, all, or names joined by +; lean by default
 * @property {boolean} [isRedirected] connections to applications are redirected to their sidecars; false by default
 * @property {string[]} [paths] prefixes that have a route of their own beside `/`, the longest first; none by default
 * @property {boolean} [streamsAnswers] the applications write their answers in chunks; false by default
 */

/**
 * Creates the sidecar model of one service. A copy has the identity and the certificate of its original.
 * @param {Topology} topology
 * @param {ModelOptions} options
 * @returns {SidecarModel} inbound: null: the service has no application; outbound: null: it calls no service, and none is configured
 * @throws {BenchError} for a feature that the kit does not know
 */
export function createModel(topology, options) {
  const context = createModelContext(topology, options)
  const { service, place, originalName, tls, carriesBytes, carriesGrpc, streamsAnswers, hasOutbound } = context
  return {
    service: service.name,
    ...(carriesBytes && { carriesBytes }),
    ...(carriesGrpc && { carriesGrpc }),
    ...(streamsAnswers && { streamsAnswers }),
    identity: renderSpiffeId(originalName),
    workers: options.workers,
    admin: { address: place.inside, port: PORTS.admin },
    retries: 1,
    timeouts: TIMEOUTS,
    tls: { suite: TLS.suite, groups: listKeyExchangeGroups(tls) },
    trust: locateCertificateFiles(originalName, options.certificates),
    inbound: service.application ? createInbound(context) : null,
    outbound: hasOutbound ? createOutbound(context) : null,
    clusters: createClusters(context),
    features: createFeatures(options.features),
  }
}

/** @typedef {ReturnType<typeof createModelContext>} ModelContext */

/**
 * Creates the options with their defaults, and the facts that several parts of a model follow from.
 * @param {Topology} topology
 * @param {ModelOptions} options
 * @returns protocol: between sidecars; prefixes: of the routes to a service, the longest first; callees: as `listCallees`, [] also: it has
 *   no outbound listener
 */
function createModelContext(topology, options) {
  const { service, places, tls = 'ecdsa-p256', protocol = 'http/1.1', configuredServices = 0, client = null } = options
  const { isRedirected = false, paths = [], streamsAnswers = false, features } = options
  const hasOutbound = service.calls.length > 0 || configuredServices > 0
  return {
    topology,
    service,
    place: places[service.name],
    places,
    originalName: service.copyOf ?? service.name,
    tls,
    client,
    features,
    isOpen: options.trafficPolicy === 'open',
    isRedirected,
    streamsAnswers,
    carriesBytes: protocol === 'tcp',
    carriesGrpc: protocol === 'grpc',
    /** @type {Protocol} */
    protocol: protocol === 'grpc' ? 'http/2' : protocol,
    prefixes: [...paths.filter(path => path !== '/'), '/'],
    hasOutbound,
    callees: hasOutbound ? listCallees(topology, options) : [],
    configuredNames: Array.from({ length: configuredServices }, (_, i) => `configured-${i + 1}`),
  }
}

/**
 * Lists the services that a sidecar has routes to, besides configured ones: those that its service calls or, if it carries requests with an
 * open policy, all others that have an application and are no copies.
 * @param {Topology} topology
 * @param {ModelOptions} options
 * @returns []: its service calls nobody, or there is no such other service
 */
function listCallees({ services }, { service, trafficPolicy, protocol }) {
  // Bytes have no host, so only the port tells their destination: each callee has a listener.
  const isRoutedByHost = trafficPolicy === 'open' && protocol !== 'tcp'
  return isRoutedByHost
    ? services.filter(other => other.application !== null && other !== service && !other.copyOf)
    : services.filter(({ name }) => service.calls.includes(name))
}

/**
 * Creates the inbound listener, which leads to the service's own application. It accepts the callers in the topology and, where the load
 * enters, the identity of the load. With the feature authorization its routes list the callers, except where the load enters.
 * @param {ModelContext} context
 * @returns {NonNullable<SidecarModel['inbound']>} acceptedIdentities: null: any, as the policy is open; []: nobody calls it
 * @throws {BenchError} for a feature that the kit does not know
 */
function createInbound({ topology, service, place, originalName, tls, protocol, client, ...context }) {
  const callers = topology.services.filter(({ calls }) => calls.includes(originalName)).map(({ name }) => name)
  const isEntry = isEntryOf(topology, service) && topology.entry.listener === 'inbound'
  const accepted = isEntry && client ? [...callers, client] : callers
  // Requests from outside of the mesh come without an identity.
  const isAuthorised = listFeatures(context.features).includes('authorization') && !isEntry
  const prefixes = context.carriesBytes ? ['/'] : context.prefixes
  return {
    address: place.listen,
    port: PORTS.inbound,
    mtls: chooseMtlsMode(topology, { service, tls }),
    protocol,
    acceptedIdentities: context.isOpen ? null : accepted.map(renderSpiffeId),
    routes: prefixes.map(prefix => ({
      ...createRoute(null, 'application', prefix),
      ...(isAuthorised && { allowedIdentities: callers.map(renderSpiffeId) }),
    })),
    ...(context.isRedirected && { redirectedPorts: [PORTS.application] }),
  }
}

/**
 * Creates the outbound listener, which leads to the callees and the configured services, and listens where its only client reaches it: the
 * load, or the service's own application.
 * @param {ModelContext} context
 * @returns {NonNullable<SidecarModel['outbound']>}
 */
function createOutbound({ topology: { entry }, place, originalName, isRedirected, ...context }) {
  // The load stands for the application if it enters by the outbound listener; else only the service's own application calls.
  const isCalledByLoad = entry.service === originalName && entry.listener === 'outbound'
  const applicationReaches = isRedirected ? REDIRECTED_TO : place.inside
  return {
    address: isCalledByLoad ? place.listen : applicationReaches,
    port: PORTS.outbound,
    routes: createOutboundRoutes(context),
    ...(isRedirected && !isCalledByLoad && { redirectedPorts: [PORTS.application] }),
  }
}

/**
 * Creates a route for each prefix of each callee, and one for each configured service; for bytes one with a port for each callee.
 * @param {Pick<ModelContext, 'callees' | 'configuredNames' | 'prefixes' | 'carriesBytes'>} context
 * @returns {Route[]} []: it carries bytes, and has no callees
 */
function createOutboundRoutes({ callees, configuredNames, prefixes, carriesBytes }) {
  if (carriesBytes)
    return callees.map(({ name }, i) => ({ ...createRoute(null, name), port: PORTS.outbound + i * PORTS_APART }))
  return [
    ...callees.flatMap(({ name }) => prefixes.map(prefix => createRoute(name, name, prefix))),
    ...configuredNames.map(name => createRoute(name, name)),
  ]
}

/**
 * Creates a cluster for the application, for each callee with all of its copies, and for each configured service.
 * @param {ModelContext} context
 * @returns {Cluster[]}
 */
function createClusters(context) {
  const { topology, service, places, place, callees, configuredNames, isRedirected } = context
  const application = { address: place.inside, port: PORTS.application }
  const port = isRedirected ? PORTS.application : PORTS.inbound
  const locateCopies = (/** @type {string} */ name) =>
    topology.services
      .filter(other => other.name === name || other.copyOf === name)
      .map(copy => ({ address: places[copy.name].reach, port }))
  return [
    ...(service.application ? [createApplicationCluster(application, context)] : []),
    ...callees.map(({ name }) => createMeshCluster(name, locateCopies(name), context)),
    ...configuredNames.map((name, i) => {
      const endpoint = { address: `${NOWHERE}.${i >> 8}.${i & 255}`, port: PORTS.inbound }
      return createMeshCluster(name, [endpoint], context)
    }),
  ]
}

/**
 * Creates the cluster of the service's own application, which speaks plaintext, and HTTP/1.1 unless it takes bytes or gRPC.
 * @param {Endpoint} endpoint of the application
 * @param {ModelContext} context
 * @returns {Cluster}
 */
function createApplicationCluster(endpoint, { protocol, carriesBytes, carriesGrpc }) {
  return {
    name: 'application',
    endpoints: [endpoint],
    balancing: 'round-robin',
    mtls: null,
    protocol: carriesBytes || carriesGrpc ? protocol : 'http/1.1',
  }
}

/**
 * Creates the cluster of a service whose sidecar is called, over mTLS unless the mesh speaks plaintext. It accepts the service's identity
 * alone, or any of the authority with an open policy.
 * @param {string} name of the service
 * @param {Endpoint[]} endpoints of the service and its copies
 * @param {ModelContext} context
 * @returns {Cluster}
 */
function createMeshCluster(name, endpoints, { tls, isOpen, protocol }) {
  const mtls = { serverName: name, acceptedIdentities: isOpen ? null : [renderSpiffeId(name)] }
  return { name, endpoints, balancing: 'round-robin', mtls: tls === 'plaintext' ? null : mtls, protocol }
}

/**
 * Chooses the mTLS mode of a service's inbound listener. The one at which the load enters also accepts plaintext, as the load may have no
 * certificate.
 * @param {Pick<Topology, 'entry'>} topology
 * @param {{ service: Service, tls: Tls }} options
 * @returns {MtlsMode}
 */
function chooseMtlsMode(topology, { service, tls }) {
  if (tls === 'plaintext') return 'disabled'
  return isEntryOf(topology, service) && topology.entry.listener === 'inbound' ? 'permissive' : 'strict'
}

/**
 * Lists the mTLS modes of the inbound listeners of a topology.
 * @param {Topology} topology
 * @param {Tls} tls
 * @returns {MtlsMode[]} each once; []: no service has an application
 */
export function listMtlsModes(topology, tls) {
  const listening = topology.services.filter(({ application }) => application !== null)
  return [...new Set(listening.map(service => chooseMtlsMode(topology, { service, tls })))]
}

/**
 * Creates a route that sends all its requests to one cluster.
 * @param {string | null} host null: any
 * @param {string} cluster its name
 * @param {string} [pathPrefix] absent: all paths
 * @returns {Route}
 */
function createRoute(host, cluster, pathPrefix = '/') {
  return { host, pathPrefix, headers: {}, split: [{ cluster, weight: 1 }] }
}
