import { readdirSync } from 'node:fs'
import path from 'node:path'
import { evaluateClaims, parseClaims } from '../analysis/claims/claims.js'
import { UsageError } from '../lib/errors.js'
import { ROOT } from '../lib/paths.js'
import { readBounded } from '../lib/read-file.js'
import { listExperiments } from '../prepare/read-experiment.js'

/** @import { ClaimsFile } from '../analysis/claims/claims.js' */
/** @import { BalanceSummary, Summary } from '../model/types.ts' */

/** Reads the published claims of the kit, in bench/claims. @returns {ClaimsFile[]} @throws as `readClaims` */
export function readKitClaims() {
  return readClaims(path.join(ROOT, 'bench/claims'), { experiments: listExperiments() })
}

/**
 * Evaluates by one run the claims that its experiment can test.
 * @param {Summary | BalanceSummary} summary
 * @param {ClaimsFile[]} [files] with claims; by default those of the kit
 * @returns results of the claims; []: none is about this experiment
 * @throws as `readKitClaims`, unless `files` are given
 */
export function evaluateRunClaims(summary, files = readKitClaims()) {
  const results = evaluateClaims({ files, summaries: [summary] })
  return results.filter(({ experiment }) => experiment === summary.run.experiment)
}

/**
 * Reads all files of claims in a folder.
 * @param {string} folder
 * @param {{ experiments: string[] }} known the names of all experiments
 * @returns {ClaimsFile[]} sorted by file name; []: there are none
 * @throws {UsageError} for a file that is no valid file of claims, or two claims of one id; as `readBounded`; the
 *   system's error if the folder or a file cannot be read
 */
export function readClaims(folder, known) {
  const names = readdirSync(folder).filter(name => name.endsWith('.yaml'))
  const files = names.sort().map(name => {
    const file = path.join(folder, name)
    return parseClaims(readBounded(file), file, known)
  })
  /** @type {Map<string, string>} */
  const fileOfClaim = new Map()
  for (const { file, claims } of files)
    for (const { id } of claims) {
      const other = fileOfClaim.get(id)
      if (other) throw new UsageError(`${file}: claim "${id}" is in ${other} too: rename one`)
      fileOfClaim.set(id, file)
    }
  return files
}
