import { verifyRun } from '../analysis/verify.js'
import { findComputedKind } from '../kinds/computed.js'
import { EXIT } from '../lib/errors.js'
import { hashKit } from '../lib/kit.js'
import { loadGenerators } from '../loads/registry.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { verifyComputedRun } from './computed.js'
import { withRuns } from './open-runs.js'

/** Adds `verify`, which computes every number of a run again. @type {import('./program.js').AddVerb} */
export function addVerify(verb, { print, end }) {
  verb.argument('<results>', 'a results folder, or a bundle').action((/** @type {string} */ results) =>
    withRuns([results], async ([folder], restoreNames) => {
      const { lines, agrees } = await verifyRunFolder(folder)
      print(restoreNames(lines.join('\n')))
      if (!agrees) end(EXIT.failed)
    }),
  )
}

/**
 * Computes the numbers of a run of any kind again, and compares them with the recorded ones.
 * @param {string} folder of the run
 * @returns {Promise<{ lines: string[], agrees: boolean }>} lines: to print; agrees: no number differs, and nothing is damaged
 * @throws {BenchError} if the folder holds no run, or a file of it cannot be read; as `verifyRun`
 */
export async function verifyRunFolder(folder) {
  const computed = findComputedKind(folder)
  if (computed) return verifyComputedRun(computed, folder)
  const loads = await loadGenerators()
  return verifyRun({ folder, findLoad: name => loads[name ?? DEFAULT_GENERATOR], kitSha256: hashKit() })
}
