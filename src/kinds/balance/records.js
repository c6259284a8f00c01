import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { parseJson } from '../../lib/json.js'
import { renderCommand } from '../../lib/render-command.js'
import { balanceManifestSchema, balanceTrialSchema, findFault } from '../../model/schemas.js'
import { readTextLines, writeAtomically, writeDocument } from '../../records/files.js'
import { readDocument } from '../../records/records.js'
import { createResultsFolder } from '../../records/write.js'

/**
 * The folder of a run of `balance`: the files of any run, without raw files.
 * @import { BalanceManifest, BalanceSummary, BalanceTrial } from '../../model/types.ts'
 * @typedef {{ manifest: BalanceManifest, trials: BalanceTrial[] }} BalanceRun
 */

/**
 * Writes manifest, trials and summary into a folder, which it creates.
 * @param {string} folder that is empty or does not exist
 * @param {BalanceRun & { summary: BalanceSummary }} run
 * @throws {UsageError} if the folder holds files, or has a path that configurations of data planes cannot carry
 * @throws {BenchError} if a file cannot be written
 */
export function writeBalanceRun(folder, { manifest, trials, summary }) {
  createResultsFolder(folder)
  writeDocument(folder, 'manifest.json', manifest)
  writeAtomically(folder, 'trials.jsonl', trials.map(trial => `${JSON.stringify(trial)}\n`).join(''))
  writeDocument(folder, 'summary.json', summary)
}

/**
 * Reads the manifest and the trials of a run, and checks them.
 * @param {string} folder of the run
 * @returns {BalanceRun}
 * @throws {BenchError} if a file is missing, damaged or of another schema version, or not all trials are there
 */
export function readBalanceRun(folder) {
  const file = path.join(folder, 'manifest.json')
  const manifest = /** @type {BalanceManifest} */ (readDocument(file, `${file} is missing`))
  assertNoFault(file, findFault(balanceManifestSchema, manifest))
  const lines = [...readTextLines(path.join(folder, 'trials.jsonl'))].filter(Boolean)
  const trials = lines.map((line, i) => {
    const trial = parseJson(line)
    assertNoFault(`${folder}/trials.jsonl:${i + 1}`, findFault(balanceTrialSchema, trial))
    return trial
  })
  const { algorithms, seeds, sizes } = manifest.form
  const expected = algorithms.length * sizes.length * seeds
  assertNoFault(`${folder}/trials.jsonl`, trials.length === expected ? null : `${trials.length} of ${expected} records`)
  return { manifest, trials }
}

/**
 * Asserts that a document has no fault.
 * @param {string} where the file, and the line
 * @param {string | null} fault null: there is none
 * @throws {BenchError} with the fault
 */
function assertNoFault(where, fault) {
  if (fault === null) return
  throw new BenchError(`${where} is damaged: ${fault}; compute it again: ${renderCommand('bench', 'balance')}`)
}
