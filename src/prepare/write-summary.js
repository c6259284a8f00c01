import { summarise } from '../analysis/summarise.js'
import { writeDocument } from '../records/files.js'
import { readRun } from '../records/records.js'

/**
 * Makes summary.json from the records on disk, and returns it.
 * @param {string} folder of the run
 */
export function writeSummary(folder) {
  const summary = summarise(readRun(folder))
  writeDocument(folder, 'summary.json', summary)
  return summary
}
