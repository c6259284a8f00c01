import { PRIMARY } from '../judge/quantities.js'
import { extrapolateCount } from '../lib/confidence-sequence.js'
import { ROUNDS_MOST } from '../model/bounds.js'
import { areSpoiled, countUncured } from './verdict.js'

/** The precision of a run that goes on until the intervals of the primary quantity are narrow enough. Pure. */
/** @import { Comparison, Manifest, Precision, Quantity } from '../model/types.ts' */
/** @typedef {NonNullable<Manifest['precision']>} AskedPrecision */

/** @param {{ asked: AskedPrecision, rounds: number, comparisons: Comparison[] }} run @returns {Precision} */
export function measurePrecision({ asked, rounds, comparisons }) {
  const pairs = comparisons
    .filter(c => c.quantity === PRIMARY.name && c.service === null && !c.isControl)
    .map(({ a, b, link, capCores, load, conditions, contrast, ratio }) => {
      const width = widthOf(ratio)
      const isNarrow = isPrecise(ratio, asked.width)
      const roundsMore = isNarrow ? 0 : countMore(ratio, asked.width)
      return { a, b, link, capCores, load, conditions, contrast, width, isNarrow, roundsMore }
    })
  return { ...asked, rounds, isReached: pairs.length > 0 && pairs.every(pair => pair.isNarrow), pairs }
}

/** Says whether an interval is narrow enough, with few spoiled rounds. @param {Quantity} ratio @param {number} asked */
export function isPrecise(ratio, asked) {
  const width = widthOf(ratio)
  return width !== null && width <= asked && !areSpoiled(ratio.values, true)
}

/** @param {Quantity} ratio */
function widthOf({ low, high }) {
  return low === null || high === null ? null : high / low - 1
}

/** Counts rounds still needed; null: not known, or too many. @param {Quantity} ratio @param {number} asked */
function countMore({ values, ...ratio }, asked) {
  const logs = values.flatMap(value => (value === null ? [] : [Math.log(value)]))
  // Two ratios have a spread, and say little by it.
  if (logs.length < 3) return null
  const width = widthOf({ values, ...ratio })
  const isWide = width === null || width > asked
  const count = isWide ? extrapolateCount({ values: logs, width: Math.log(1 + asked), most: ROUNDS_MOST }) : logs.length
  return count && Math.max(isWide ? 1 : 0, count - logs.length, countUncured(values, true))
}
