import { PORTS } from '../model/sidecar-contract.js'

/**
 * The models of a rig for sidecars that forward to the application at their own address only: those that tunnel bytes also call
 * others at one port, and those that route at the caller have no routes of requests behind it. The upstreams and peers of the
 * corpus are beside the services, so the kernel translates addresses.
 * @import { Cluster, DataPlane, Endpoint, ProcessSpec, SidecarModel } from '../model/types.ts'
 * @typedef {NonNullable<NonNullable<ProcessSpec['redirects']>['translations']>} Translations
 */

// Peers have addresses of a block for benchmarks (RFC 2544), at which nothing is: rules translate them.
const PEERS = '198.19.0'
const PEER_PORT = 80

/**
 * Adapts the models of a rig to what a plane can be given; without translations, as they are.
 * @param {SidecarModel[]} models @param {Pick<DataPlane, 'tunnelPort' | 'routesAtCaller'>} plane
 * @returns {{ models: SidecarModel[], translations?: Record<string, Translations> }}
 */
export function adaptModels(models, { tunnelPort, routesAtCaller }) {
  const carriesBytes = models.some(model => model.carriesBytes)
  if (tunnelPort !== undefined || (routesAtCaller && carriesBytes))
    return tunnelBytes(models, { tunnelPort: tunnelPort ?? PORTS.inbound })
  return routesAtCaller ? routeAtCaller(models) : { models }
}

/**
 * Gives the routes of servers to their callers, and to each endpoint a port of the server, which rules translate.
 * @param {SidecarModel[]} models of requests @returns {{ models: SidecarModel[], translations: Record<string, Translations> }}
 */
function routeAtCaller(models) {
  const servers = models.filter(({ inbound }) => inbound)
  const addressOf = (/** @type {SidecarModel} */ { inbound }) => `${inbound?.address}`
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
        const server = servers.find(own => addressOf(own) === cluster.endpoints[0].address)
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
        server.clusters.map(own => ({
          ...own,
          ...{ name: `${cluster.name}-${own.name}`, mtls: cluster.mtls, protocol: cluster.protocol },
          endpoints: own.endpoints.map(({ port }) => ({ address: addressOf(server), port })),
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

/** Lists the endpoints of clusters, each once. @param {Cluster[]} clusters */
function listEndpoints(clusters) {
  return [...new Map(clusters.flatMap(({ endpoints }) => endpoints).map(e => [`${e.address}:${e.port}`, e])).values()]
}

/**
 * @param {SidecarModel[]} models of bytes @param {{ tunnelPort: number }} plane
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
      const meet = (/** @type {Endpoint} */ endpoint, /** @type {Cluster} */ { mtls }) => {
        if (model.inbound) return { address: model.inbound.address, port: endpoint.port }
        const port = applications.get(`${endpoint.address}:${endpoint.port}`)
        if (port !== undefined) return { address: endpoint.address, port }
        const address = `${PEERS}.${translations[model.service].length + 1}`
        translations[model.service].push({ from: { address, port: mtls ? tunnelPort : PEER_PORT }, to: endpoint })
        return { address, port: PEER_PORT }
      }
      return { ...model, clusters: model.clusters.map(c => ({ ...c, endpoints: c.endpoints.map(e => meet(e, c)) })) }
    }),
  }
}
