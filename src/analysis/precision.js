import { PRIMARY } from '../judge/quantities.js'
import { extrapolateCount } from '../lib/confidence-sequence.js'
import { ROUNDS_MOST } from '../model/bounds.js'

/**
 * How narrow the intervals of the primary quantity are, in a run that goes on until they are narrow enough. Pure.
 * @import { Comparison, Manifest, Precision } from '../model/types.ts'
 */

/** @typedef {NonNullable<Manifest['precision']>} AskedPrecision */

/**
 * @param {{ asked: AskedPrecision, rounds: number, comparisons: Comparison[] }} run
 * @returns {Precision}
 */
export function measurePrecision({ asked, rounds, comparisons }) {
  const pairs = comparisons
    .filter(c => c.quantity === PRIMARY.name && c.service === null && !c.isControl)
    .map(({ a, b, link, capCores, load, conditions, contrast, ratio }) => {
      const { low, high, values } = ratio
      const logs = values.flatMap(value => (value === null ? [] : [Math.log(value)]))
      const width = low === null || high === null ? null : high / low - 1
      const isNarrow = width !== null && width <= asked.width
      return {
        ...{ a, b, link, capCores, load, conditions, contrast, width, isNarrow },
        roundsMore: isNarrow ? 0 : countMore(logs, asked.width),
      }
    })
  return { ...asked, rounds, isReached: pairs.length > 0 && pairs.every(pair => pair.isNarrow), pairs }
}

/**
 * @param {number[]} logs of the ratios so far
 * @param {number} width
 * @returns {number | null} null: not known, or more than a run can have
 */
function countMore(logs, width) {
  // Two ratios have a spread, and say little by it.
  if (logs.length < 3) return null
  const count = extrapolateCount({ values: logs, width: Math.log(1 + width), most: ROUNDS_MOST })
  return count && Math.max(1, count - logs.length)
}
