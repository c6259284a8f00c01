import {
  describeCaveats,
  divideRounds,
  explainUnbound,
  formatRatio,
  judgeRatios,
  NOT_TESTABLE,
  untested,
  valuesOf,
} from './answers.js'
import { describeConditions, findPair } from './arms.js'

/** Judges a published ratio of two arms by a run. Pure. @import { Answer } from './answers.js' */
/** @import { Summary, SummaryArm } from '../../model/types.ts' @import { Ratio } from './schema.js' */

/**
 * Reproduced: clearly on the same side of 1, the median within the tolerance. Direction only: outside of it, or tested
 * at another cap where only the direction carries over. Contradicted: clearly on the other side.
 * @param {Ratio} relation @param {Summary} summary @returns {Answer}
 */
export function testRatio({ quantity, toQuantity = quantity, of, to, ratio: theirs, tolerance, otherCaps }, summary) {
  const ratiosOf = (/** @type {SummaryArm} */ a, /** @type {SummaryArm} */ b) =>
    divideRounds(valuesOf(a, quantity, of.service), valuesOf(b, toQuantity, to.service))
  const found = findPair({ arms: summary.arms, of, to, otherCaps, valuesOf: ratiosOf })
  if ('why' in found) {
    const missing = summary.notMeasured.filter(({ plane }) => plane === of.plane || plane === to.plane)
    // The reason is told once for the run.
    const reason = missing.length > 0 ? `not measured: ${missing.map(m => m.plane).join(', ')}` : found.why
    return untested(reason)
  }
  const { pair, isAtCap } = found
  const { a, b } = pair
  const { ratio, verdict, why } = judgeRatios({ summary, quantity, a, b, ratios: ratiosOf(a, b) })
  const conditions = describeConditions([a, b], { hasCap: isAtCap })
  const askedCap = of.capCores ?? to.capCores
  const caveats = describeCaveats({ arms: a === b ? [a] : [a, b], quantity, isAtCap, askedCap })
  const answer = (/** @type {Answer['status']} */ status, /** @type {string[]} */ ...reasons) => ({
    status,
    ours: ratio.median === null ? null : `${formatRatio(ratio)} (${conditions})`,
    reason: [...reasons, ...caveats].join('; '),
  })
  // More shards help where a rollout waits for the shards.
  const [fewer, more] = [a, b].toSorted((x, y) => (x.conditions.shards ?? 1) - (y.conditions.shards ?? 1))
  const isOfShards = fewer.conditions.shards !== more.conditions.shards
  const unbound = isOfShards ? explainUnbound({ arm: fewer, quantity, over: 'shards' }) : null
  if (unbound !== null) return answer(NOT_TESTABLE, unbound)
  if (ratio.median === null || (verdict !== 'lower' && verdict !== 'higher')) return answer(NOT_TESTABLE, why)
  if (verdict !== (theirs < 1 ? 'lower' : 'higher')) return answer('contradicted', 'on the other side of 1')
  if (!isAtCap && otherCaps === 'direction') return answer('direction only', 'only the direction carries over')
  const isWithin = Math.abs(ratio.median / theirs - 1) <= tolerance
  return isWithin ? answer('reproduced') : answer('direction only', 'outside of the tolerance')
}
