import { uniqueBy } from '../lib/group-by.js'
import { PORTS, renderEndpoint } from '../model/sidecar-contract.js'

/**
 * Adapts a rig's models to sidecars that forward only to the application at their own address. Sidecars that tunnel bytes call
 * all others at one port; sidecars that route at the caller have no routes at the server. The upstreams and peers of the corpus
 * have other addresses, so rules of the kernel translate them: a model has addresses at which nothing is, and a translation leads
 * the connections that a sidecar opens to them to the upstream instead.
 * @import { Cluster, DataPlane, Endpoint, ProcessSpec, Route, SidecarModel } from '../model/types.ts'
 * @typedef {NonNullable<NonNullable<ProcessSpec['redirects']>['translations']>} Translations
 * @typedef {Record<string, Translations>} TranslationsByService
 */

// Peers have addresses of a block for benchmarks (RFC 2544), at which nothing is: rules translate them.
const PEERS = '198.19.0'
const PEER_PORT = 80

/**
 * Adapts models to how a plane forwards: by tunnels of bytes, or by routes at the caller. The models of all other planes stay
 * unchanged.
 * @param {SidecarModel[]} models
 * @param {Pick<DataPlane, 'tunnelPort' | 'routesAtCaller'>} plane
 * @returns {{ models: SidecarModel[], translations?: TranslationsByService }} translations: absent if none are needed
 */
export function adaptModels(models, { tunnelPort, routesAtCaller }) {
  const carriesBytes = models.some(model => model.carriesBytes)
  if (tunnelPort !== undefined || (routesAtCaller && carriesBytes))
    return tunnelBytes(models, { tunnelPort: tunnelPort ?? PORTS.inbound })
  return routesAtCaller ? routeAtCaller(models) : { models }
}

/**
 * Copies the routes and clusters of servers to their callers. There each endpoint has the server's address and its own port,
 * which rules translate at the server; connections to these ports are redirected to its sidecar (`redirectedPorts`).
 * @param {SidecarModel[]} models of requests
 * @returns {{ models: SidecarModel[], translations: TranslationsByService }} translations: [] for a model that is no server
 */
function routeAtCaller(models) {
  const servers = models.filter(({ inbound }) => inbound)
  const listTranslations = (/** @type {SidecarModel} */ { inbound, clusters }) =>
    inbound ? listEndpoints(clusters).map(to => ({ from: { address: inbound.address, port: to.port }, to })) : []
  return {
    translations: Object.fromEntries(models.map(model => [model.service, listTranslations(model)])),
    models: models.map(model => {
      if (!model.inbound) return createRoutingCaller(model, servers)
      const redirectedPorts = listEndpoints(model.clusters).map(({ port }) => port)
      return { ...model, inbound: { ...model.inbound, redirectedPorts } }
    }),
  }
}

/**
 * Creates a caller's model, in which the routes and clusters of the servers that it calls replace those that lead to them.
 * @param {SidecarModel} model each of its clusters has an endpoint
 * @param {SidecarModel[]} servers of which the caller may call some
 * @returns {SidecarModel}
 */
function createRoutingCaller(model, servers) {
  const callees = model.clusters.flatMap(cluster => {
    const server = servers.find(({ inbound }) => inbound?.address === cluster.endpoints[0].address)
    return server ? [{ cluster, server }] : []
  })
  const isCallee = (/** @type {string} */ name) => callees.some(({ cluster }) => cluster.name === name)
  const otherClusters = model.clusters.filter(({ name }) => !isCallee(name))
  const outbound = model.outbound && {
    ...model.outbound,
    routes: [
      ...model.outbound.routes.filter(({ split }) => !isCallee(split[0].cluster)),
      ...callees.flatMap(({ cluster, server }) => createCallerRoutes(cluster, server)),
    ],
  }
  return {
    ...model,
    outbound,
    clusters: [...otherClusters, ...callees.flatMap(({ cluster, server }) => createCallerClusters(cluster, server))],
  }
}

/**
 * Creates the routes of a server as its caller has them: to the clusters of `createCallerClusters`, without `allowedIdentities`.
 * @param {Cluster} cluster the caller's cluster of the server
 * @param {SidecarModel} server
 * @returns {Route[]}
 */
function createCallerRoutes(cluster, server) {
  return (server.inbound?.routes ?? []).map(({ allowedIdentities: _, ...route }) => ({
    ...route,
    split: route.split.map(part => ({ ...part, cluster: `${cluster.name}-${part.cluster}` })),
  }))
}

/**
 * Creates the clusters of a server as its caller has them: at the server's address, with the mTLS and protocol of the caller's
 * own cluster.
 * @param {Cluster} cluster the caller's cluster of the server
 * @param {SidecarModel} server
 * @returns {Cluster[]}
 */
function createCallerClusters({ name, mtls, protocol }, server) {
  const address = `${server.inbound?.address}`
  return server.clusters.map(clusterOfServer => ({
    ...clusterOfServer,
    name: `${name}-${clusterOfServer.name}`,
    mtls,
    protocol,
    endpoints: clusterOfServer.endpoints.map(({ port }) => ({ address, port })),
  }))
}

/**
 * Lists the endpoints of clusters, each once.
 * @param {Cluster[]} clusters
 * @returns {Endpoint[]}
 */
function listEndpoints(clusters) {
  return uniqueBy(
    clusters.flatMap(({ endpoints }) => endpoints),
    renderEndpoint,
  )
}

/**
 * Replaces the endpoints of each cluster by endpoints at which the plane can tunnel: a server's own address with the port of
 * the application or, for upstreams that are no servers of the rig (peers, observers, one that refuses), an address of PEERS.
 * @param {SidecarModel[]} models of bytes
 * @param {{ tunnelPort: number }} plane
 * @returns {{ models: SidecarModel[], translations: TranslationsByService }} translations: [] for a model that needs none
 */
export function tunnelBytes(models, { tunnelPort }) {
  const applications = models.flatMap(listApplications)
  /** @type {TranslationsByService} */
  const translations = Object.fromEntries(
    models.map(model => [
      model.service,
      listApplications(model).map(({ address, to }) => ({ from: { address, port: to.port }, to })),
    ]),
  )
  /** Chooses the endpoint to tunnel to. An upstream that is no server gets an address, and the model a translation. */
  const chooseTunnelEndpoint = (
    /** @type {SidecarModel} */ { service, inbound },
    /** @type {Cluster} */ { mtls },
    /** @type {Endpoint} */ { address, port },
  ) => {
    if (inbound) return { address: inbound.address, port }
    const application = applications.findLast(({ listener }) => listener === renderEndpoint({ address, port }))
    if (application) return { address, port: application.to.port }
    const peer = `${PEERS}.${translations[service].length + 1}`
    translations[service].push({ from: { address: peer, port: mtls ? tunnelPort : PEER_PORT }, to: { address, port } })
    return { address: peer, port: PEER_PORT }
  }
  return {
    translations,
    models: models.map(model => ({
      ...model,
      clusters: model.clusters.map(cluster => ({
        ...cluster,
        endpoints: cluster.endpoints.map(endpoint => chooseTunnelEndpoint(model, cluster, endpoint)),
      })),
    })),
  }
}

/**
 * Lists the applications of a server, one for each of its routes that has an endpoint.
 * @param {SidecarModel} model
 * @returns {{ address: string, listener: string, to: Endpoint }[]} address: of the server; listener: the endpoint of the route, as
 *   `renderEndpoint` renders it; to: the first endpoint of its cluster; []: the model is no server
 */
function listApplications({ inbound, clusters }) {
  if (inbound === null) return []
  const { address } = inbound
  return inbound.routes.flatMap(({ port = inbound.port, split }) => {
    const to = clusters.find(({ name }) => name === split[0].cluster)?.endpoints[0]
    return to ? [{ address, listener: renderEndpoint({ address, port }), to }] : []
  })
}
