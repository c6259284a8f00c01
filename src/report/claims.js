import { CLAIM_STATUSES, NOT_TESTABLE } from '../analysis/claims/answers.js'
import { groupBy } from '../lib/group-by.js'
import { alignLeft, wrapText } from '../lib/text-table.js'

/** Renders claims and answers for the terminal, and creates their section of a document. Pure. */
/**
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Block, Section } from './section.js'
 */

const STATUS_WIDTH = 19
const INDENT = ' '.repeat(2 + STATUS_WIDTH)

/**
 * Renders claims by the file of their source, then the number of claims by status. An answer names its run if there are several.
 * @param {ClaimResult[]} results
 * @param {string[]} experiments of the runs. Claims on others are rendered, too, but counted as one number.
 * @returns {string[]} lines
 */
export function renderClaims(results, experiments) {
  const hasManyRuns = new Set(results.map(result => result.runId).filter(Boolean)).size > 1
  const sources = [...groupBy(results, result => result.file).values()]
  const countedClaims = listClaimsOnExperiments(results, experiments)
  const otherCount = results.length - countedClaims.length
  return [
    ...sources.flatMap(source => renderSourceClaims(source, hasManyRuns)),
    renderStatusCounts(countedClaims),
    ...(otherCount > 0 ? [`Of other experiments, or of none: ${otherCount}.`] : []),
  ]
}

/**
 * Creates the answer: how many claims of each publisher have each status, and which the runs contradict. Claims on other
 * experiments count only in the verdict that none could be tested.
 * @param {ClaimResult[]} results
 * @param {string[]} experiments of the runs
 * @returns {import('./answer/answer.js').Answer} without a picture if no claim is on these experiments
 */
export function createClaimsAnswer(results, experiments) {
  const countedClaims = listClaimsOnExperiments(results, experiments)
  const contradictedClaims = countedClaims.filter(({ status }) => status === 'contradicted')
  const testedClaims = countedClaims.filter(({ status }) => status !== NOT_TESTABLE)
  const publishers = [...groupBy(countedClaims, ({ source }) => source.publisher)]
  const rows = publishers.map(([label, claims]) => ({
    label,
    cells: CLAIM_STATUSES.map(status => ({
      text: `${countStatus(claims, status)}`,
      value: countStatus(claims, status),
    })),
  }))
  return {
    conditions: ['claims', [...new Set(experiments)].join(', '), 'published numbers against these runs'],
    pictures: rows.length > 0 ? [{ columns: CLAIM_STATUSES.map(heading => ({ heading })), rows }] : [],
    verdicts: [
      testedClaims.length === 0
        ? `None of ${results.length} published claims could be tested by these runs.`
        : `Of ${testedClaims.length} published claims that could be tested, ${countStatus(testedClaims, 'reproduced')} are reproduced, ${countStatus(testedClaims, 'direction only')} in their direction only, and ${contradictedClaims.length} contradicted.`,
    ],
    basis: [],
    warnings: contradictedClaims.map(
      ({ id, theirs, ours }) => `Contradicted: ${id}: theirs ${theirs ?? '-'}, ours ${ours ?? '-'}.`,
    ),
    notMeasured: [],
  }
}

/**
 * Lists the claims on some experiments.
 * @param {ClaimResult[]} results
 * @param {string[]} experiments
 * @returns {ClaimResult[]} without claims that name no experiment
 */
function listClaimsOnExperiments(results, experiments) {
  return results.filter(({ experiment }) => experiment !== null && experiments.includes(experiment))
}

/**
 * Counts the claims with a status.
 * @param {ClaimResult[]} results
 * @param {ClaimResult['status']} status
 * @returns {number}
 */
function countStatus(results, status) {
  return results.filter(result => result.status === status).length
}

/**
 * Renders the number of claims by status, and the ids of contradicted ones.
 * @param {ClaimResult[]} results
 * @returns {string[]} one or two sentences; [] without claims
 */
export function renderClaimCounts(results) {
  if (results.length === 0) return []
  const contradictedIds = results.filter(result => result.status === 'contradicted').map(result => result.id)
  return [
    `Of ${renderStatusCounts(results, 'published claims')}`,
    ...(contradictedIds.length > 0 ? [`Contradicted: ${contradictedIds.join(', ')}.`] : []),
  ]
}

/**
 * Groups the ids of claims that could not be tested, by the reason.
 * @param {ClaimResult[]} results
 * @returns {{ reason: string, ids: string[] }[]} [] if all were tested
 */
export function groupUntested(results) {
  const untestedClaims = results.filter(result => result.status === NOT_TESTABLE)
  return [...groupBy(untestedClaims, result => result.reason)].map(([reason, claims]) => ({
    reason,
    ids: claims.map(({ id }) => id),
  }))
}

/**
 * Renders the title of a source, its tested claims, the others by the reason, and an empty line.
 * @param {ClaimResult[]} results of one source, at least one
 * @param {boolean} hasManyRuns there are several runs, so that each answer names its own
 * @returns {string[]} lines
 */
function renderSourceClaims(results, hasManyRuns) {
  const [{ source }] = results
  const untestedGroups = groupUntested(results)
  return [
    ...wrapText(`${source.title} (${source.publisher})`),
    ...(source.unlike ? wrapText(`unlike here: ${source.unlike}`, '  ') : []),
    ...results.filter(result => result.status !== NOT_TESTABLE).flatMap(result => renderClaim(result, hasManyRuns)),
    ...(untestedGroups.length > 0 ? [`  ${NOT_TESTABLE}:`] : []),
    ...untestedGroups.flatMap(({ reason, ids }) => [
      ...wrapText(`${reason}:`, '    '),
      ...wrapText(ids.join(', '), '      '),
    ]),
    '',
  ]
}

/**
 * Renders the status of a claim with its sentence, then both numbers and the reason.
 * @param {ClaimResult} result
 * @param {boolean} hasManyRuns there are several runs: name that of the answer
 * @returns {string[]} lines
 */
function renderClaim({ id, says, status, theirs, ours, reason, runId, isDeployed }, hasManyRuns) {
  const numbers = [theirs && `theirs ${theirs}`, ours && `ours ${ours}`].filter(Boolean).join(', ')
  const run = hasManyRuns && runId !== null ? ` [${runId}]` : ''
  const answer = `${[numbers, reason].filter(Boolean).join(': ')}${run}`
  const [first, ...more] = wrapText(`${id}${isDeployed ? ', as deployed' : ''}: ${says}`, INDENT)
  return [`  ${status.padEnd(STATUS_WIDTH)}${first.trimStart()}`, ...more, ...wrapText(answer, INDENT)]
}

/**
 * Renders how many claims have each status: `9 claims: 5 reproduced, …`.
 * @param {ClaimResult[]} results
 * @param {string} [noun] `claims` by default
 * @returns {string}
 */
function renderStatusCounts(results, noun = 'claims') {
  const counts = CLAIM_STATUSES.map(status => `${countStatus(results, status)} ${status}`)
  return `${results.length} ${noun}: ${counts.join(', ')}.`
}

/**
 * Creates the section of published claims: their number by status, the tested ones, and why others were not tested.
 * @param {ClaimResult[]} results
 * @returns {Section} without lines and tables if there are no claims, so that formats leave it out
 */
export function createClaimsSection(results) {
  const testedClaims = results.filter(claim => claim.status !== NOT_TESTABLE)
  const tables = [
    {
      caption: 'Published claims, and what this run says to them',
      columns: alignLeft('answer', 'claim', 'theirs', 'ours', 'why'),
      rows: testedClaims.map(({ status, says, theirs, ours, reason, source, isDeployed }) => {
        const from = `${source.publisher}${isDeployed ? '; here as deployed' : ''}`
        return [status, `${says} (${from})`, theirs ?? '-', ours ?? '-', reason]
      }),
    },
    {
      caption: 'Claims that this run could not test, by the reason',
      columns: alignLeft('why', 'claims'),
      rows: groupUntested(results).map(({ reason, ids }) => [reason, ids.join(', ')]),
    },
  ].filter(({ rows }) => rows.length > 0)
  return {
    id: 'claims',
    name: 'Published claims',
    blocks: [
      { type: 'sentences', lines: renderClaimCounts(results) },
      ...tables.map(
        table => /** @type {Block} */ ({ type: 'table', on: 'documents', form: 'prose', isFolded: true, table }),
      ),
    ],
  }
}
