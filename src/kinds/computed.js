import { existsSync } from 'node:fs'
import path from 'node:path'
import { readDocument } from '../records/records.js'
import { answerBalance, createBalanceDocument, renderBalanceCsv, renderBalanceText } from './balance/document.js'
import { readBalanceRun, writeBalanceRun } from './balance/records.js'
import { computeBalanceTrials, renderBalanceTrialName, summariseBalance } from './balance/trials.js'

/** @typedef {typeof COMPUTED['balance']} ComputedKind */

/** Kinds that only compute and start no process, by name. Their runs have the files of any run, without raw files. */
export const COMPUTED = {
  balance: {
    name: 'balance',
    compute: computeBalanceTrials,
    write: writeBalanceRun,
    read: readBalanceRun,
    summarise: summariseBalance,
    renderTrialName: renderBalanceTrialName,
    answer: answerBalance,
    renderText: renderBalanceText,
    renderCsv: renderBalanceCsv,
    createDocument: createBalanceDocument,
  },
}

/**
 * Finds the kind of a computed run, by its manifest.
 * @param {string} folder of a run
 * @returns {ComputedKind | undefined} undefined: the folder contains a measured run, no run, or a manifest that this kit cannot read
 */
export function findComputedKind(folder) {
  const file = path.join(folder, 'manifest.json')
  if (!existsSync(file)) return undefined
  try {
    const { kind } = /** @type {any} */ (readDocument(file, ''))
    return Object.values(COMPUTED).find(({ name }) => name === kind)
  } catch {
    return undefined
  }
}
