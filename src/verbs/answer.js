import { existsSync } from 'node:fs'
import path from 'node:path'
import { renderCommand } from '../lib/render-command.js'
import { PAGE } from '../records/files.js'
import { readRun } from '../records/records.js'
import { createAnswer } from '../report/answer/answer.js'
import { COLUMNS_MOST, renderAnswerText } from '../report/answer/text.js'
import { renderDetailsText } from '../report/details.js'
import { findSeconds } from '../report/document.js'
import { renderUnfinishedRun } from '../report/missing.js'
import { answerClaims } from './read-claims.js'

/**
 * The text of a run on a terminal: `bench` and `size` print it at the end, and `report` for its folder.
 * @import { Summary } from '../model/types.ts'
 */
/** @import { Answered } from '../kinds/sections.js' */

/** The folder of all runs, in the current folder. */
export const RESULTS = 'results'

/**
 * @typedef {object} Printed
 * @property {Summary} summary
 * @property {string} folder of the run
 * @property {boolean} [details] every quantity, check and definition instead of the answer
 * @property {Pick<ReturnType<typeof readRun>, 'manifest' | 'records'>} [run] if it was read already
 * @property {boolean} [hasPage] report.html is in the folder
 * @property {Answered['place']} [place] the nodes that the sidecars of `size` will run on
 * @property {string[]} [hints] lines of the verb, before those that say where the report is
 * @property {boolean} [isReport] the verb is `report`, so the hint for more numbers may be "the same with --details"
 */

/**
 * Renders the answer of a run, or its details.
 * @param {Printed} printed
 * @throws {import('../lib/errors.js').BenchError} if the records cannot be read
 */
export function renderRunText({
  summary,
  folder,
  details = false,
  run = readRun(folder),
  place,
  hints = [],
  isReport = false,
  ...options
}) {
  const { hasPage = existsSync(path.join(folder, PAGE)) } = options
  const where = path.relative('', folder) || folder
  const unfinished = renderUnfinishedRun({ ...run, summary })
  const answer = createAnswer(summary, { seconds: findSeconds(run), unfinished, place })
  const more = [...hints, ...renderMoreLines({ folder: where, hasPage, isReport })]
  if (!details) return renderAnswerText(answer, { more })
  const claims = answerClaims(summary)
  return renderDetailsText(summary, { folder: where, hasPage, warnings: unfinished, claims, answer, more })
}

/**
 * Renders where the report and more numbers are, on one line if it fits, which may take a shorter hint.
 * @param {{ folder: string, hasPage: boolean, isReport: boolean }} options
 */
function renderMoreLines({ folder, hasPage, isReport }) {
  const page = hasPage ? `${folder}/report.html` : renderCommand('report', `${folder} --format html`)
  // Without a folder, `report --details` prints the last run.
  const last = path.dirname(folder) === RESULTS ? '--details' : `${folder} --details`
  const ways = [renderCommand('report', last), ...(isReport ? ['the same with --details'] : [])]
  const [whole, ...shorter] = ways.map(way => [`Report: ${page}`, `More numbers: ${way}`])
  const fitting = [whole, ...shorter].map(parts => parts.join('    ')).find(line => line.length <= COLUMNS_MOST)
  return fitting === undefined ? whole : [fitting]
}
