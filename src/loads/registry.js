import { k6 } from './k6/index.js'
import { wrk } from './wrk/index.js'

/** The load generators, as model/tools.js names them. */
export const loads = [k6, wrk]

/** Finds a load generator, the default where it has no name. @param {string | null} [name] */
export function findLoad(name) {
  return loads.find(load => load.name === name) ?? k6
}
