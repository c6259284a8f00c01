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
 * Renders a title, what is missing, the pictures of which the answer left rows out, the sections of a run, and the commands and
 * files that show more. Of a run without arms it renders only that nothing was measured, and why.
 * @param {Summary} summary
 * @param {DetailOptions} [options]
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
    [renderTitle(summary), ...missing],
    ...renderCutPictures(answer, { more }),
    ...renderSectionsText(createSummarySections(summary, claims)),
    [
      ...(hasNotMeasured ? listHeadedLines('Not measured:', listNotMeasuredCommands(answer)) : []),
      ...(folder === null
        ? []
        : listHeadedLines('More:', listFurtherCommands(folder, { hasPage, hasClaims: claims.length > 0 }))),
    ],
  ])
}

/**
 * Renders the experiment, its links, the lengths of its windows, and the target or the host of the load.
 * @param {Summary} summary
 */
function renderTitle(summary) {
  const { machine, run } = summary
  const arms = listArms(summary)
  const [{ target }] = arms
  const lengths = [...new Set(arms.map(arm => arm.load.windowSeconds))]
  const onTarget = target === 'local' ? '' : `, on ${target}${machine.node ? ` (${machine.node})` : ''}`
  const where = machine.loadHost ? `, load from ${machine.loadHost.host}` : onTarget
  const windows = hasAny(summary, 'hasWindows') ? `, ${lengths.join(' and ')} s windows` : ''
  return `${run.experiment}, ${renderLinks(arms)}${windows}${where}`
}

/** @param {Answer} answer */
function listNotMeasuredCommands({ notMeasured }) {
  return notMeasured.flatMap(({ what, commands }) =>
    commands.map(({ command, gives }) => `${what}: ${command} (${gives})`),
  )
}

/**
 * Lists files and commands, each with what it shows.
 * @param {string} folder
 * @param {{ hasPage: boolean, hasClaims: boolean }} options
 */
function listFurtherCommands(folder, { hasPage, hasClaims }) {
  return [
    `${hasPage ? `${folder}/report.html` : renderCommand('report', `${folder} --format html`)}: charts, every trial, where the numbers are from`,
    ...(hasClaims ? [`${renderCommand('claims', folder)}: each published claim, theirs and ours`] : []),
    `${renderCommand('verify', folder)}: every number again, from the raw files`,
  ]
}

/**
 * @param {string} heading
 * @param {string[]} lines
 */
function listHeadedLines(heading, lines) {
  return lines.length === 0 ? [] : [heading, ...lines.flatMap(line => wrapText(line, '  ', '    '))]
}
