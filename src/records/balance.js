import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { balanceManifestSchema, balanceTrialSchema, findFault } from '../model/schemas.js'
import { readText, writeWhole } from './files.js'
import { createResultsFolder, parseDocument } from './records.js'

/** The folder of a run of `balance`: the files of any run, without raw files. */
/** @import { BalanceManifest, BalanceSummary, BalanceTrial } from '../model/types.ts' */

/** @typedef {{ manifest: BalanceManifest, trials: BalanceTrial[] }} BalanceRun */

/** @param {string} folder must not exist, or be empty @param {BalanceRun & { summary: BalanceSummary }} run */
export function writeBalance(folder, { manifest, trials, summary }) {
  createResultsFolder(folder)
  writeWhole(folder, 'manifest.json', toJson(manifest))
  writeWhole(folder, 'trials.jsonl', trials.map(trial => `${JSON.stringify(trial)}\n`).join(''))
  writeWhole(folder, 'summary.json', toJson(summary))
}

/** Whether a folder holds a run of `balance`; where it cannot be read, its own readers say why. @param {string} folder */
export function isBalance(folder) {
  const file = path.join(folder, 'manifest.json')
  if (!existsSync(file)) return false
  try {
    return /** @type {any} */ (parseDocument(file, '')).kind === 'balance'
  } catch {
    return false
  }
}

/** @param {string} folder @returns {BalanceRun} @throws {BenchError} where a document is missing or damaged */
export function readBalance(folder) {
  const file = path.join(folder, 'manifest.json')
  const manifest = /** @type {BalanceManifest} */ (parseDocument(file, `${file} is missing`))
  assertWhole(file, findFault(balanceManifestSchema, manifest))
  const lines = readText(path.join(folder, 'trials.jsonl'))?.split('\n').filter(Boolean) ?? []
  const trials = lines.map((line, i) => {
    const trial = parseLine(line)
    assertWhole(`${folder}/trials.jsonl:${i + 1}`, findFault(balanceTrialSchema, trial))
    return trial
  })
  const { algorithms, seeds, sizes } = manifest.form
  const expected = algorithms.length * sizes.length * seeds
  assertWhole(`${folder}/trials.jsonl`, trials.length === expected ? null : `${trials.length} of ${expected} records`)
  return { manifest, trials }
}

/** @param {string} line @returns {any} undefined: it is no JSON */
function parseLine(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** @param {string} where @param {string | null} fault */
function assertWhole(where, fault) {
  if (fault === null) return
  throw new BenchError(`${where} is damaged: ${fault}; compute it again: npm run bench -- balance`)
}

/** @param {unknown} document */
function toJson(document) {
  return `${JSON.stringify(document, null, 2)}\n`
}
