import { groupRoutesByHost, listCalledClusters } from '../../../model/routes.js'
import { PORTS, parseSpiffeId } from '../../../model/sidecar-contract.js'
import { isUsingTls } from '../config.js'

/**
 * The sidecar model as FSM's control plane hands it to its Pipy: `PipyConf` of flomesh-io/fsm v1.5.1
 * (pkg/sidecar/v1/providers/pipy/repo/types.go), with the defaults of its Helm chart.
 * @import { Cluster, Endpoint, Route, SidecarModel } from '../../../model/types.ts'
 */

// The chart's pluginChains, by falling priority.
const CHAINS = {
  'inbound-tcp': listModules('inbound', ['tls-termination', 'tcp-routing', 'tcp-load-balancing', 'tcp-default']),
  'inbound-http': listModules('inbound', [
    ...['tls-termination', 'http-routing', 'metrics-http', 'tracing-http', 'logging-http'],
    ...['throttle-service', 'throttle-route', 'http-load-balancing', 'http-default'],
  ]),
  'outbound-tcp': listModules('outbound', ['tcp-routing', 'tcp-load-balancing', 'tcp-default']),
  'outbound-http': listModules('outbound', [
    ...['http-routing', 'metrics-http', 'tracing-http', 'logging-http', 'circuit-breaker'],
    ...['http-load-balancing', 'http-default'],
  ]),
}
const ANYWHERE = '0.0.0.0/0'
const ANY_HOST = '*'
// The weight of every endpoint.
const WEIGHT = 100

/** @typedef {{ isOsmEdge: boolean }} Dialect isOsmEdge: the scripts are those of osm-edge, which read some members in another form */

/**
 * Renders a PipyConf, to be written as JSON.
 * @param {SidecarModel} model
 * @param {Dialect} dialect
 * @returns Certificate: null: the sidecar speaks no TLS; Inbound, Outbound: null: it lacks that direction
 * @throws {TypeError} if an identity of the model is no SPIFFE ID in the form of Kubernetes
 */
export function renderFsmConfig(model, dialect) {
  const { identity, timeouts, inbound, outbound } = model
  return {
    Spec: {
      ...(dialect.isOsmEdge ? {} : { ServiceIdentity: renderIdentity(identity) }),
      SidecarLogLevel: 'error',
      // One timeout in seconds for connecting, reading, writing and idling: with the kit's request timeout it is the 60 of the chart.
      SidecarTimeout: 4 * timeouts.requestSeconds,
      Traffic: { EnableEgress: true, HTTP1PerRequestLoadBalancing: false, HTTP2PerRequestLoadBalancing: true },
      FeatureFlags: { EnableSidecarActiveHealthChecks: false, EnableAutoDefaultRoute: false },
      Probes: {},
      Observability: {},
    },
    Certificate: isUsingTls(model) ? renderCertificate(model) : null,
    Inbound: inbound && renderInbound(model, inbound, dialect),
    Outbound: outbound && renderOutbound(model, outbound, dialect),
    // FSM lists the address of each pod; the model does not know who calls.
    AllowedEndpoints: { [ANYWHERE]: '' },
    Chains: CHAINS,
  }
}

/**
 * Lists the paths of the scripts of a chain, in the codebase of FSM.
 * @param {string} direction inbound or outbound
 * @param {string[]} names of the scripts, without the direction
 */
function listModules(direction, names) {
  return names.map(name => `modules/${direction}-${name}.js`)
}

/**
 * Renders the paths of the PEM files, where FSM has their text: results must not contain keys. CONFIG_SCRIPT (index.js) reads them.
 * @param {SidecarModel} model
 * @throws {TypeError} if the identity is no SPIFFE ID in the form of Kubernetes
 */
function renderCertificate({ identity, trust: { caPath, certificatePath, keyPath } }) {
  return {
    CommonName: `${renderIdentity(identity)}.cluster.local`,
    CertChain: certificatePath,
    PrivateKey: keyPath,
    IssuingCA: caPath,
  }
}

/**
 * Renders the matches and clusters of connections that come in, the same at each port. A permissive listener takes clients of every address
 * and identity, and has all of its routes for any host; another has routes for any host at the names of the service.
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['inbound']>} inbound acceptedIdentities: null: no list is rendered
 * @param {Dialect} dialect
 * @throws {TypeError} if an identity is no SPIFFE ID in the form of Kubernetes
 */
function renderInbound(
  { identity, clusters },
  { port, redirectedPorts = [], mtls, acceptedIdentities, routes },
  dialect,
) {
  const isIngress = mtls === 'permissive'
  const allowed = acceptedIdentities && !isIngress ? { AllowedServices: acceptedIdentities.map(renderIdentity) } : {}
  const renderRule = (/** @type {Route} */ route) => ({ ...renderRoute(route), ...allowed })
  const service = parseSpiffeId(identity).serviceAccount
  // FSM identifies callers without mTLS by their address, and has one set of routes for all of them.
  const services = isIngress
    ? [{ name: ANY_HOST, hosts: [ANY_HOST], rules: routes.map(renderRule) }]
    : groupRoutesByHost(routes)
        .filter(group => group.routes.length > 0)
        .map(group => ({ ...createServiceHosts(group.host ?? service, identity), rules: group.routes.map(renderRule) }))
  const calledClusters = listCalledClusters(routes, clusters)
  const match = {
    Protocol: 'http',
    ...(isIngress ? { SourceIPRanges: { [ANYWHERE]: null } } : {}),
    ...renderServices(services, dialect),
  }
  return {
    TrafficMatches: mapByPort([...redirectedPorts, port], matchedPort => ({ Port: matchedPort, ...match })),
    ClustersConfigs: mapByName(calledClusters, ({ endpoints }) => createWeights(endpoints, WEIGHT)),
  }
}

/**
 * Renders the matches and clusters of connections that the application opens. The port of the listener matches every address, that of an
 * endpoint only the addresses of the endpoints with this port.
 * @param {SidecarModel} model
 * @param {NonNullable<SidecarModel['outbound']>} outbound whose routes for any host have an effect only at hosts that others name
 * @param {Dialect} dialect
 * @throws {TypeError} if the identity is no SPIFFE ID in the form of Kubernetes
 */
function renderOutbound({ identity, clusters }, { port, routes }, dialect) {
  const caller = dialect.isOsmEdge ? { ServiceIdentity: renderIdentity(identity) } : {}
  // FSM refuses a host that no route names: the group of any other host is left out.
  const services = groupRoutesByHost(routes).flatMap(group =>
    group.host === null
      ? []
      : [{ ...createServiceHosts(group.host, identity), rules: group.routes.map(renderRoute), caller }],
  )
  const calledClusters = listCalledClusters(routes, clusters)
  const endpoints = calledClusters.flatMap(cluster => cluster.endpoints)
  const listRanges = (/** @type {number} */ matchedPort) =>
    matchedPort === port
      ? [ANYWHERE]
      : endpoints.filter(endpoint => endpoint.port === matchedPort).map(({ address }) => `${address}/32`)
  return {
    TrafficMatches: mapByPort([...endpoints.map(endpoint => endpoint.port), port], matchedPort => [
      {
        Port: matchedPort,
        Protocol: 'http',
        DestinationIPRanges: Object.fromEntries(listRanges(matchedPort).map(range => [range, null])),
        ...renderServices(services, dialect),
      },
    ]),
    ClustersConfigs: mapByName(calledClusters, cluster => ({
      Endpoints: createWeights(cluster.endpoints, { Weight: WEIGHT }),
    })),
  }
}

/**
 * Renders the services of a port, by host and by name.
 * @param {{ name: string, hosts: string[], rules: object[], caller?: object }[]} services caller: what osm-edge has beside its rules
 * @param {Dialect} dialect
 */
function renderServices(services, { isOsmEdge }) {
  return {
    HttpHostPort2Service: Object.fromEntries(
      services.flatMap(({ name, hosts }) => hosts.map(host => [host, isOsmEdge ? name : { RuleName: name }])),
    ),
    HttpServiceRouteRules: mapByName(services, ({ rules, caller }) => ({ RouteRules: rules, ...caller })),
  }
}

/** Renders the rule of a route; values of headers become patterns that match all of them. @param {Route} route */
function renderRoute({ pathPrefix, headers, split }) {
  const patterns = Object.entries(headers).map(([name, value]) => [name, `^${value.replaceAll(/[^\w-]/g, '\\$&')}$`])
  return {
    ...(pathPrefix === '/' ? { Path: '.*', Type: 'Regex' } : { Path: pathPrefix, Type: 'Prefix' }),
    ...(patterns.length > 0 && { Headers: Object.fromEntries(patterns) }),
    TargetClusters: Object.fromEntries(split.map(({ cluster, weight }) => [cluster, weight])),
  }
}

/**
 * Creates the name of a service with its namespace, and the hosts by which pods of that namespace call it.
 * @param {string} name of the service
 * @param {string} identity of the sidecar, which names the namespace
 * @throws {TypeError} if it is no SPIFFE ID in the form of Kubernetes
 */
function createServiceHosts(name, identity) {
  const fullName = `${name}.${parseSpiffeId(identity).namespace}`
  return { name: fullName, hosts: [name, fullName].flatMap(host => [host, `${host}:${PORTS.application}`]) }
}

/**
 * Maps `address:port` of each endpoint to the weight of all.
 * @param {Endpoint[]} endpoints
 * @param {number | { Weight: number }} weight
 */
function createWeights(endpoints, weight) {
  return Object.fromEntries(endpoints.map(({ address, port }) => [`${address}:${port}`, weight]))
}

/**
 * Renders `<account>.<namespace>`, as FSM writes the identity of a SPIFFE URI.
 * @param {string} identity a SPIFFE ID
 * @throws {TypeError} if it is none in the form of Kubernetes
 */
function renderIdentity(identity) {
  const { namespace, serviceAccount } = parseSpiffeId(identity)
  return `${serviceAccount}.${namespace}`
}

/**
 * Creates an object with a member for each port; a port that is listed twice has one.
 * @template T
 * @param {number[]} ports
 * @param {(port: number) => T} render
 */
function mapByPort(ports, render) {
  return Object.fromEntries(ports.map(port => [port, render(port)]))
}

/**
 * Creates an object with a member for each item, by its name; of two with one name the last counts.
 * @template {{ name: string }} T
 * @template R
 * @param {T[]} items
 * @param {(item: T) => R} render
 */
function mapByName(items, render) {
  return Object.fromEntries(items.map(item => [item.name, render(item)]))
}
