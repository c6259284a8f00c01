import { existsSync } from 'node:fs'
import path from 'node:path'
import { renderCommand } from '../lib/render-command.js'
import { PAGE } from '../records/files.js'

/** @import { Context } from './program.js' */

/**
 * Opens the report of a run. Its code is loaded here, since that of charts takes long to load.
 * @param {Parameters<typeof import('./write-report.js').openReport>[0]} run
 * @returns the functions of `openReport`
 * @throws {import('../lib/errors.js').BenchError} as `openReport`
 */
export async function loadReport(run) {
  const { openReport } = await import('./write-report.js')
  return openReport(run)
}

/**
 * Writes report.md and report.html of a run. It does not throw.
 * @param {string} folder of the run
 * @param {Pick<Context, 'say'>} context
 * @returns {Promise<boolean>} false: one could not be written, and a line on stderr says why
 */
export async function writeDocuments(folder, { say }) {
  try {
    const { readSummary } = await import('../records/records.js')
    const report = await loadReport({ folder, summary: readSummary(folder) })
    report.write()
    return true
  } catch (error) {
    say(
      `no report was written: ${/** @type {Error} */ (error).message}; try ${renderCommand('report', `${folder} --format html`)}`,
    )
    return false
  }
}

/**
 * Prints the path of the results, and that of report.html if it is there.
 * @param {string} folder of a run
 * @param {Pick<Context, 'say'>} context
 */
export function announceResults(folder, { say }) {
  const where = path.relative('', folder) || folder
  const page = path.join(where, PAGE)
  say(`results: ${where}${existsSync(page) ? `; to look at: ${page}` : ''}`)
}
