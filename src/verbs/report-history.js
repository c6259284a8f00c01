import { existsSync } from 'node:fs'
import path from 'node:path'
import { createHistory } from '../analysis/history.js'
import { BenchError } from '../lib/errors.js'
import { writeAtomically } from '../records/files.js'
import { readRun } from '../records/records.js'
import { createHistoryDocument, renderHistoryHtml, renderHistoryText } from '../report/history.js'
import { renderBenchfmt, renderOtava } from '../report/history-exports.js'
import { renderHistoryMarkdown } from '../report/markdown.js'
import { listRunFolders } from './list-runs.js'
import { readPageAssets } from './report-assets.js'

/** @import { History } from '../analysis/history.js' */

/**
 * Formats of a history: text to print, or the paths of the files written to `out`.
 * @type {Record<string, (history: History, out: string) => string>}
 */
export const HISTORY_FORMATS = {
  text: history => renderHistoryText(createHistoryDocument(history)),
  html: (history, out) =>
    writeAtomically(out, 'history.html', renderHistoryHtml(createHistoryDocument(history), readPageAssets())),
  md: history => renderHistoryMarkdown(createHistoryDocument(history)).trimEnd(),
  json: history => JSON.stringify(history, null, 2),
  benchfmt: renderBenchfmt,
  otava: (history, out) =>
    renderOtava(history)
      .map(({ name, content }) => writeAtomically(path.join(out, 'otava'), name, content))
      .join('\n'),
}

/**
 * Reads the comparable runs of a folder over time. Runs that cannot be read are left out, with the reason in
 * `history.left`.
 * @param {string} folder of runs, or one run, which is compared with the runs beside it
 * @returns {{ history: History, root: string, warnings: string[] }} root: the folder of the runs; warnings: about
 *   damaged lines of records
 * @throws {BenchError} if there is no such folder, it cannot be listed, or the named run cannot be read or is a link
 */
export function readHistory(folder) {
  const isRun = existsSync(path.join(folder, 'manifest.json'))
  const namedRun = isRun ? path.relative('', folder) || '.' : undefined
  const root = isRun ? path.dirname(path.resolve(folder)) : folder
  const runs = []
  const unread = []
  const warnings = []
  for (const runFolder of listRunFolders(path.relative('', root) || '.')) {
    try {
      const { manifest, records, ...run } = readRun(runFolder)
      runs.push({ folder: runFolder, manifest, records })
      warnings.push(...run.warnings)
    } catch (error) {
      unread.push({ folder: runFolder, reasons: [/** @type {Error} */ (error).message] })
    }
  }
  if (namedRun !== undefined && !runs.some(run => run.folder === namedRun)) {
    const why = unread.find(run => run.folder === namedRun)?.reasons[0] ?? `it is no folder of ${root}, but a link`
    throw new BenchError(`cannot draw the history of ${namedRun}: ${why}; name another run, or the folder of all runs`)
  }
  const history = createHistory(runs, namedRun)
  return { history: { ...history, left: [...history.left, ...unread] }, root, warnings }
}
