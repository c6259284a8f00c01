import { k6 } from './k6/index.js'
import { wrk } from './wrk/index.js'

/**
 * The load generators, as model/tools.js names them.
 * @import { LoadGenerator } from '../model/types.ts'
 */

export const loads = [k6, wrk]

/**
 * @param {string | null} [name]
 * @returns {LoadGenerator} the default where it has no name
 */
export function findLoad(name) {
  return loads.find(load => load.name === name) ?? k6
}
