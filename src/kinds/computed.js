import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseDocument } from '../records/records.js'
import { answerBalance, createBalanceDocument, renderBalanceCsv, renderBalanceText } from './balance/document.js'
import { readBalance, writeBalance } from './balance/records.js'
import { renderBalanceTrial, runBalance, summariseBalance } from './balance/trials.js'

/** @typedef {typeof COMPUTED['balance']} ComputedKind */

/** Kinds that only compute and start no process, by name. Their runs have the files of any run, without raw files. */
export const COMPUTED = {
  balance: {
    name: 'balance',
    compute: runBalance,
    write: writeBalance,
    read: readBalance,
    summarise: summariseBalance,
    renderTrialName: renderBalanceTrial,
    answer: answerBalance,
    renderText: renderBalanceText,
    renderCsv: renderBalanceCsv,
    createDocument: createBalanceDocument,
  },
}

/**
 * Finds the kind of a computed run.
 * @param {string} folder of a run
 * @returns {ComputedKind | undefined} undefined: the folder contains a measured run, none, or an unreadable manifest
 */
export function findComputedKind(folder) {
  const file = path.join(folder, 'manifest.json')
  if (!existsSync(file)) return undefined
  try {
    const { kind } = /** @type {any} */ (parseDocument(file, ''))
    return Object.values(COMPUTED).find(({ name }) => name === kind)
  } catch {
    return undefined
  }
}
