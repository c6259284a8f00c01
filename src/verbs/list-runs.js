import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { findComputedKind } from '../kinds/computed.js'
import { BenchError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { findFault, summarySchema } from '../model/schemas.js'
import { readRun, readSummary } from '../records/records.js'
import { createAnswer } from '../report/answer/answer.js'

/**
 * @typedef {object} ListedRun
 * @property {string} folder
 * @property {string} startedAt empty: the run cannot be read
 * @property {string} experiment `-`: the run cannot be read
 * @property {string} says its answer, or why there is none
 */

/**
 * Lists the runs of a folder and of its subfolders, the latest first. A run that cannot be read comes last.
 * @param {string} root
 * @returns {ListedRun[]} []: there are none
 * @throws {BenchError} as `listRunFolders`
 */
export function listRuns(root) {
  return listRunFolders(root)
    .map(folder => {
      try {
        const { run, says } = readRunWithAnswer(folder)
        return { folder, startedAt: run.startedAt, experiment: run.experiment, says }
      } catch (error) {
        const { message } = /** @type {Error} */ (error)
        const says = error instanceof BenchError ? message : `it cannot be read: ${message}`
        return { folder, startedAt: '', experiment: '-', says }
      }
    })
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt))
}

/**
 * Lists the folders of runs in a folder. Links are not followed, and the folder of a run is not searched.
 * @param {string} folder
 * @param {number} [depth] levels to search; 2 by default
 * @returns {string[]} paths that begin with `folder`; []: there are none
 * @throws {BenchError} if it does not exist, is a file, or it or a subfolder cannot be read
 */
export function listRunFolders(folder, depth = 2) {
  if (!existsSync(folder))
    throw new BenchError(`there are no runs in ${folder}/ yet: make one with ${renderCommand('bench')}`)
  if (!statSync(folder).isDirectory())
    throw new BenchError(`${folder} is a file: name a run, or the folder of all runs`)
  const subfolders = listFolderEntries(folder).filter(entry => entry.isDirectory())
  return subfolders.flatMap(({ name }) => {
    const subfolder = path.join(folder, name)
    if (existsSync(path.join(subfolder, 'manifest.json')) || existsSync(path.join(subfolder, 'raw'))) return [subfolder]
    return depth > 1 ? listRunFolders(subfolder, depth - 1) : []
  })
}

/**
 * Lists the entries of a folder.
 * @param {string} folder
 * @returns {import('node:fs').Dirent[]}
 * @throws {BenchError} if it cannot be read
 */
function listFolderEntries(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    const { message } = /** @type {Error} */ (cause)
    throw new BenchError(`the runs in ${folder} cannot be listed: ${message}`, { cause })
  }
}

/**
 * Reads when a run started, its experiment, and its answer as one line; without a summary, the number of recorded trials instead.
 * @param {string} folder of a run
 * @returns {{ run: { startedAt: string, experiment: string }, says: string }} says: the answer
 * @throws {BenchError} if a document cannot be read, or is damaged; any error of reporting one whose damage was not found
 */
function readRunWithAnswer(folder) {
  const computed = findComputedKind(folder)
  if (computed) {
    const summary = computed.summarise(computed.read(folder))
    return { run: summary.run, says: computed.answer(summary).verdicts.join(' ') }
  }
  if (!existsSync(path.join(folder, 'summary.json'))) {
    const { manifest, records } = readRun(folder)
    return { run: manifest.run, says: `It goes on, or was cut off: ${records.length} trials are recorded.` }
  }
  const summary = readSummary(folder)
  const fault = findFault(summarySchema, summary)
  if (fault === null) return { run: summary.run, says: createAnswer(summary).verdicts.join(' ') }
  throw new BenchError(`summary.json is damaged: ${fault}; ${renderCommand('report', folder)} reads the trials`)
}
