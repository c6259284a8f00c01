import { uniqueBy } from '../lib/group-by.js'
import { PORTS, renderEndpoint } from '../model/sidecar-contract.js'

/**
 * Adapts a rig's models to sidecars that forward only to the application at their own address. Sidecars that tunnel bytes call
 * all others at one port; sidecars that route at the caller have no routes at the server. The upstreams and peers of the corpus
 * have other addresses, so rules of the kernel translate them: a model has addresses at which nothing is, and a translation leads
 * the connections that a sidecar opens to them to the upstream instead.
 * @import { Cluster, DataPlane, Endpoint, ProcessSpec, SidecarModel } from '../model/types.ts'
 * @typedef {NonNullable<NonNullable<ProcessSpec['redirects']>['translations']>} Translations
 */

// Peers have addresses of a block for benchmarks (RFC 2544), at which nothing is: rules translate them.
const PEERS = '198.19.0'
const PEER_PORT = 80

/**
 * Adapts models to how a plane forwards: by tunnels of bytes, or by routes at the caller. The models of all other planes stay
 * unchanged.
 * @param {SidecarModel[]} models
 * @param {Pick<DataPlane, 'tunnelPort' | 'routesAtCaller'>} plane
 * @returns {{ models: SidecarModel[], translations?: Record<string, Translations> }} translations: by service; absent: none are
 *   needed
 */
export function adaptModels(models, { tunnelPort, routesAtCaller }) {
  const carriesBytes = models.some(model => model.carriesBytes)
  if (tunnelPort !== undefined || (routesAtCaller && carriesBytes))
    return tunnelBytes(models, { tunnelPort: tunnelPort ?? PORTS.inbound })
  return routesAtCaller ? routeAtCaller(models) : { models }
}

/**
 * Moves the routes and clusters of servers to their callers. There each endpoint has the server's address and its own port,
 * which rules translate at the server.
 * @param {SidecarModel[]} models of requests
 * @returns {{ models: SidecarModel[], translations: Record<string, Translations> }} translations: by service
 */
function routeAtCaller(models) {
  const servers = models.filter(({ inbound }) => inbound)
  const findInboundAddress = (/** @type {SidecarModel} */ { inbound }) => `${inbound?.address}`
  return {
    translations: Object.fromEntries(
      models.map(({ service, inbound, clusters }) => [
        service,
        inbound ? listEndpoints(clusters).map(to => ({ from: { address: inbound.address, port: to.port }, to })) : [],
      ]),
    ),
    models: models.map(model => {
      if (model.inbound) {
        const redirectedPorts = listEndpoints(model.clusters).map(({ port }) => port)
        return { ...model, inbound: { ...model.inbound, redirectedPorts } }
      }
      const callees = model.clusters.flatMap(cluster => {
        const server = servers.find(callee => findInboundAddress(callee) === cluster.endpoints[0].address)
        return server ? [{ cluster, server }] : []
      })
      const isCallee = (/** @type {string} */ name) => callees.some(({ cluster }) => cluster.name === name)
      const routes = callees.flatMap(({ cluster, server }) =>
        (server.inbound?.routes ?? []).map(({ allowedIdentities: _, ...route }) => ({
          ...route,
          split: route.split.map(part => ({ ...part, cluster: `${cluster.name}-${part.cluster}` })),
        })),
      )
      const clusters = callees.flatMap(({ cluster, server }) =>
        server.clusters.map(clusterOfServer => ({
          ...clusterOfServer,
          name: `${cluster.name}-${clusterOfServer.name}`,
          mtls: cluster.mtls,
          protocol: cluster.protocol,
          endpoints: clusterOfServer.endpoints.map(({ port }) => ({ address: findInboundAddress(server), port })),
        })),
      )
      return {
        ...model,
        clusters: [...model.clusters.filter(({ name }) => !isCallee(name)), ...clusters],
        outbound: model.outbound && {
          ...model.outbound,
          routes: [...model.outbound.routes.filter(({ split }) => !isCallee(split[0].cluster)), ...routes],
        },
      }
    }),
  }
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
 * the application or, for the peers and observers, which are no servers of the rig, an address of PEERS.
 * @param {SidecarModel[]} models of bytes
 * @param {{ tunnelPort: number }} plane
 * @returns {{ models: SidecarModel[], translations: Record<string, Translations> }} translations: by service
 */
export function tunnelBytes(models, { tunnelPort }) {
  /** @type {Record<string, Translations>} */
  const translations = Object.fromEntries(models.map(({ service }) => [service, []]))
  /** The port of the application, by the port of the listener. @type {Map<string, number>} */
  const applications = new Map()
  for (const { service, inbound, clusters } of models)
    for (const { port, split } of inbound?.routes ?? []) {
      const [endpoint] = clusters.find(({ name }) => name === split[0].cluster)?.endpoints ?? []
      if (inbound === null || endpoint === undefined) continue
      applications.set(`${inbound.address}:${port ?? inbound.port}`, endpoint.port)
      translations[service].push({ from: { address: inbound.address, port: endpoint.port }, to: endpoint })
    }
  return {
    translations,
    models: models.map(model => {
      const createTunnelEndpoint = (/** @type {Endpoint} */ endpoint, /** @type {Cluster} */ { mtls }) => {
        if (model.inbound) return { address: model.inbound.address, port: endpoint.port }
        const port = applications.get(`${endpoint.address}:${endpoint.port}`)
        if (port !== undefined) return { address: endpoint.address, port }
        const address = `${PEERS}.${translations[model.service].length + 1}`
        translations[model.service].push({ from: { address, port: mtls ? tunnelPort : PEER_PORT }, to: endpoint })
        return { address, port: PEER_PORT }
      }
      return {
        ...model,
        clusters: model.clusters.map(c => ({ ...c, endpoints: c.endpoints.map(e => createTunnelEndpoint(e, c)) })),
      }
    }),
  }
}
