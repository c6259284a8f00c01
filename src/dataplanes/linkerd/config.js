import { listByteListeners } from '../../model/byte-listeners.js'
import { listCalledClusters } from '../../model/routes.js'
import { PORTS, renderSpiffeId } from '../../model/sidecar-contract.js'

/**
 * The sidecar model as the messages of Linkerd's control plane to a proxy: policies of outbound connections, the endpoints of the
 * services that it calls, and policies of inbound connections. The proxy of the caller routes; that of a server forwards to the original
 * destination port, and accepts requests that match its own routes.
 * @import { Cluster, Endpoint, Route, SidecarModel } from '../../model/types.ts'
 */

// No workload has this identity: it stands for that of a cluster that accepts no identity.
const NOBODY = 'nobody'
// Numbers of Linkerd's own control plane: the timeout for detecting a protocol, the initial load of an endpoint, and the weight
// that counts as 1.
const DETECT = { seconds: 10 }
const PEAK_EWMA = { defaultRtt: { nanos: 30_000_000 }, decay: { seconds: 10 } }
const WEIGHT = 10_000
// The queue that Linkerd's policy controller gives each backend by default (linkerd2, policy-controller/grpc/src/outbound.rs).
const DEPLOYED_QUEUE = { capacity: 100, failfastTimeout: { seconds: 3 } }
// Lean: no request of a load is refused because a queue is full.
const QUEUE_CAPACITY = 10_000
const ANYWHERE = [{ net: { ip: { ipv4: 0 }, prefixLen: 0 } }]
const CLOSED = createMetadata('closed')

/**
 * Renders the tables from which the kit's control plane answers a proxy.
 * @param {SidecarModel} model
 * @param {{ isDeployed: boolean }} options isDeployed: with the defaults of Linkerd's own control plane: HTTP/1.1 in
 *   HTTP/2 between proxies, short queues, and no timeout of requests
 * @returns outbound, inbound: policies by original destination or port, the last of which closes any other connection;
 *   destinations: the endpoints of each called cluster, by its name in discovery
 */
export function renderTables(model, options) {
  const calledClusters = listCalledClusters(model.outbound?.routes ?? [], model.clusters)
  return {
    outbound: renderOutboundPolicies(model, options),
    destinations: Object.fromEntries(
      calledClusters.map(cluster => [
        renderDestination(cluster.name),
        { add: { addrs: cluster.endpoints.map(endpoint => renderWeightedAddress(endpoint, cluster, options)) } },
      ]),
    ),
    inbound: renderInboundPolicies(model),
  }
}

/**
 * Renders an endpoint of a cluster as a WeightedAddr, with the hint by which the proxy speaks HTTP/2 or a tunnel to it.
 * @param {Endpoint} endpoint
 * @param {Cluster} cluster
 * @param {{ isDeployed: boolean }} options
 */
function renderWeightedAddress({ address, port }, { mtls, protocol }, { isDeployed }) {
  const isHttp2 = protocol === 'http/2' || (isDeployed && protocol === 'http/1.1')
  const isTunnelled = mtls !== null && protocol === 'tcp'
  return {
    addr: { ip: { ipv4: encodeAddress(address) }, port },
    weight: WEIGHT,
    ...(mtls && { tlsIdentity: renderTlsIdentity(mtls) }),
    ...(isHttp2 && { protocolHint: { h2: {} } }),
    // A server's proxy takes bytes over mTLS only at its own port, behind a header with the destination port.
    ...(isTunnelled && { protocolHint: { opaque: {}, opaqueTransport: { inboundPort: PORTS.inbound } } }),
  }
}

/**
 * Renders the identity that an endpoint must have. Linkerd accepts one: the first of the accepted ones; if any is accepted, that of the
 * called service; and if none is accepted, one that no workload has.
 * @param {NonNullable<Cluster['mtls']>} mtls
 */
function renderTlsIdentity({ serverName, acceptedIdentities }) {
  const [uri = renderSpiffeId(NOBODY)] = acceptedIdentities ?? [renderSpiffeId(serverName)]
  return { uriLikeIdentity: { uri }, serverName: { name: serverName } }
}

/**
 * Renders policies of outbound connections by their original destination; the last closes any other connection, and is the only one of a
 * model without an outbound listener.
 * @param {SidecarModel} model
 * @param {{ isDeployed: boolean }} options
 */
function renderOutboundPolicies(model, options) {
  const { outbound } = model
  const closed = {
    policy: {
      metadata: CLOSED,
      protocol: {
        opaque: { routes: [{ metadata: CLOSED, rules: [{ filters: [{ forbidden: {} }], backends: { empty: {} } }] }] },
      },
    },
  }
  if (outbound === null) return [closed]
  if (model.carriesBytes) return [...renderByteEntries(model, options), closed]
  const routes = outbound.routes.map((route, i) => renderRoute(route, { ...options, name: `outbound-${i + 1}`, model }))
  const policy = {
    metadata: createMetadata('outbound'),
    protocol: {
      detect: { timeout: DETECT, opaque: closed.policy.protocol.opaque, http1: { routes }, http2: { routes } },
    },
  }
  return [...(outbound.redirectedPorts ?? [outbound.port]).map(port => ({ port, policy })), closed]
}

/**
 * Renders an entry of the outbound table for each port of each listener of bytes; with redirected ports it is for the address of the
 * cluster's first endpoint alone.
 * @param {SidecarModel} model whose clusters have endpoints
 * @param {{ isDeployed: boolean }} options
 */
function renderByteEntries(model, options) {
  const listeners = listByteListeners(model).filter(({ direction }) => direction === 'outbound')
  return listeners.flatMap(({ redirectedPorts, port: listenerPort, cluster }) =>
    (redirectedPorts ?? [listenerPort]).map(port => ({
      ...(redirectedPorts && { address: cluster.endpoints[0].address }),
      port,
      policy: renderBytePolicy(cluster, { ...options, model }),
    })),
  )
}

/**
 * Renders the policy of connections whose bytes all go to one cluster.
 * @param {Cluster} cluster
 * @param {{ model: SidecarModel, isDeployed: boolean }} options
 */
function renderBytePolicy({ name }, options) {
  const metadata = createMetadata(name)
  const backends = { firstAvailable: { backends: [{ backend: renderBackend(name, options) }] } }
  return { metadata, protocol: { opaque: { routes: [{ metadata, rules: [{ backends }] }] } } }
}

/**
 * Renders a route as an `outbound.HttpRoute`: its match, its backends by weight and, in the lean profile alone, the request timeout in
 * whole seconds, rounded up.
 * @param {Route} route
 * @param {{ name: string, model: SidecarModel, isDeployed: boolean }} options name: in its metadata; isDeployed: as in renderTables()
 */
function renderRoute(route, { name, ...options }) {
  const requestSeconds = Math.ceil(options.model.timeouts.requestSeconds)
  const backends = route.split.map(({ cluster, weight }) => ({
    backend: { backend: renderBackend(cluster, options) },
    weight,
  }))
  const distribution =
    backends.length > 1
      ? { randomAvailable: { backends } }
      : { firstAvailable: { backends: backends.map(({ backend }) => backend) } }
  return {
    metadata: createMetadata(name),
    ...renderHosts(route),
    rules: [
      {
        matches: [renderMatch(route)],
        backends: distribution,
        ...(!options.isDeployed && { timeouts: { request: { seconds: requestSeconds } } }),
      },
    ],
  }
}

/**
 * Renders a cluster as an `outbound.Backend`: a balancer by peak EWMA, and its queue. A lean queue fails fast after the connect
 * timeout, in whole seconds, rounded up.
 * @param {string} clusterName
 * @param {{ model: SidecarModel, isDeployed: boolean }} options isDeployed: with the queue of Linkerd's own control plane
 */
function renderBackend(clusterName, { model: { timeouts }, isDeployed }) {
  return {
    metadata: createMetadata(clusterName),
    balancer: { discovery: { dst: { path: renderDestination(clusterName) } }, peakEwma: PEAK_EWMA },
    queue: isDeployed
      ? DEPLOYED_QUEUE
      : { capacity: QUEUE_CAPACITY, failfastTimeout: { seconds: Math.ceil(timeouts.connectSeconds) } },
  }
}

/**
 * Renders policies of inbound connections by their original destination port; the last closes any other port, and is the only one of a
 * model without an inbound listener.
 * @param {SidecarModel} model
 */
function renderInboundPolicies(model) {
  const { inbound, carriesBytes } = model
  const closed = {
    server: { protocol: { opaque: {} }, authorizations: [], labels: { name: 'closed', kind: 'default' } },
  }
  if (inbound === null) return [closed]
  const hasRouteAuthorizations = !carriesBytes && inbound.routes.some(({ allowedIdentities }) => allowedIdentities)
  const httpRoutes = inbound.routes.map((route, i) => ({
    metadata: createMetadata(`inbound-${i + 1}`),
    ...renderHosts(route),
    authorizations: hasRouteAuthorizations
      ? renderAuthorizations(`inbound-${i + 1}`, {
          mtls: inbound.mtls,
          acceptedIdentities: route.allowedIdentities ?? inbound.acceptedIdentities,
        })
      : [],
    rules: [{ matches: [renderMatch(route)] }],
  }))
  const server = {
    protocol: carriesBytes ? { opaque: {} } : { detect: { timeout: DETECT, httpRoutes } },
    // Linkerd adds the authorizations of a server to those of each of its routes: where routes have their own, the server's list is empty.
    authorizations: hasRouteAuthorizations ? [] : renderAuthorizations('admitted', inbound),
    labels: { name: 'inbound', kind: 'default' },
  }
  // A proxy asks for the policy of its administration port, too.
  return [...[...listInboundPorts(model), PORTS.admin].map(port => ({ port, server })), closed]
}

/**
 * Lists the original destination ports of inbound connections, each once.
 * @param {SidecarModel} model
 * @returns {number[]} []: the sidecar takes no inbound connections
 */
export function listInboundPorts({ inbound, carriesBytes, clusters }) {
  if (inbound === null) return []
  if (!carriesBytes) return inbound.redirectedPorts ?? [inbound.port]
  const calledEndpoints = listCalledClusters(inbound.routes, clusters).flatMap(({ endpoints }) => endpoints)
  return [...new Set(calledEndpoints.map(({ port }) => port))]
}

/**
 * Renders the one authorization of callers: by identity or by TLS alone if mTLS is strict, else of every peer.
 * @param {string} name in its metadata
 * @param {Pick<NonNullable<SidecarModel['inbound']>, 'mtls' | 'acceptedIdentities'>} inbound acceptedIdentities: null: any peer with TLS
 */
function renderAuthorizations(name, { mtls, acceptedIdentities }) {
  // `unauthenticated` permits every peer. There is no match for any SPIFFE identity: without a list, TLS alone is required.
  const clients = acceptedIdentities
    ? { identities: { identities: acceptedIdentities.map(identity => ({ name: identity })) } }
    : { unauthenticated: {} }
  const authentication = mtls === 'strict' ? { meshTls: clients } : { unauthenticated: {} }
  return [{ networks: ANYWHERE, authentication, metadata: createMetadata(name) }]
}

/** Renders the match of a route's host; without hosts it matches any. @param {Route} route */
function renderHosts({ host }) {
  return host === null ? { hosts: [] } : { hosts: [{ exact: host }] }
}

/**
 * Renders the conditions of a route; protobuf's JSON has bytes, such as values of headers, in base64.
 * @param {Route} route
 */
function renderMatch({ pathPrefix, headers }) {
  const encodeBase64 = (/** @type {string} */ text) => Buffer.from(text).toString('base64')
  return {
    path: { prefix: pathPrefix },
    headers: Object.entries(headers).map(([name, value]) => ({ name, exact: encodeBase64(value) })),
  }
}

/**
 * Renders the name of a cluster in discovery, whose port may differ from that of its endpoints.
 * @param {string} cluster
 */
function renderDestination(cluster) {
  return `${cluster}:${PORTS.application}`
}

/**
 * Creates the metadata that every message of a policy must have: a default resource, with a name and without an owner.
 * @param {string} name
 */
function createMetadata(name) {
  return { default: name }
}

/** Encodes an IPv4 address as a number of 32 bits, its first byte the highest. @param {string} address */
function encodeAddress(address) {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}
