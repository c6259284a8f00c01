/**
 * The models of a rig for sidecars that tunnel bytes: each forwards to the application at its own address only, and calls
 * others at one port. The upstreams and peers of the corpus are beside the services, so the kernel translates addresses.
 * @import { Cluster, Endpoint, ProcessSpec, SidecarModel } from '../model/types.ts'
 * @typedef {NonNullable<NonNullable<ProcessSpec['redirects']>['translations']>} Translations
 */

// Peers have addresses of a block for benchmarks (RFC 2544), at which nothing is: rules translate them.
const PEERS = '198.19.0'
const PEER_PORT = 80

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
