import { groupBy } from '../../lib/group-by.js'

/**
 * The distinct loads of services. Pure.
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 */

/**
 * Services with the same load.
 * @typedef {object} Cell
 * @property {number} ratePerSecond
 * @property {number} p99Ms the lowest limit of these services
 * @property {string[]} names of the services
 */

/**
 * Lists the distinct loads of a template, by rising rate. Services of another payload are left out, unless options
 * define the requests.
 * @param {Pick<Extract<SearchSpec, { kind: 'services' }>, 'services'>} spec
 * @param {Arm} template of a plane and a payload
 * @returns {Cell[]} []: no service has the payload
 */
export function listCells({ services }, { load: { payloadBytes, requests } }) {
  // Requests that options define are those of all services, whatever their payload.
  const servicesOfPayload = services.filter(s => requests !== undefined || s.payloadBytes === payloadBytes)
  const cells = [...groupBy(servicesOfPayload, s => s.ratePerSecond)].map(([ratePerSecond, cellServices]) => {
    return {
      ratePerSecond,
      p99Ms: Math.min(...cellServices.map(s => s.p99Ms)),
      names: cellServices.map(s => s.name),
    }
  })
  return cells.sort((a, b) => a.ratePerSecond - b.ratePerSecond)
}

/**
 * Lists the lowest and the highest rate, once if they are the same.
 * @param {Cell[]} cells by rising rate
 * @returns {number[]} []: there are no cells
 */
export function listEndRates(cells) {
  return [...new Set([...cells.slice(0, 1), ...cells.slice(-1)])].map(({ ratePerSecond }) => ratePerSecond)
}
