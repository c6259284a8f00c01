import { createPlace } from '../../src/model/sidecar-contract.js'
import { createModel } from '../../src/services/sidecar-model.js'

/** Models of planes that take redirected connections only. @import { Topology } from '../../src/model/types.ts' */

/** @type {Topology} */
export const PAIR = {
  name: 'pair',
  services: [
    { name: 'client', application: null, calls: ['server'] },
    { name: 'server', application: 'echo', calls: [] },
    { name: 'server-2', application: 'echo', calls: [], copyOf: 'server' },
  ],
  entry: { service: 'client', listener: 'outbound' },
}
/** @type {Topology} */
export const GATEWAY = {
  name: 'gateway-ratings',
  services: [
    { name: 'gateway', application: 'forward', calls: ['ratings'] },
    { name: 'ratings', application: 'echo', calls: [] },
  ],
  entry: { service: 'gateway', listener: 'inbound' },
}
const names = [...PAIR.services, ...GATEWAY.services].map(({ name }) => name)
export const places = Object.fromEntries(names.map((name, i) => [name, createPlace(`10.77.0.${i + 1}`)]))

/**
 * The model of a service whose connections are redirected.
 * @param {Topology} topology @param {string} name
 * @param {Partial<Parameters<typeof createModel>[1]> & Pick<Parameters<typeof createModel>[1], 'trafficPolicy'>} options
 */
export function createRedirectedModel(topology, name, options) {
  const service = topology.services.find(service => service.name === name) ?? topology.services[0]
  return createModel(topology, { service, places, workers: 1, certificates: '/c', isRedirected: true, ...options })
}
