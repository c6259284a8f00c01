import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { BOUND_LEAST } from '../../kinds/rollout/numbers.js'
import { renderInterval } from '../../lib/units.js'
import { AXES, renderArmName } from '../../model/arms.js'
import { listComparisons } from '../../model/results.js'
import { findDisparities } from '../../parity/verdict/rows.js'
import { areSpoiled, chooseRoundsLeast, computeGapLeast, judgeRounds } from '../verdict.js'

/** Parts that the answers to all kinds of claims share. Pure. */
/** @import { AxisName, Quantity, Summary, SummaryArm, Verdict } from '../../model/types.ts' */

export const NOT_TESTABLE = 'not testable here'
export const STATUSES = /** @type {const} */ (['reproduced', 'direction only', 'contradicted', NOT_TESTABLE])

/**
 * The answer of a run to a claim.
 * @typedef {object} ClaimAnswer
 * @property {typeof STATUSES[number]} status
 * @property {string | null} ours the run's own number with its conditions; null: it has none
 * @property {string} reason empty if the status says all
 */

/**
 * Creates an answer that judges nothing.
 * @param {string} reason why the claim cannot be tested
 * @param {string | null} [ours] the run's own number; null: it has none
 * @returns {ClaimAnswer}
 */
export function createUntestableAnswer(reason, ours = null) {
  return { status: NOT_TESTABLE, ours, reason }
}

/**
 * A quantity that a claim can name.
 * @typedef {object} Claimed
 * @property {string} label
 * @property {(arm: SummaryArm, service?: string) => Quantity} of one service's sidecar or, without a service, of the arm
 * @property {(value: number) => string} format without a unit
 */

/** @type {Record<string, Claimed>} */
export const CLAIM_QUANTITIES = {
  ...Object.fromEntries(
    Object.values(QUANTITIES).map(row => [
      row.name,
      /** @satisfies {Claimed} */ ({
        label: row.label,
        of: (arm, service) => findQuantity(arm, row.name, service),
        format: value => formatValue(row, value),
      }),
    ]),
  ),
  // Mean time of a request in ms by Little's law: users / throughput, if every user waits for an answer all the time (closed loop).
  meanByLittle: {
    label: 'users / throughput, ms',
    of: arm => {
      const { median, low, high, values } = findQuantity(arm, 'throughput')
      const toMs = (/** @type {number | null} */ rate) => (rate ? (1000 * arm.load.users) / rate : null)
      return { median: toMs(median), low: toMs(high), high: toMs(low), values: values.map(toMs) }
    },
    format: value => value.toFixed(1),
  },
}

/**
 * Lists the values of a quantity by round.
 * @param {SummaryArm} arm
 * @param {string} quantity a name of CLAIM_QUANTITIES
 * @param {string} [service] whose sidecar
 * @returns {(number | null)[]} null: the round has no good trial; []: the arm does not have the quantity
 */
export function listRoundValues(arm, quantity, service) {
  return CLAIM_QUANTITIES[quantity].of(arm, service).values
}

/**
 * Judges the ratios of two arms' rounds by the rule of verdicts (`judgeRounds`). Arms of one contender need no equal work.
 * @param {{ summary: Summary, quantity: string, a: SummaryArm, b: SummaryArm, ratios: (number | null)[] }} options ratios: a/b
 *   by round; null: a spoiled round
 * @returns {{ ratio: Quantity, verdict: Verdict, why: string }} why: the reason for a verdict other than lower and higher
 */
export function judgeRatios({ summary, quantity, a, b, ratios }) {
  const isSequence = summary.precision !== undefined || summary.isCutShort === true
  const sides = { a: { arm: a, rows: summary.parity }, b: { arm: b, rows: summary.parity } }
  const relaxed = summary.relaxes.map(r => r.gate)
  const disparities = renderArmName(a) === renderArmName(b) ? [] : findDisparities({ ...sides, relaxed })
  const missing = ratios.filter(r => r === null).length
  const { ratio, verdict } = judgeRounds({
    values: ratios,
    seed: summary.run.seed,
    isSequence,
    gapLeast: computeGapLeast(summary.precision?.width),
    aaSpread: findWidestSpread(summary, quantity),
    isSpoiled: disparities.length > 0 || areSpoiled(ratios, isSequence),
  })
  return { ratio, verdict, why: renderReason() }

  /**
   * Renders why there is no verdict `lower` or `higher`.
   * @returns {string}
   */
  function renderReason() {
    if (verdict === 'no-difference-shown') return 'no difference shown'
    if (verdict === 'indicative')
      return `indicative only: ${formatRatio(ratio)} in ${ratios.length - missing} rounds, ${chooseRoundsLeast(isSequence)} are needed`
    if (disparities.length > 0) return `no equal work: ${disparities.join('; ')}`
    if (ratios.length === 0) return `${quantity} was not measured`
    return `no value in ${missing} of ${ratios.length} rounds${renderSpoiledArms([a, b], quantity)}`
  }
}

/**
 * Renders a ratio with its interval, if it has one: `0.52 [0.50, 0.55]`.
 * @param {Quantity} ratio
 * @returns {string} `-` without a median
 */
export function formatRatio(ratio) {
  const format = (/** @type {number} */ value) => value.toFixed(value < 0.1 ? 4 : value < 10 ? 2 : 1)
  return ratio.median === null ? '-' : `${format(ratio.median)}${renderInterval(ratio, format)}`
}

/**
 * Renders what limits an answer: a CPU limit other than the published one, times at saturation, and (for a throughput) arms
 * that something other than the sidecar bound.
 * @param {{ arms: SummaryArm[], quantity: string, isAtCap: boolean, namedLimit: number | undefined }} options isAtCap: the arms
 *   have the published CPU limit; namedLimit: that limit, in cores
 * @returns {string[]} []: nothing limits it
 */
export function renderCaveats({ arms, quantity, isAtCap, namedLimit }) {
  const cap = Math.max(...arms.map(arm => arm.cpuLimitCores ?? 0))
  const bound = quantity === 'throughput' ? arms.filter(arm => arm.boundBy !== 'sidecar' && arm.boundBy !== null) : []
  return [
    ...(isAtCap ? [] : [`at ${cap || 'no'} cores; published at ${namedLimit}`]),
    ...(arms[0].load.kind === 'closed' && /^p\d/.test(quantity) ? ['response times at saturation'] : []),
    ...bound.map(arm => `${renderArmName(arm)} was bound by ${arm.boundBy}`),
  ]
}

/**
 * Renders the gates that spoiled arms and, for a capacity, what bound the arms: ` (pipy steady; envoy bound by host)`.
 * @param {SummaryArm[]} arms
 * @param {string} quantity
 * @returns {string} with a leading space; empty: no gate spoiled them
 */
export function renderSpoiledArms(arms, quantity) {
  const parts = [...new Set(arms)].flatMap(arm => {
    const isUnbound = quantity === 'capacity' && arm.boundBy !== 'sidecar' && arm.boundBy !== null
    const causes = [...(isUnbound ? [`bound by ${arm.boundBy}`] : []), ...new Set(arm.spoiled.map(s => s.gate))]
    return causes.length > 0 ? [`${renderArmName(arm)} ${causes.join(', ')}`] : []
  })
  return parts.length > 0 ? ` (${parts.join('; ')})` : ''
}

/**
 * Finds the largest A/A difference of a quantity over all sidecars together.
 * @param {Summary} summary
 * @param {string} quantity
 * @returns {number | null} a fraction; null: there is no measured A/A pair
 */
function findWidestSpread(summary, quantity) {
  const spreads = listComparisons(summary)
    .filter(c => c.isControl && c.quantity === quantity && c.service === null)
    .flatMap(({ ratio }) => (ratio.median === null ? [] : Math.abs(ratio.median - 1)))
  return spreads.length > 0 ? Math.max(...spreads) : null
}

/** Names of the times of each phase, and the quantity with the share of it in which the control plane was at its limit. @type {[RegExp, string][]} */
const PHASES = [
  [/^(rolloutSeconds|startingSeconds|firstConfig)/, 'controlAtLimitRollout'],
  [/^change(All|P|Max)/, 'controlAtLimitChange'],
]

/**
 * Renders that the control plane did not bind the phase of a time, or that it is unknown whether it did.
 * @param {{ arm: SummaryArm, quantity: string, over: AxisName }} options over: the axis whose value is named
 * @returns {string | null} null: the control plane bound the phase, or the quantity is not the time of a phase
 */
export function renderUnboundPhase({ arm, quantity, over }) {
  const phase = PHASES.find(([times]) => times.test(quantity))
  if (!phase) return null
  const share = findQuantity(arm, phase[1]).median
  if (share !== null && share >= BOUND_LEAST) return null
  const axisValue = AXES[over].render(AXES[over].of(arm))
  return share === null
    ? `whether the control plane bound is not known (${axisValue})`
    : `the control plane did not bind (${axisValue}: at its limit for ${Math.round(100 * share)} % of the time)`
}
