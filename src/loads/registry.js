import { DEFAULT_GENERATOR } from '../model/tools.js'

/** @import { LoadGenerator } from '../model/types.ts' */

/**
 * Loads each generator's code when it is needed. The names are those of GENERATORS.
 * @type {Record<string, () => Promise<LoadGenerator>>}
 */
const LOADS = {
  k6: async () => (await import('./k6/index.js')).k6,
  wrk: async () => (await import('./wrk/index.js')).wrk,
}

/**
 * Loads the code of all generators.
 * @returns {Promise<Record<string, LoadGenerator>>} by name
 */
export async function loadGenerators() {
  const entries = Object.entries(LOADS).map(async ([name, load]) => /** @type {const} */ ([name, await load()]))
  return Object.fromEntries(await Promise.all(entries))
}

/**
 * Loads the code of a generator.
 * @param {string | null} [name] absent, null or unknown: the default
 * @returns {Promise<LoadGenerator>}
 */
export function loadGenerator(name = DEFAULT_GENERATOR) {
  return (LOADS[`${name}`] ?? LOADS[DEFAULT_GENERATOR])()
}
