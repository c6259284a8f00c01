import { divideRounds } from '../../judge/record/measures.js'
import { listArms } from '../../model/results.js'
import {
  createUntestableAnswer,
  judgeRatios,
  listRoundValues,
  NOT_TESTABLE,
  renderCaveats,
  renderRatioWithInterval,
  renderUnboundPhase,
} from './answers.js'
import { findArmPair, renderArmConditions } from './arms.js'

/**
 * Judges a published ratio of two arms by a run. Pure.
 * @import { Summary, SummaryArm } from '../../model/types.ts'
 * @import { ClaimAnswer } from './answers.js'
 * @import { Ratio } from './schema.js'
 */

/**
 * Tests a ratio. Reproduced: clearly on the same side of 1, the median within the tolerance. Direction only: outside of the
 * tolerance, or at another CPU limit if only the direction carries over. Contradicted: clearly on the other side. Not testable:
 * the run has no such pair, no difference is shown, or shards were compared that the control plane did not need.
 * @param {Ratio} relation
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if the run has no such pair, or the pair has no ratio
 */
export function testRatio(relation, summary) {
  const { quantity, toQuantity = quantity, of: numerator, to: denominator, otherCaps } = relation
  const computeRatios = (/** @type {SummaryArm} */ a, /** @type {SummaryArm} */ b) =>
    divideRounds(listRoundValues(a, quantity, numerator.service), listRoundValues(b, toQuantity, denominator.service))
  const selection = findArmPair({ arms: listArms(summary), numerator, denominator, otherCaps, computeRatios })
  if ('why' in selection) {
    const planes = [numerator.plane, denominator.plane]
    const missingPlanes = summary.notMeasured.flatMap(({ plane }) => (planes.includes(plane) ? [plane] : []))
    // The report says once for the whole run why a plane was not measured.
    const why = missingPlanes.length > 0 ? `not measured: ${missingPlanes.join(', ')}` : selection.why
    return createUntestableAnswer(why)
  }
  const { pair, isAtCap } = selection
  const { a, b } = pair
  const judgement = judgeRatios({ summary, quantity, a, b, ratios: computeRatios(a, b) })
  const namedLimit = numerator.cpuLimitCores ?? denominator.cpuLimitCores
  const caveats = renderCaveats({ arms: a === b ? [a] : [a, b], quantity, isAtCap, namedLimit })
  const conditions = renderArmConditions([a, b], { hasCap: isAtCap })
  const unboundReason = renderUnboundByShards([a, b], quantity)
  const { status, reasons } = chooseRatioStatus(relation, { ...judgement, isAtCap, unboundReason })
  return {
    status,
    ours: judgement.ratio.median === null ? null : `${renderRatioWithInterval(judgement.ratio)} (${conditions})`,
    reason: [...reasons, ...caveats].join('; '),
  }
}

/**
 * Chooses the status of a published ratio by the judged one.
 * @param {Ratio} relation
 * @param {ReturnType<typeof judgeRatios> & { isAtCap: boolean, unboundReason: string | null }} judgement isAtCap: the arms have the
 *   published CPU limits; unboundReason: why more shards cannot help; null: they can
 * @returns {{ status: ClaimAnswer['status'], reasons: string[] }} reasons: [] if it is reproduced
 */
function chooseRatioStatus({ ratio: theirs, tolerance, otherCaps }, judgement) {
  const { ratio, verdict, why, isAtCap, unboundReason } = judgement
  if (unboundReason !== null) return { status: NOT_TESTABLE, reasons: [unboundReason] }
  if (ratio.median === null || (verdict !== 'lower' && verdict !== 'higher'))
    return { status: NOT_TESTABLE, reasons: [why] }
  if (verdict !== (theirs < 1 ? 'lower' : 'higher'))
    return { status: 'contradicted', reasons: ['on the other side of 1'] }
  if (!isAtCap && otherCaps === 'direction')
    return { status: 'direction only', reasons: ['only the direction carries over'] }
  const isWithin = Math.abs(ratio.median / theirs - 1) <= tolerance
  return isWithin
    ? { status: 'reproduced', reasons: [] }
    : { status: 'direction only', reasons: ['outside of the tolerance'] }
}

/**
 * Renders why more shards cannot help. With fewer of them the control plane was seldom at its limit, or its share of the phase at the
 * limit is not known.
 * @param {SummaryArm[]} pair
 * @param {string} quantity
 * @returns {string | null} null: it was at its limit, both arms have the same number of shards, or the quantity is not the time of a
 *   phase
 */
function renderUnboundByShards(pair, quantity) {
  const [fewer, more] = pair.toSorted((x, y) => (x.conditions.shards ?? 1) - (y.conditions.shards ?? 1))
  if ((fewer.conditions.shards ?? 1) === (more.conditions.shards ?? 1)) return null
  return renderUnboundPhase({ arm: fewer, quantity, over: 'shards' })
}
