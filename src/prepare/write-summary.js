import { summarise } from '../analysis/summarise.js'
import { writeDocument } from '../records/files.js'
import { readRun } from '../records/records.js'

/**
 * Summarises the records on disk, and writes summary.json.
 * @param {string} folder of the run
 * @returns {import('../model/types.ts').Summary}
 */
export function writeSummary(folder) {
  const summary = summarise(readRun(folder))
  writeDocument(folder, 'summary.json', summary)
  return summary
}
