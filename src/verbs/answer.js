import { existsSync } from 'node:fs'
import path from 'node:path'
import { PRIMARY } from '../judge/quantities.js'
import { renderCommand } from '../lib/render-command.js'
import { ROUNDS_LEAST } from '../lib/stats.js'
import { listComparisons } from '../model/results.js'
import { PAGE } from '../records/files.js'
import { readRun } from '../records/records.js'
import { createAnswer } from '../report/answer/answer.js'
import { COLUMNS_MOST } from '../report/answer/clip.js'
import { renderAnswerText } from '../report/answer/text.js'
import { renderDetailsText } from '../report/details.js'
import { computeRunSeconds } from '../report/document.js'
import { renderUnfinishedRun } from '../report/missing.js'
import { evaluateRunClaims } from './read-claims.js'

/**
 * The text of a run on a terminal: `bench` and `size` print it at the end, and `report` for its folder.
 * @import { Manifest, Summary } from '../model/types.ts'
 * @import { NotMeasured } from '../answer/picture.js'
 */
/** @import { Answered } from '../kinds/sections.js' */

/** The folder of all runs, in the current folder. */
export const RESULTS = 'results'

/**
 * A run, and how to print it.
 * @typedef {object} RunText
 * @property {Summary} summary
 * @property {string} folder of the run
 * @property {boolean} [details] every quantity, check and definition instead of the answer; false by default
 * @property {Pick<ReturnType<typeof readRun>, 'manifest' | 'records'>} [run] if it was read already
 * @property {boolean} [hasPage] report.html is in the folder; absent: it is looked for
 * @property {Answered['place']} [place] the nodes that the sidecars of `size` will run on
 * @property {string[]} [hints] lines of the verb, before those that say where the report is
 * @property {boolean} [isReport] the verb is `report`, so the hint for more numbers may be "the same with --details"; false by
 *   default
 */

/**
 * Renders the answer of a run, or all of its details, with the places of the report and of more numbers.
 * @param {RunText} options
 * @returns {string} lines for a terminal
 * @throws {import('../lib/errors.js').BenchError} if the records cannot be read, or a result is of a kind that this version of the kit
 *   does not have; with `details`, as `evaluateRunClaims`
 */
export function renderRunText({
  summary,
  folder,
  details = false,
  run = readRun(folder),
  hasPage = existsSync(path.join(folder, PAGE)),
  place,
  hints = [],
  isReport = false,
}) {
  const shownFolder = path.relative('', folder) || folder
  const unfinished = renderUnfinishedRun({ ...run, summary })
  const runAnswer = createAnswer(summary, { seconds: computeRunSeconds(run), unfinished, place })
  const missing = listMissingRepeats({ summary, manifest: run.manifest, folder: shownFolder })
  const answer = { ...runAnswer, notMeasured: [...missing, ...runAnswer.notMeasured] }
  const moreLines = [...hints, ...renderMoreLines({ folder: shownFolder, hasPage, isReport })]
  if (!details) return renderAnswerText(answer, { more: moreLines })
  const claims = evaluateRunClaims(summary)
  return renderDetailsText(summary, {
    folder: shownFolder,
    hasPage,
    warnings: unfinished,
    claims,
    answer,
    more: moreLines,
  })
}

/** Words that a shell takes as they are. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/

/**
 * Lists the repeats that an interrupted run lacks, or those that a pair without an interval lacks, with the command that measures them.
 * @param {{ summary: Summary, manifest: Manifest, folder: string }} run folder: as printed
 * @returns {NotMeasured[]} one; []: none are missing, the run is not one of `bench`, or its command cannot be repeated as text
 */
function listMissingRepeats({ summary, manifest, folder }) {
  const { command = [], ended, precision, rounds, settings } = manifest
  const [verb, ...words] = command
  if (verb !== 'bench') return []
  const createEntry = (/** @type {string} */ what, /** @type {string} */ options) => [
    { what, why: '', commands: [{ command: renderCommand('bench', options), gives: what }] },
  ]
  if (ended === 'interrupted') {
    // Processes that a run watches have ended with it.
    const canResume = !settings.keepsServices && PLAIN_WORD.test(folder)
    return canResume ? createEntry('the rest of this run', `--resume ${folder}`) : []
  }
  const primaries = [PRIMARY.name, ...summary.shows.quantities.slice(0, 1)]
  const hasPairs = listComparisons(summary).some(
    ({ isControl, quantity, verdict }) => !isControl && verdict === 'indicative' && primaries.includes(quantity),
  )
  const isRepeatable = words.every(word => PLAIN_WORD.test(word) && word !== '--' && word !== '--resume')
  if (precision || !hasPairs || rounds >= ROUNDS_LEAST || !isRepeatable) return []
  // The folder of this run is taken, and its time may be too short for more repeats.
  const otherWords = ['--rounds', '--out', '--max-minutes'].reduce(removeOption, words)
  return createEntry('an interval', [...otherWords, `--rounds ${ROUNDS_LEAST}`].join(' '))
}

/**
 * Removes an option with its value, as `--name value` or `--name=value`.
 * @param {string[]} words of a command line
 * @param {string} name
 * @returns {string[]} the other words
 */
function removeOption(words, name) {
  return words.filter((word, i) => word !== name && words[i - 1] !== name && !word.startsWith(`${name}=`))
}

/**
 * Renders the places of the report and of more numbers: on one line, if it fits into COLUMNS_MOST with the long or the short hint.
 * @param {{ folder: string, hasPage: boolean, isReport: boolean }} options folder: as printed; isReport: `report` prints them,
 *   of any run, and the short hint "the same with --details" is true
 * @returns {string[]} one line; two: they are too long for one
 */
function renderMoreLines({ folder, hasPage, isReport }) {
  const page = hasPage ? `${folder}/report.html` : renderCommand('report', `${folder} --format html`)
  // Without a folder, `report --details` prints the last run: the one that has just ended.
  const args = path.dirname(folder) === RESULTS && !isReport ? '--details' : `${folder} --details`
  const hints = [renderCommand('report', args), ...(isReport ? ['the same with --details'] : [])]
  const [longLines, ...shortLines] = hints.map(hint => [`Report: ${page}`, `More numbers: ${hint}`])
  const fittingLine = [longLines, ...shortLines]
    .map(lines => lines.join('    '))
    .find(line => line.length <= COLUMNS_MOST)
  return fittingLine === undefined ? longLines : [fittingLine]
}
