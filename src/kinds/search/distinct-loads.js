import { groupBy } from '../../lib/group-by.js'
import { computeBodyBytes } from '../../model/requests.js'

/**
 * The distinct loads of a file of services. Pure.
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 */

/**
 * The load of services with the same rate.
 * @typedef {object} DistinctLoad
 * @property {number} ratePerSecond
 * @property {number} p99Ms the lowest limit of these services
 * @property {string[]} names of the services
 */

/**
 * Lists the distinct loads of the services with a template's payload, by rising rate. If no service has it, options have set other
 * sizes of bodies, and all services count.
 * @param {Pick<Extract<SearchSpec, { kind: 'services' }>, 'services'>} spec
 * @param {Arm} template of a plane and a payload
 * @returns {DistinctLoad[]}
 */
export function listDistinctLoads({ services }, { load }) {
  const { requestBytes, responseBytes } = computeBodyBytes(load)
  // A GET has its payload in the response alone.
  const payloadBytes = Math.max(requestBytes, responseBytes)
  const servicesOfPayload = services.filter(service => service.payloadBytes === payloadBytes)
  const counted = servicesOfPayload.length > 0 ? servicesOfPayload : services
  const loads = [...groupBy(counted, service => service.ratePerSecond)].map(([ratePerSecond, group]) => ({
    ratePerSecond,
    p99Ms: Math.min(...group.map(service => service.p99Ms)),
    names: group.map(service => service.name),
  }))
  return loads.sort((a, b) => a.ratePerSecond - b.ratePerSecond)
}

/**
 * Lists the lowest and the highest rate, once if they are the same.
 * @param {DistinctLoad[]} loads by rising rate
 * @returns {number[]} []: there are no loads
 */
export function listEndRates(loads) {
  return [...new Set([...loads.slice(0, 1), ...loads.slice(-1)])].map(({ ratePerSecond }) => ratePerSecond)
}
