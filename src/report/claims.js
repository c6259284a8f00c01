import { NOT_TESTABLE, STATUSES } from '../analysis/claims/answers.js'
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
 * Renders claims by source, then the number of claims by answer.
 * @param {ClaimResult[]} results
 * @param {string[]} experiments of the runs; claims on others are only counted together
 * @returns {string[]} lines
 */
export function renderClaims(results, experiments) {
  const hasRuns = new Set(results.map(result => result.runId).filter(Boolean)).size > 1
  const sources = [...groupBy(results, result => result.file).values()]
  const ofExperiments = results.filter(({ experiment }) => experiment !== null && experiments.includes(experiment))
  const others = results.length - ofExperiments.length
  const rest = others > 0 ? [`Of other experiments, or of none: ${others}.`] : []
  return [...sources.flatMap(source => renderSourceClaims(source, hasRuns)), renderStatusCounts(ofExperiments), ...rest]
}

/**
 * Creates the answer: how many claims of each source the runs reproduce, and which they contradict. Claims on other
 * experiments do not count, except in the sentence that none could be tested.
 * @param {ClaimResult[]} results
 * @param {string[]} experiments of the runs
 * @returns {import('./answer/answer.js').Answer}
 */
export function createClaimsAnswer(results, experiments) {
  const ofExperiments = results.filter(({ experiment }) => experiment !== null && experiments.includes(experiment))
  const contradicted = ofExperiments.filter(({ status }) => status === 'contradicted')
  const tested = ofExperiments.filter(({ status }) => status !== NOT_TESTABLE)
  const sources = [...groupBy(ofExperiments, ({ source }) => source.publisher)]
  const count = (/** @type {ClaimResult[]} */ claimResults, /** @type {string} */ status) =>
    claimResults.filter(result => result.status === status).length
  return {
    conditions: ['claims', [...new Set(experiments)].join(', '), 'published numbers against these runs'],
    pictures: [
      {
        columns: STATUSES.map(heading => ({ heading })),
        rows: sources.map(([label, claimResults]) => ({
          label,
          cells: STATUSES.map(status => ({
            text: `${count(claimResults, status)}`,
            value: count(claimResults, status),
          })),
        })),
      },
    ].filter(({ rows }) => rows.length > 0),
    verdicts: [
      tested.length === 0
        ? `None of ${results.length} published claims could be tested by these runs.`
        : `Of ${tested.length} published claims that could be tested, ${count(tested, 'reproduced')} are reproduced, ${count(tested, 'direction only')} in their direction only, and ${contradicted.length} contradicted.`,
    ],
    basis: [],
    warnings: contradicted.map(
      ({ id, theirs, ours }) => `Contradicted: ${id}: theirs ${theirs ?? '-'}, ours ${ours ?? '-'}.`,
    ),
    notMeasured: [],
  }
}

/**
 * Renders the number of claims by status, and the ids of contradicted ones.
 * @param {ClaimResult[]} results
 * @returns {string[]} sentences; []: there are no claims
 */
export function renderClaimCounts(results) {
  if (results.length === 0) return []
  const contradicted = results.filter(result => result.status === 'contradicted').map(result => result.id)
  return [
    `Of ${renderStatusCounts(results).replace('claims', 'published claims')}`,
    ...(contradicted.length > 0 ? [`Contradicted: ${contradicted.join(', ')}.`] : []),
  ]
}

/**
 * Groups the ids of claims that could not be tested, by the reason.
 * @param {ClaimResult[]} results
 * @returns {{ reason: string, ids: string[] }[]} []: all were tested
 */
export function groupUntested(results) {
  const untested = results.filter(result => result.status === NOT_TESTABLE)
  return [...groupBy(untested, result => result.reason)].map(([reason, untestedClaims]) => ({
    reason,
    ids: untestedClaims.map(result => result.id),
  }))
}

/**
 * Renders the claims of a source.
 * @param {ClaimResult[]} results of one source
 * @param {boolean} hasRuns there are several runs, so that each answer names its own
 * @returns {string[]} lines
 */
function renderSourceClaims(results, hasRuns) {
  const [{ source }] = results
  const untested = groupUntested(results)
  return [
    ...wrapText(`${source.title} (${source.publisher})`),
    ...(source.unlike ? wrapText(`unlike here: ${source.unlike}`, '  ') : []),
    ...results.filter(result => result.status !== NOT_TESTABLE).flatMap(result => renderClaim(result, hasRuns)),
    ...(untested.length > 0 ? [`  ${NOT_TESTABLE}:`] : []),
    ...untested.flatMap(({ reason, ids }) => [
      ...wrapText(`${reason}:`, '    '),
      ...wrapText(ids.join(', '), '      '),
    ]),
    '',
  ]
}

/**
 * Renders the status of a claim with its sentence, then both numbers and the reason.
 * @param {ClaimResult} result
 * @param {boolean} hasRuns there are several runs: name that of the answer
 * @returns {string[]} lines
 */
function renderClaim({ id, says, status, theirs, ours, reason, runId, isDeployed }, hasRuns) {
  const numbers = [theirs && `theirs ${theirs}`, ours && `ours ${ours}`].filter(Boolean).join(', ')
  const run = hasRuns && runId !== null ? ` [${runId}]` : ''
  const answer = `${[numbers, reason].filter(Boolean).join(': ')}${run}`
  const [first, ...more] = wrapText(`${id}${isDeployed ? ', as deployed' : ''}: ${says}`, INDENT)
  return [`  ${status.padEnd(STATUS_WIDTH)}${first.trimStart()}`, ...more, ...wrapText(answer, INDENT)]
}

/**
 * Renders how many claims have each status: `9 claims: 5 reproduced, …`.
 * @param {ClaimResult[]} results
 * @returns {string}
 */
function renderStatusCounts(results) {
  const counts = STATUSES.map(status => `${results.filter(result => result.status === status).length} ${status}`)
  return `${results.length} claims: ${counts.join(', ')}.`
}

/**
 * Creates the section of published claims: their number by answer, the tested ones, and why others were not tested.
 * @param {ClaimResult[]} results
 * @returns {Section} without claims, its blocks are empty
 */
export function createClaimsSection(results) {
  const tested = results.filter(claim => claim.status !== NOT_TESTABLE)
  const tables = [
    {
      caption: 'Published claims, and what this run says to them',
      columns: alignLeft('answer', 'claim', 'theirs', 'ours', 'why'),
      rows: tested.map(({ status, says, theirs, ours, reason, source, isDeployed }) => {
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
