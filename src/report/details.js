import { hasResultWith } from '../kinds/sections.js'
import { renderCommand } from '../lib/render-command.js'
import { joinParts, wrapText } from '../lib/text-table.js'
import { listArms } from '../model/results.js'
import { createAnswer } from './answer/answer.js'
import { renderCutPictures } from './answer/text.js'
import { renderLinks } from './arms-table.js'
import { createSummarySections } from './document.js'
import { renderNotMeasuredPlanes } from './missing.js'
import { renderSectionsText } from './section-text.js'

/** Every quantity, check and definition of a run, for `--details` on a terminal. Pure. */
/**
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Summary } from '../model/types.ts'
 * @import { Answer } from './answer/answer.js'
 */

/**
 * The run beside its summary, and the screen above the details.
 * @typedef {object} DetailOptions
 * @property {string | null} [folder] of the run, as printed; null (by default): its files are not named
 * @property {boolean} [hasPage] the folder has report.html; true by default
 * @property {string[]} [warnings] sentences on what the run lacks
 * @property {ClaimResult[]} [claims]
 * @property {Answer} [answer] of the run; by default that of the summary alone
 * @property {string[]} [more] last lines of the answer's screen; by default none
 */

/**
 * Renders a title, what is missing, the pictures whose rows the answer left out, the sections of a run, and the
 * commands and files that show more. Without arms it renders only that nothing was measured, and why.
 * @param {Summary} summary
 * @param {DetailOptions} [options]
 * @returns {string} lines, with an empty line between the parts
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function renderDetailsText(summary, options = {}) {
  const { folder = null, hasPage = true, warnings = [], claims = [], more = [] } = options
  const { answer = createAnswer(summary) } = options
  const arms = listArms(summary)
  const missing = [...warnings, ...renderNotMeasuredPlanes(summary.notMeasured)].flatMap(line => wrapText(line))
  if (arms.length === 0) return joinParts([[`${summary.run.experiment}: nothing was measured`, ...missing]])
  const hasLoadedRounds = hasResultWith(summary, 'hasRounds') && arms[0].load.kind !== 'idle'
  const notMeasured = hasLoadedRounds ? renderNotMeasuredCommands(answer) : []
  const furtherCommands =
    folder === null ? [] : renderFurtherCommands(folder, { hasPage, hasClaims: claims.length > 0 })
  return joinParts([
    [renderRunTitle(summary), ...missing],
    ...renderCutPictures(answer, { more }),
    ...renderSectionsText(createSummarySections(summary, claims)),
    [...renderHeadedLines('Not measured:', notMeasured), ...renderHeadedLines('More:', furtherCommands)],
  ])
}

/**
 * Renders the experiment, its links, the lengths of its windows if it has any, and the target or the host of the load if they
 * are not this machine.
 * @param {Summary} summary with at least one arm
 * @returns {string}
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
function renderRunTitle(summary) {
  const { machine, run } = summary
  const arms = listArms(summary)
  const [{ target }] = arms
  const lengths = [...new Set(arms.map(arm => arm.load.windowSeconds))]
  const windows = hasResultWith(summary, 'hasWindows') ? `, ${lengths.join(' and ')} s windows` : ''
  const targetText = target === 'local' ? '' : `, on ${target}${machine.node ? ` (${machine.node})` : ''}`
  const hostText = machine.loadHost ? `, load from ${machine.loadHost.host}` : targetText
  return `${run.experiment}, ${renderLinks(arms)}${windows}${hostText}`
}

/**
 * Renders the commands that would measure what was not measured.
 * @param {Answer} answer
 * @returns {string[]} a line for each command; [] if no command measures it
 */
function renderNotMeasuredCommands({ notMeasured }) {
  return notMeasured.flatMap(({ what, commands }) =>
    commands.map(({ command, gives }) => `${what}: ${command} (${gives})`),
  )
}

/**
 * Renders the page (or the command that writes it) and the further commands on a run, each with what it shows.
 * @param {string} folder of the run
 * @param {{ hasPage: boolean, hasClaims: boolean }} options
 * @returns {string[]} a line for each
 */
function renderFurtherCommands(folder, { hasPage, hasClaims }) {
  const page = hasPage ? `${folder}/report.html` : renderCommand('report', `${folder} --format html`)
  return [
    `${page}: charts, every trial, where the numbers are from`,
    ...(hasClaims ? [`${renderCommand('claims', folder)}: each published claim, theirs and ours`] : []),
    `${renderCommand('verify', folder)}: every number again, from the raw files`,
  ]
}

/**
 * Renders lines below a heading, wrapped and indented.
 * @param {string} heading
 * @param {string[]} lines
 * @returns {string[]} [] without lines
 */
function renderHeadedLines(heading, lines) {
  return lines.length === 0 ? [] : [heading, ...lines.flatMap(line => wrapText(line, '  ', '    '))]
}
