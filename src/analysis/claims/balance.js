import { summariseValues } from '../../lib/stats.js'
import { ALGORITHMS } from '../../model/balance.js'
import { BALANCE_QUANTITIES } from '../../model/balance-quantities.js'
import { createUntestableAnswer, renderRatioWithInterval } from './answers.js'

/** Judges a published ratio of two assignments by a run of `balance`. Pure. */
/**
 * @import { BalanceSummary } from '../../model/types.ts'
 * @import { ClaimAnswer } from './answers.js'
 */
/** @import { BalanceRatio } from './schema.js' */

/**
 * Tests a published ratio of two assignments by their differences over the seeds, whose interval must exclude 0. The ratio is
 * one of medians, since either may be 0 in a seed. Not testable: the run has other items or shards, lacks a side or seeds for
 * an interval, or shows no difference.
 * @param {BalanceRatio} relation
 * @param {BalanceSummary} summary
 * @returns {ClaimAnswer} ours: null if the run lacks the numbers of the claim, or an interval
 */
export function testBalance(relation, { form, rows }) {
  const { quantity, of: numerator, to: denominator, items, shards, ratio: theirs, tolerance } = relation
  if (form.items !== items || form.shards !== shards)
    return createUntestableAnswer(`of ${items} items on ${shards} shards, here ${form.items} on ${form.shards}`)
  const [a, b] = [numerator, denominator].map(
    side => rows.find(row => row.algorithm === side.algorithm && row.sizes === side.sizes)?.quantities[quantity],
  )
  if (!a || !b) {
    const { algorithm, sizes } = a ? denominator : numerator
    return createUntestableAnswer(`not computed here: ${ALGORITHMS[algorithm].label}, ${sizes} sizes`)
  }
  const { low, high } = summariseValues(a.values.map((value, i) => Number(value) - Number(b.values[i])))
  if (low === null || high === null) return createUntestableAnswer(`${form.seeds} seeds are too few`)
  const { digits } = BALANCE_QUANTITIES[quantity]
  const [over, under] = [a, b].map(({ median }) => Number(median))
  const ratio = under === 0 ? null : over / under
  const numbers = `${over.toFixed(digits)} to ${under.toFixed(digits)}`
  const text = renderRatioWithInterval({ median: ratio, low: null, high: null, values: [] })
  const ours = ratio === null ? numbers : `${text} (${numbers})`
  if (low <= 0 && high >= 0) return createUntestableAnswer('no difference shown', ours)
  const isLower = high < 0
  if (isLower !== theirs < 1) return { status: 'contradicted', ours, reason: 'on the other side of 1' }
  const isWithin = ratio !== null && Math.abs(ratio / theirs - 1) <= tolerance
  if (isWithin) return { status: 'reproduced', ours, reason: '' }
  return { status: 'direction only', ours, reason: ratio === null ? 'no ratio to 0' : 'outside of the tolerance' }
}
