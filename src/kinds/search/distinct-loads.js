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
 * Lists the distinct loads of the services with a template's payload, by rising rate. If the file has one payload, all services count:
 * options may have set other sizes of bodies.
 * @param {Pick<Extract<SearchSpec, { kind: 'services' }>, 'services'>} spec
 * @param {Arm} template of a plane and a payload
 * @returns {DistinctLoad[]} []: no service has the payload
 */
export function listDistinctLoads({ services }, { load }) {
  const hasOnePayload = services.every(service => service.payloadBytes === services[0].payloadBytes)
  const { requestBytes, responseBytes } = computeBodyBytes(load)
  // A GET has its payload in the response alone.
  const payloadBytes = Math.max(requestBytes, responseBytes)
  const servicesOfPayload = services.filter(service => hasOnePayload || service.payloadBytes === payloadBytes)
  const loads = [...groupBy(servicesOfPayload, service => service.ratePerSecond)].map(([ratePerSecond, group]) => ({
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
