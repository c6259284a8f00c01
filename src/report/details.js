import { hasAny } from '../kinds/sections.js'
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
 * @typedef {object} DetailOptions
 * @property {string | null} [folder] of the run, as printed; null (by default): its files are not named
 * @property {boolean} [hasPage] it has report.html; by default it has
 * @property {string[]} [warnings] sentences on what the run lacks
 * @property {ClaimResult[]} [claims]
 * @property {Answer} [answer] of the run; by default that of the summary alone
 * @property {string[]} [more] lines at the end of the answer's screen; by default none
 */

/**
 * Renders a title, what is missing, the pictures whose rows the answer left out, the sections of a run, and the
 * commands and files that show more. Without arms it renders only that nothing was measured, and why.
 * @param {Summary} summary
 * @param {DetailOptions} [options]
 * @returns {string}
 */
export function renderDetailsText(
  summary,
  { folder = null, hasPage = true, warnings = [], claims = [], ...options } = {},
) {
  const { run, notMeasured } = summary
  const { answer = createAnswer(summary), more = [] } = options
  const arms = listArms(summary)
  const missing = [...warnings, ...renderNotMeasuredPlanes(notMeasured)].flatMap(line => wrapText(line))
  if (arms.length === 0) return joinParts([[`${run.experiment}: nothing was measured`, ...missing]])
  const hasNotMeasured = hasAny(summary, 'hasRounds') && arms[0].load.kind !== 'idle'
  return joinParts([
    [renderRunTitle(summary), ...missing],
    ...renderCutPictures(answer, { more }),
    ...renderSectionsText(createSummarySections(summary, claims)),
    [
      ...(hasNotMeasured ? renderHeadedLines('Not measured:', renderNotMeasuredCommands(answer)) : []),
      ...(folder === null
        ? []
        : renderHeadedLines('More:', renderFurtherCommands(folder, { hasPage, hasClaims: claims.length > 0 }))),
    ],
  ])
}

/**
 * Renders the experiment, its links, the lengths of its windows, and the target or the host of the load.
 * @param {Summary} summary
 * @returns {string}
 */
function renderRunTitle(summary) {
  const { machine, run } = summary
  const arms = listArms(summary)
  const [{ target }] = arms
  const lengths = [...new Set(arms.map(arm => arm.load.windowSeconds))]
  const onTarget = target === 'local' ? '' : `, on ${target}${machine.node ? ` (${machine.node})` : ''}`
  const place = machine.loadHost ? `, load from ${machine.loadHost.host}` : onTarget
  const windows = hasAny(summary, 'hasWindows') ? `, ${lengths.join(' and ')} s windows` : ''
  return `${run.experiment}, ${renderLinks(arms)}${windows}${place}`
}

/**
 * Renders the commands that would measure what was not measured.
 * @param {Answer} answer
 * @returns {string[]} a line for each; []: there are none
 */
function renderNotMeasuredCommands({ notMeasured }) {
  return notMeasured.flatMap(({ what, commands }) =>
    commands.map(({ command, gives }) => `${what}: ${command} (${gives})`),
  )
}

/**
 * Renders files and commands, each with what it shows.
 * @param {string} folder of the run
 * @param {{ hasPage: boolean, hasClaims: boolean }} options
 * @returns {string[]} lines
 */
function renderFurtherCommands(folder, { hasPage, hasClaims }) {
  return [
    `${hasPage ? `${folder}/report.html` : renderCommand('report', `${folder} --format html`)}: charts, every trial, where the numbers are from`,
    ...(hasClaims ? [`${renderCommand('claims', folder)}: each published claim, theirs and ours`] : []),
    `${renderCommand('verify', folder)}: every number again, from the raw files`,
  ]
}

/**
 * Renders lines below a heading, wrapped and indented.
 * @param {string} heading
 * @param {string[]} lines
 * @returns {string[]} []: there are no lines
 */
function renderHeadedLines(heading, lines) {
  return lines.length === 0 ? [] : [heading, ...lines.flatMap(line => wrapText(line, '  ', '    '))]
}
