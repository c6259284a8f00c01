import { NOT_TESTABLE, STATUSES } from '../analysis/claims/answers.js'

/**
 * Claims and what runs here say to them, for the terminal. Pure.
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 */

const COLUMNS = 120
const STATUS_WIDTH = 19
const INDENT = ' '.repeat(2 + STATUS_WIDTH)

/**
 * Grouped by source: the status of each claim, what is published, theirs and ours, and the reason; and how many there
 * are of each status.
 * @param {ClaimResult[]} results
 * @param {{ experiment?: string | null, isBrief?: boolean }} [options] experiment: only the claims that it tests; null: all;
 *   isBrief: of those not testable here, their names and reasons only
 * @returns {string[]} lines; none where there is no claim
 */
export function renderClaims(results, { experiment = null, isBrief = false } = {}) {
  const shown = results.filter(result => experiment === null || result.experiment === experiment)
  if (shown.length === 0) return []
  const files = [...new Set(shown.map(result => result.file))]
  const hasRuns = new Set(shown.map(result => result.runId).filter(Boolean)).size > 1
  const groups = files.map(file => shown.filter(result => result.file === file))
  return [...groups.flatMap(results => renderSource(results, { hasRuns, isBrief })), countStatuses(shown)]
}

/**
 * @param {ClaimResult[]} results of one source
 * @param {{ hasRuns: boolean, isBrief: boolean }} options hasRuns: whether to say of which run an answer is
 */
function renderSource(results, { hasRuns, isBrief }) {
  const [{ source }] = results
  return [
    ...wrap(`${source.title} (${source.publisher})`, ''),
    ...(source.unlike ? wrap(`unlike here: ${source.unlike}`, '  ') : []),
    ...results.flatMap(result =>
      isBrief && result.status === NOT_TESTABLE ? renderUntested(result) : renderClaim(result, hasRuns),
    ),
    '',
  ]
}

/**
 * @param {ClaimResult} result
 * @param {boolean} hasRuns
 */
function renderClaim({ id, says, status, theirs, ours, reason, runId }, hasRuns) {
  const numbers = [theirs && `theirs ${theirs}`, ours && `ours ${ours}`].filter(Boolean).join(', ')
  const run = hasRuns && runId !== null ? ` [${runId}]` : ''
  const answer = `${[numbers, reason].filter(Boolean).join(': ')}${run}`
  const [first, ...more] = wrap(`${id}: ${says}`, INDENT)
  return [`  ${status.padEnd(STATUS_WIDTH)}${first.trimStart()}`, ...more, ...wrap(answer, INDENT)]
}

/** @param {ClaimResult} result */
function renderUntested({ id, status, reason }) {
  return wrap(`${status.padEnd(STATUS_WIDTH)}${id}: ${reason}`, '  ')
}

/** @param {ClaimResult[]} results */
function countStatuses(results) {
  const counts = STATUSES.map(status => `${results.filter(result => result.status === status).length} ${status}`)
  return `${results.length} claims: ${counts.join(', ')}.`
}

/**
 * Lines of at most 120 columns, broken between words.
 * @param {string} text
 * @param {string} indent
 */
function wrap(text, indent) {
  /** @type {string[]} */
  const lines = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${indent}${word}`)
  }
  return lines
}
