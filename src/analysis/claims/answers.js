import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { BOUND_LEAST } from '../../kinds/rollout/numbers.js'
import { renderInterval } from '../../lib/units.js'
import { AXES, renderArmName } from '../../model/arms.js'
import { listComparisons } from '../../model/results.js'
import { listPairDisparities } from '../../parity/verdict/rows.js'
import { chooseRoundsLeast, computeGapLeast, hasTooManySpoiledRounds, judgeRounds } from '../verdict.js'

/** Judges and renders the parts that the answers to all kinds of claims share. Pure. */
/** @import { AxisName, Quantity, Summary, SummaryArm, Verdict } from '../../model/types.ts' */

export const NOT_TESTABLE = 'not testable here'
export const CLAIM_STATUSES = /** @type {const} */ (['reproduced', 'direction only', 'contradicted', NOT_TESTABLE])

/**
 * The answer of a run to a claim.
 * @typedef {object} ClaimAnswer
 * @property {typeof CLAIM_STATUSES[number]} status
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
 * @typedef {object} ClaimQuantity
 * @property {string} label
 * @property {(arm: SummaryArm, service?: string) => Quantity} find finds that of one service's sidecar or, without a service, of the
 *   arm; its median is null if there is none
 * @property {(value: number) => string} format renders a value without a unit
 */

/** Claims can name these quantities. @type {Record<string, ClaimQuantity>} */
export const CLAIM_QUANTITIES = {
  ...Object.fromEntries(
    Object.values(QUANTITIES).map(row => [
      row.name,
      /** @satisfies {ClaimQuantity} */ ({
        label: row.label,
        find: (arm, service) => findQuantity(arm, row.name, service),
        format: value => formatValue(row, value),
      }),
    ]),
  ),
  // In a closed loop every user always waits for an answer, so Little's law gives the mean time of a request: users / throughput.
  meanByLittle: {
    label: 'users / throughput, ms',
    find: arm => {
      const { median, low, high, values } = findQuantity(arm, 'throughput')
      const computeMs = (/** @type {number | null} */ rate) => (rate ? (1000 * arm.load.users) / rate : null)
      return { median: computeMs(median), low: computeMs(high), high: computeMs(low), values: values.map(computeMs) }
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
  return CLAIM_QUANTITIES[quantity].find(arm, service).values
}

/**
 * Says whether the results of a run decided how many rounds it has, so that only the intervals of a confidence sequence hold.
 * @param {Summary} summary
 */
export function isSequentialRun({ precision, isCutShort }) {
  return precision !== undefined || isCutShort === true
}

/**
 * Judges the ratios of two arms' rounds by the rule of verdicts (`judgeRounds`). Arms of one contender need no equal work.
 * @param {{ summary: Summary, quantity: string, a: SummaryArm, b: SummaryArm, ratios: (number | null)[] }} options ratios: a/b
 *   by round; null: a spoiled round
 * @returns {{ ratio: Quantity, verdict: Verdict, why: string }} why: for a verdict other than `lower` and `higher`
 */
export function judgeRatios({ summary, quantity, a, b, ratios }) {
  const isSequential = isSequentialRun(summary)
  const sides = { a: { arm: a, rows: summary.parity }, b: { arm: b, rows: summary.parity } }
  const relaxed = summary.relaxes.map(r => r.gate)
  const disparities = renderArmName(a) === renderArmName(b) ? [] : listPairDisparities({ ...sides, relaxed })
  const { ratio, verdict } = judgeRounds({
    values: ratios,
    seed: summary.run.seed,
    isSequential,
    gapLeast: computeGapLeast(summary.precision?.width),
    aaSpread: findLargestAaSpread(summary, quantity),
    isSpoiled: disparities.length > 0 || hasTooManySpoiledRounds(ratios, isSequential),
  })
  const why = renderUndecidedReason({ ratio, verdict, disparities, quantity, arms: [a, b], isSequential })
  return { ratio, verdict, why }
}

/**
 * Renders why there is no verdict `lower` or `higher`.
 * @param {{ ratio: Quantity, verdict: Verdict, disparities: string[], quantity: string, arms: SummaryArm[], isSequential: boolean }}
 *   judgement
 * @returns {string}
 */
function renderUndecidedReason({ ratio, verdict, disparities, quantity, arms, isSequential }) {
  const { length } = ratio.values
  const missing = ratio.values.filter(value => value === null).length
  if (verdict === 'no-difference-shown') return 'no difference shown'
  if (verdict === 'indicative')
    return `indicative only: ${renderRatioWithInterval(ratio)} in ${length - missing} rounds, ${chooseRoundsLeast(isSequential)} are needed`
  if (disparities.length > 0) return `no equal work: ${disparities.join('; ')}`
  if (length === 0) return `${quantity} was not measured`
  return `no value in ${missing} of ${length} rounds${renderSpoiledArms(arms, quantity)}`
}

/**
 * Renders a ratio with its interval, if it has one: `0.52 [0.50, 0.55]`.
 * @param {Quantity} ratio
 * @returns {string} `-` without a median
 */
export function renderRatioWithInterval(ratio) {
  const format = (/** @type {number} */ value) => value.toFixed(chooseRatioDecimals(value))
  return ratio.median === null ? '-' : `${format(ratio.median)}${renderInterval(ratio, format)}`
}

/** Chooses the decimals of a ratio, for about three significant digits. @param {number} ratio */
function chooseRatioDecimals(ratio) {
  if (ratio < 0.1) return 4
  return ratio < 10 ? 2 : 1
}

/**
 * Renders the limits of an answer: a CPU limit other than the published one, times at saturation, and (for a throughput) arms
 * that something other than the sidecar bound.
 * @param {{ arms: SummaryArm[], quantity: string, isAtCap: boolean, namedLimit: number | undefined }} options arms: at least one;
 *   isAtCap: they have the published CPU limit, or none was published; namedLimit: that limit, in cores; undefined: none
 * @returns {string[]} []: nothing limits it
 */
export function renderCaveats({ arms, quantity, isAtCap, namedLimit }) {
  const cap = Math.max(...arms.map(arm => arm.cpuLimitCores ?? 0))
  const unboundArms = quantity === 'throughput' ? arms.filter(isBoundByOther) : []
  return [
    ...(isAtCap ? [] : [`at ${cap || 'no'} cores; published at ${namedLimit}`]),
    ...(arms[0].load.kind === 'closed' && /^p\d/.test(quantity) ? ['response times at saturation'] : []),
    ...unboundArms.map(arm => `${renderArmName(arm)} was bound by ${arm.boundBy}`),
  ]
}

/** Says whether something other than the sidecar bound an arm. @param {SummaryArm} arm */
const isBoundByOther = ({ boundBy }) => boundBy !== 'sidecar' && boundBy !== null

/**
 * Renders the gates that spoiled arms and, for a capacity, what bound the arms: ` (pipy steady; envoy bound by host)`.
 * @param {SummaryArm[]} arms
 * @param {string} quantity
 * @returns {string} with a leading space; empty: no gate spoiled them, and nothing else bound them
 */
export function renderSpoiledArms(arms, quantity) {
  const parts = [...new Set(arms)].flatMap(arm => {
    const bound = quantity === 'capacity' && isBoundByOther(arm) ? [`bound by ${arm.boundBy}`] : []
    const causes = [...bound, ...new Set(arm.spoiled.map(s => s.gate))]
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
function findLargestAaSpread(summary, quantity) {
  const spreads = listComparisons(summary)
    .filter(c => c.isControl && c.quantity === quantity && c.service === null)
    .flatMap(({ ratio }) => (ratio.median === null ? [] : Math.abs(ratio.median - 1)))
  return spreads.length > 0 ? Math.max(...spreads) : null
}

/**
 * The phases of a control plane: a pattern of the names of their times, and the quantity with the share of the phase in which the
 * control plane was at its limit.
 * @type {{ times: RegExp, share: string }[]}
 */
const PHASES = [
  { times: /^(rolloutSeconds|startingSeconds|firstConfig)/, share: 'controlAtLimitRollout' },
  { times: /^change(All|P|Max)/, share: 'controlAtLimitChange' },
]

/**
 * Renders why the time of a phase says nothing about the control plane. Either it was seldom at its limit, or its share of the phase
 * at the limit is not known.
 * @param {{ arm: SummaryArm, quantity: string, over: AxisName }} options over: the axis whose value is named
 * @returns {string | null} null: it was at its limit for BOUND_LEAST of the phase, or the quantity is not the time of a phase
 */
export function renderUnboundPhase({ arm, quantity, over }) {
  const phase = PHASES.find(({ times }) => times.test(quantity))
  if (!phase) return null
  const share = findQuantity(arm, phase.share).median
  if (share !== null && share >= BOUND_LEAST) return null
  const axisValue = AXES[over].render(AXES[over].readValue(arm))
  return share === null
    ? `whether the control plane bound is not known (${axisValue})`
    : `the control plane did not bind (${axisValue}: at its limit for ${Math.round(100 * share)} % of the time)`
}
