import { DEFAULT_GENERATOR } from '../model/tools.js'

/** @import { LoadGenerator } from '../model/types.ts' */

/**
 * The functions that load the code of each generator when it is needed. The names are those of GENERATORS.
 * @type {Record<string, () => Promise<LoadGenerator>>}
 */
const LOADERS = {
  k6: async () => (await import('./k6/index.js')).k6,
  wrk: async () => (await import('./wrk/index.js')).wrk,
}

/**
 * Loads the code of all generators.
 * @returns {Promise<Record<string, LoadGenerator>>} by name
 */
export async function loadGenerators() {
  const entries = Object.entries(LOADERS).map(async ([name, loader]) => /** @type {const} */ ([name, await loader()]))
  return Object.fromEntries(await Promise.all(entries))
}

/**
 * Loads the code of a generator.
 * @param {string | null} [name] absent, null or unknown: the default
 * @returns {Promise<LoadGenerator>}
 */
export function loadGenerator(name = DEFAULT_GENERATOR) {
  return (LOADERS[`${name}`] ?? LOADERS[DEFAULT_GENERATOR])()
}
