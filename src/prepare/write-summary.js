import { summarise } from '../analysis/summarise.js'
import { writeDocument } from '../records/files.js'
import { readRun } from '../records/records.js'

/**
 * Summarises the records of a run, and writes summary.json into its folder.
 * @param {string} folder of the run
 * @returns {import('../model/types.ts').Summary}
 * @throws {import('../lib/errors.js').BenchError} if the folder holds no run, or the file cannot be written; as `summarise`
 */
export function writeSummary(folder) {
  const summary = summarise(readRun(folder))
  writeDocument(folder, 'summary.json', summary)
  return summary
}
