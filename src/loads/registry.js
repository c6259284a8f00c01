import { DEFAULT_GENERATOR } from '../model/tools.js'

/** @import { LoadGenerator } from '../model/types.ts' */

/** The load generators, as model/tools.js names them: their code is loaded by name. */
/** @type {Record<string, () => Promise<LoadGenerator>>} */
const LOADS = {
  k6: async () => (await import('./k6/index.js')).k6,
  wrk: async () => (await import('./wrk/index.js')).wrk,
}

/** Loads all of them. @returns {Promise<Record<string, LoadGenerator>>} by name */
export async function loadGenerators() {
  const entries = Object.entries(LOADS).map(async ([name, load]) => /** @type {const} */ ([name, await load()]))
  return Object.fromEntries(await Promise.all(entries))
}

/** Loads a generator, the default where it has no name, or one that the kit does not have. @param {string | null} [name] */
export function loadGenerator(name = DEFAULT_GENERATOR) {
  return (LOADS[`${name}`] ?? LOADS[DEFAULT_GENERATOR])()
}
