import { groupBy } from '../../lib/group-by.js'

/**
 * The distinct loads of services. Pure.
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 */

/**
 * Services with the same load.
 * @typedef {object} Cell
 * @property {number} ratePerSecond
 * @property {number} p99Ms the strictest of theirs
 * @property {string[]} names of the services
 */

/**
 * Lists the cells of a template by rising rate. Services of another payload are left out, unless options define the requests.
 * @param {Pick<Extract<SearchSpec, { kind: 'services' }>, 'services'>} spec
 * @param {Arm} template
 * @returns {Cell[]}
 */
export function listCells({ services }, { load: { payloadBytes, requests } }) {
  // Requests that options define are those of all services, whatever their payload.
  const servicesOfPayload = services.filter(s => requests !== undefined || s.payloadBytes === payloadBytes)
  const cells = [...groupBy(servicesOfPayload, s => s.ratePerSecond)].map(([ratePerSecond, same]) => {
    return { ratePerSecond, p99Ms: Math.min(...same.map(s => s.p99Ms)), names: same.map(s => s.name) }
  })
  return cells.sort((a, b) => a.ratePerSecond - b.ratePerSecond)
}

/**
 * Lists the lowest and the highest rate, once if they are the same; []: there are no cells.
 * @param {Cell[]} cells
 */
export function listEndRates(cells) {
  return [...new Set([...cells.slice(0, 1), ...cells.slice(-1)])].map(({ ratePerSecond }) => ratePerSecond)
}
