import { z } from 'zod'
import { UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { parseYaml } from '../lib/yaml.js'
import { createFeatures, listFeatures } from '../model/features.js'
import { listKeyExchangeGroups, PORTS, renderSpiffeId, TLS } from '../model/sidecar-contract.js'

/**
 * @import { Arm, Cluster, Endpoint, MtlsMode, Place, Route, Protocol, Service, SidecarModel, Tls, Topology, TrafficPolicy } from '../model/types.ts'
 */

// Configured services that no service calls have addresses of a block for benchmarks (RFC 2544), where nothing listens.
const NOWHERE = '198.18'
// The address to which REDIRECT sends connections that a namespace opens itself (iptables-extensions(8)).
const REDIRECTED_TO = '127.0.0.1'
// Ports between the outbound listeners of two callees where bytes are carried.
const PORTS_APART = 100
/** The timeouts of every sidecar that the kit configures. */
export const TIMEOUTS = { connectSeconds: 5, requestSeconds: 15, idleSeconds: 60 }

const schema = z.strictObject({
  name: z.string(),
  services: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'a service is named in lower case, with digits and hyphens'),
        application: z.enum(['echo', 'forward']).nullable().default(null),
        calls: z.array(z.string()).default([]),
      }),
    )
    .min(1),
  entry: z.strictObject({ service: z.string(), listener: z.enum(['inbound', 'outbound']) }),
})

/**
 * Parses a topology.
 * @param {string} text YAML
 * @param {string} file its name, for error messages
 * @returns {Topology}
 * @throws {UsageError} if it does not fit the schema, a called service is missing, or a forward application does not call one service
 */
export function parseTopology(text, file) {
  const topology = parseYaml({ text, file, schema })
  const names = topology.services.map(service => service.name)
  const called = [topology.entry.service, ...topology.services.flatMap(service => service.calls)]
  for (const name of called) {
    if (!names.includes(name))
      throw new UsageError(`${file}: unknown service "${name}"${renderSuggestion(name, names)}`)
  }
  for (const { name, application, calls } of topology.services) {
    if (application === 'forward' && calls.length !== 1) {
      throw new UsageError(`${file}: ${name}: a forward application calls exactly one service`)
    }
  }
  return topology
}

/**
 * Copies the last application without callees. Its callers spread requests over the copies.
 * @param {Topology} topology that has such an application
 * @param {number} copies their number, including the original
 * @returns {Topology}
 */
export function copyLastService(topology, copies) {
  const last = /** @type {Service} */ (topology.services.findLast(s => s.application !== null && s.calls.length === 0))
  return { ...topology, services: [...topology.services, ...copyService(last, copies).slice(1)] }
}

/**
 * Lists a service and its copies, which are named `name-2`, `name-3` and so on.
 * @param {Service} service
 * @param {number} copies their number, including the original
 * @returns {Service[]} the original first
 */
export function copyService(service, copies) {
  const more = Array.from({ length: copies - 1 }, (_, i) => `${service.name}-${i + 2}`)
  return [service, ...more.map(name => ({ ...service, name, copyOf: service.name }))]
}

/**
 * Creates the topology of an arm: that of its link, with the pairs and copies of its conditions.
 * @param {Pick<Arm, 'link' | 'conditions'>} arm
 * @param {Record<string, Topology>} topologies by link
 * @returns {Topology}
 */
export function createArmTopology({ link, conditions }, topologies) {
  return copyLastService(copyLink(topologies[link], conditions.pairs ?? 1), conditions.services)
}

/**
 * Copies all services of a link. Each copy has an identity of its own, and its services call only each other.
 * @param {Topology} topology
 * @param {number} copies their number, including the original
 * @returns {Topology}
 */
export function copyLink(topology, copies) {
  const more = Array.from({ length: copies - 1 }, (_, i) => {
    const renderCopyName = (/** @type {string} */ name) => `${name}-of-${i + 2}`
    return topology.services.map(s => ({
      ...s,
      name: renderCopyName(s.name),
      calls: s.calls.map(renderCopyName),
      pairOf: s.name,
    }))
  })
  return { ...topology, services: [...topology.services, ...more.flat()] }
}

/**
 * Locates the endpoints to which the load goes: the entry sidecar and its copies, or, without sidecars, the copies of
 * the first application.
 * @param {Pick<Topology, 'services' | 'entry'>} topology
 * @param {{ places: Record<string, Place>, hasSidecars: boolean, isRedirected?: boolean }} options isRedirected:
 *   connections to applications are redirected to their sidecars
 * @returns {{ endpoints: Endpoint[], host: string }} host: the value of the Host header
 */
export function findEntry({ services, entry }, { places, hasSidecars, isRedirected = false }) {
  const name = findEntryService({ services, entry }, hasSidecars)
  const port = isRedirected && entry.listener === 'inbound' ? PORTS.application : findEntryPort({ entry }, hasSidecars)
  if (hasSidecars) {
    const first = services.find(s => s.name === name)
    const endpoints = services.filter(s => isEntryOf({ entry }, s)).map(s => ({ address: places[s.name].reach, port }))
    return { endpoints, host: (entry.listener === 'outbound' && first?.calls[0]) || name }
  }
  const copies = services.filter(s => [s.name, s.copyOf, s.pairOf].includes(name))
  return { endpoints: copies.map(s => ({ address: places[s.name].reach, port })), host: name }
}

/**
 * Chooses the service that the load calls: the entry, or its first callee if there are no sidecars and the entry has
 * no application.
 * @param {Pick<Topology, 'services' | 'entry'>} topology
 * @param {boolean} hasSidecars
 * @returns {string} the name of the service
 */
export function findEntryService({ services, entry }, hasSidecars) {
  const first = services.find(s => s.name === entry.service)
  return hasSidecars || first?.application ? entry.service : (first?.calls[0] ?? entry.service)
}

/**
 * Chooses the port that the load calls: that of the entry's listener, or, without sidecars, that of the application.
 * @param {Pick<Topology, 'entry'>} topology
 * @param {boolean} hasSidecars
 * @returns {number}
 */
export function findEntryPort({ entry }, hasSidecars) {
  return hasSidecars ? PORTS[entry.listener] : PORTS.application
}

/**
 * Locates the next hop of a forward application: its sidecar, or, without sidecars or with redirected connections,
 * the next application.
 * @param {Service} service
 * @param {{ places: Record<string, Place>, hasSidecars: boolean, isRedirected?: boolean }} options places: by the
 *   name of the service
 * @returns {Endpoint & { host: string }} host: the name of the called service
 */
export function findNextHop({ name, calls }, { places, hasSidecars, isRedirected = false }) {
  return hasSidecars && !isRedirected
    ? { address: places[name].inside, port: PORTS.outbound, host: calls[0] }
    : { address: places[calls[0]].reach, port: PORTS.application, host: calls[0] }
}

/**
 * Creates the sidecar model of one service.
 * @param {Topology} topology
 * @param {object} options
 * @param {Service} options.service
 * @param {Record<string, Place>} options.places by the name of the service
 * @param {TrafficPolicy} options.trafficPolicy
 * @param {number} options.workers their number
 * @param {string} options.certificates the folder that lib/certificates.js writes
 * @param {Tls} [options.tls] ecdsa-p256 by default
 * @param {Protocol} [options.protocol] http/1.1 by default
 * @param {number} [options.configuredServices] the number of services that it knows and no service calls; 0 by default
 * @param {string | null} [options.client] the name under which the load itself speaks mTLS; null: it does not
 * @param {string} [options.features] names, separated by commas
 * @param {boolean} [options.isRedirected] connections to applications are redirected to their sidecars
 * @param {string[]} [options.paths] prefixes that have a route of their own, the longest first
 * @param {boolean} [options.streamsAnswers] the applications write their answers in chunks
 * @returns {SidecarModel}
 */
export function createModel({ services, entry }, { service, places, trafficPolicy, workers, ...options }) {
  const { tls = 'ecdsa-p256', configuredServices = 0, client = null } = options
  const { features, isRedirected = false, paths = [], streamsAnswers = false } = options
  const prefixes = [...paths.filter(path => path !== '/'), '/']
  const place = places[service.name]
  const isOpen = trafficPolicy === 'open'
  const originalName = service.copyOf ?? service.name
  const callers = services.filter(s => s.calls.includes(originalName)).map(s => s.name)
  const carriesBytes = options.protocol === 'tcp'
  const carriesGrpc = options.protocol === 'grpc'
  const protocol = carriesGrpc ? 'http/2' : (options.protocol ?? 'http/1.1')
  // Bytes have no host, so only the port tells their destination: each callee has a listener.
  const isRoutedByHost = isOpen && !carriesBytes
  const reachable = isRoutedByHost
    ? services.filter(s => s.application !== null && s !== service && !s.copyOf)
    : services.filter(s => service.calls.includes(s.name))
  const hasOutbound = service.calls.length > 0 || configuredServices > 0
  const configured = Array.from({ length: configuredServices }, (_, i) => `configured-${i + 1}`)
  const isEntry = isEntryOf({ entry }, service) && entry.listener === 'inbound'
  // The load stands for the application if it enters by the outbound listener; else only the service's own application calls.
  const isCalledByLoad = entry.service === originalName && entry.listener === 'outbound'
  const redirected = isRedirected ? { redirectedPorts: [PORTS.application] } : {}
  const port = isRedirected ? PORTS.application : PORTS.inbound
  // Requests from outside of the mesh come without an identity.
  const isAuthorised = listFeatures(features).includes('authorization') && !isEntry
  const allowed = isAuthorised ? { allowedIdentities: callers.map(renderSpiffeId) } : {}
  /** @type {Cluster[]} */
  const clusters = []
  if (service.application) {
    const endpoints = [{ address: place.inside, port: PORTS.application }]
    const plaintext = {
      mtls: null,
      protocol: carriesBytes || carriesGrpc ? protocol : /** @type {const} */ ('http/1.1'),
    }
    clusters.push({ name: 'application', endpoints, balancing: 'round-robin', ...plaintext })
  }
  const createMtls = (/** @type {string} */ name) =>
    tls === 'plaintext' ? null : { serverName: name, acceptedIdentities: isOpen ? null : [renderSpiffeId(name)] }
  for (const { name } of hasOutbound ? reachable : []) {
    const copies = services.filter(s => s.name === name || s.copyOf === name)
    const endpoints = copies.map(s => ({ address: places[s.name].reach, port }))
    clusters.push({ name, endpoints, balancing: 'round-robin', mtls: createMtls(name), protocol })
  }
  for (const [i, name] of configured.entries()) {
    const endpoints = [{ address: `${NOWHERE}.${i >> 8}.${i & 255}`, port: PORTS.inbound }]
    clusters.push({ name, endpoints, balancing: 'round-robin', mtls: createMtls(name), protocol })
  }
  const outboundRoutes = carriesBytes
    ? reachable.map(({ name }, i) => ({ ...createRoute(null, name), port: PORTS.outbound + i * PORTS_APART }))
    : [
        ...reachable.flatMap(({ name }) => prefixes.map(prefix => createRoute(name, name, prefix))),
        ...configured.map(name => createRoute(name, name)),
      ]
  return {
    service: service.name,
    ...(carriesBytes && { carriesBytes }),
    ...(carriesGrpc && { carriesGrpc }),
    ...(streamsAnswers && { streamsAnswers }),
    identity: renderSpiffeId(originalName),
    workers,
    admin: { address: place.inside, port: PORTS.admin },
    retries: 1,
    timeouts: TIMEOUTS,
    tls: { suite: TLS.suite, groups: listKeyExchangeGroups(tls) },
    trust: locateCertificateFiles(options.certificates, originalName),
    inbound: service.application
      ? {
          address: place.listen,
          port: PORTS.inbound,
          mtls: chooseMtlsMode({ entry }, { service, tls }),
          protocol,
          acceptedIdentities: isOpen ? null : [...callers, ...(isEntry && client ? [client] : [])].map(renderSpiffeId),
          routes: (carriesBytes ? ['/'] : prefixes).map(prefix => ({
            ...createRoute(null, 'application', prefix),
            ...allowed,
          })),
          ...redirected,
        }
      : null,
    outbound: hasOutbound
      ? {
          address: isCalledByLoad ? place.listen : isRedirected ? REDIRECTED_TO : place.inside,
          port: PORTS.outbound,
          routes: outboundRoutes,
          ...(isCalledByLoad ? {} : redirected),
        }
      : null,
    clusters,
    features: createFeatures(features),
  }
}

/**
 * Chooses the mTLS mode of a service's inbound listener. An entry also accepts plaintext, as the load may have no
 * certificate.
 * @param {Pick<Topology, 'entry'>} topology
 * @param {{ service: Service, tls: Tls }} options
 * @returns {MtlsMode}
 */
function chooseMtlsMode({ entry }, { service, tls }) {
  if (tls === 'plaintext') return 'disabled'
  return isEntryOf({ entry }, service) && entry.listener === 'inbound' ? 'permissive' : 'strict'
}

/**
 * Says whether the load calls a service, in the first copy of the link or in another.
 * @param {Pick<Topology, 'entry'>} topology
 * @param {Service} service
 */
function isEntryOf({ entry }, { name, pairOf = name }) {
  return entry.service === pairOf
}

/**
 * Lists the mTLS modes of the inbound listeners of a topology.
 * @param {Topology} topology
 * @param {Tls} tls
 * @returns {MtlsMode[]} each once; []: no service has an application
 */
export function listModes(topology, tls) {
  const listening = topology.services.filter(({ application }) => application !== null)
  return [...new Set(listening.map(service => chooseMtlsMode(topology, { service, tls })))]
}

/**
 * Locates the certificate files of a service, and the certificate of its authority.
 * @param {string} certificates the folder that lib/certificates.js writes
 * @param {string} name of the service
 * @returns {SidecarModel['trust']} paths
 */
export function locateCertificateFiles(certificates, name) {
  return {
    caPath: `${certificates}/ca.pem`,
    certificatePath: `${certificates}/${name}.pem`,
    keyPath: `${certificates}/${name}-key.pem`,
    combinedPath: `${certificates}/${name}-combined.pem`,
  }
}

/**
 * Creates a route that sends all its requests to one cluster.
 * @param {string | null} host null: any
 * @param {string} cluster its name
 * @param {string} [pathPrefix]
 * @returns {Route}
 */
function createRoute(host, cluster, pathPrefix = '/') {
  return { host, pathPrefix, headers: {}, split: [{ cluster, weight: 1 }] }
}
