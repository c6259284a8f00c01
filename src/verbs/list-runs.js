import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { summariseBalance } from '../kinds/balance/trials.js'
import { BenchError } from '../lib/errors.js'
import { findFault, summarySchema } from '../model/schemas.js'
import { isBalance, readBalance } from '../records/balance.js'
import { readRun, readSummary } from '../records/records.js'
import { answerOf } from '../report/answer.js'
import { answerOfBalance } from '../report/balance.js'

/**
 * The runs of a folder, each with its answer.
 */

// Of runs, or of folders of them.
const DEPTH = 2

/** @typedef {{ folder: string, startedAt: string, experiment: string, says: string }} ListedRun */

/**
 * @param {string} root a folder of runs, or of folders of them (as `agree` leaves)
 * @returns {ListedRun[]} the last one first; what is no run, or cannot be read, says why
 * @throws {BenchError} where there is no such folder
 */
export function listRuns(root) {
  return findRuns(root)
    .map(describeRun)
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt))
}

/**
 * @param {string} folder
 * @param {number} [depth]
 * @returns {string[]}
 */
export function findRuns(folder, depth = DEPTH) {
  if (!existsSync(folder)) throw new BenchError(`there are no runs in ${folder}/ yet: make one with npm run bench`)
  const inside = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return inside.flatMap(({ name }) => {
    const at = path.join(folder, name)
    if (existsSync(path.join(at, 'manifest.json')) || existsSync(path.join(at, 'raw'))) return [at]
    return depth > 1 ? findRuns(at, depth - 1) : []
  })
}

/**
 * @param {string} folder
 * @returns {ListedRun}
 */
function describeRun(folder) {
  try {
    if (isBalance(folder)) {
      const summary = summariseBalance(readBalance(folder))
      const { startedAt, experiment } = summary.run
      return { folder, startedAt, experiment, says: answerOfBalance(summary) }
    }
    if (existsSync(path.join(folder, 'summary.json'))) {
      const summary = readSummary(folder)
      const fault = findFault(summarySchema, summary)
      if (fault !== null)
        throw new BenchError(`summary.json is damaged: ${fault}; npm run report -- ${folder} reads the trials`)
      const { startedAt, experiment } = summary.run
      return { folder, startedAt, experiment, says: answerOf(summary) }
    }
    const { manifest, records } = readRun(folder)
    const { startedAt, experiment } = manifest.run
    return { folder, startedAt, experiment, says: `It goes on, or was cut off: ${records.length} trials are recorded.` }
  } catch (error) {
    const why =
      error instanceof BenchError ? error.message : `it cannot be read: ${/** @type {Error} */ (error).message}`
    return { folder, startedAt: '', experiment: '-', says: why }
  }
}
