import { PRIMARY } from '../judge/quantities.js'
import { extrapolateCount, SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { ROUNDS_LEAST, summariseRatios, summariseSequence } from '../lib/stats.js'
import { GAP_LEAST, ROUNDS_MOST } from '../model/bounds.js'

/** The rule of a verdict, for a fixed number of rounds and for a number that their precision decides. Pure. */
/** @import { Comparison, Manifest, Precision, Quantity, Verdict } from '../model/types.ts' */

export { GAP_LEAST }
/** The smallest gap that is a difference between arms that stood side by side, as a share. */
export const GAP_LEAST_BESIDE = 0.01
// The shares of spoiled rounds that a run may have, until a precision and with a fixed number of rounds: in a run of many
// rounds some meet a gate, and these few hardly move a median.
const SPOILED_MOST = 0.1
const SPOILED_MOST_OF_FIXED = 0.05

/**
 * Computes the smallest gap that counts as a difference if there is an A/A pair: half of the target width, at most GAP_LEAST.
 * @param {number} [width] of the intervals that the run aims at; absent: the number of rounds is fixed, and GAP_LEAST applies
 * @returns {number} a fraction
 */
export function computeGapLeast(width) {
  return width === undefined ? GAP_LEAST : Math.min(GAP_LEAST, width / 2)
}

/**
 * Chooses the fewest rounds that have an interval.
 * @param {boolean} isSequence the results decided how many rounds there are
 * @returns {number}
 */
export function chooseRoundsLeast(isSequence) {
  return isSequence ? SEQUENCE_LEAST : ROUNDS_LEAST
}

/**
 * Says whether too many rounds have no ratio.
 * @param {(number | null)[]} values ratios by round; null: a spoiled round
 * @param {boolean} isSequence the results decided how many rounds there are
 * @returns {boolean} false also: there are too few rounds for an interval
 */
export function areSpoiled(values, isSequence) {
  return values.length >= chooseRoundsLeast(isSequence) && countCuringRounds(values, isSequence) > 0
}

/**
 * Computes how many further good rounds bring the share of spoiled rounds below the limit.
 * @param {(number | null)[]} values null: a spoiled round
 * @param {boolean} isSequence the results decided how many rounds there are
 * @returns {number} 0: few enough are spoiled; Infinity: the number of rounds is fixed, so no further round can help
 */
export function countCuringRounds(values, isSequence) {
  const missing = values.filter(value => value === null).length
  if (isSequence) return Math.max(0, Math.ceil(missing / SPOILED_MOST) - values.length)
  return missing <= SPOILED_MOST_OF_FIXED * values.length ? 0 : Infinity
}

/**
 * @typedef {object} RatiosToJudge
 * @property {(number | null)[]} values of the rounds
 * @property {number} seed of the resampling
 * @property {boolean} isSequence the results decided how many rounds there are
 * @property {number} [gapLeast] a smaller gap is no difference; GAP_LEAST by default
 * @property {number | null} aaSpread the A/A difference as a share; null: there is no A/A pair, and GAP_LEAST applies instead of
 *   `gapLeast`
 * @property {boolean} isSpoiled there is no verdict
 */

/**
 * Judges the ratios of rounds.
 * @param {RatiosToJudge} options
 * @returns {{ ratio: Quantity, verdict: Verdict, gapLeast: number }} gapLeast: the gap that applied, a fraction
 */
export function judgeRounds({ values, seed, isSequence, gapLeast = GAP_LEAST, aaSpread, isSpoiled }) {
  const ratio = isSequence ? summariseSequence(values) : summariseRatios(values, seed)
  const appliedGap = aaSpread === null ? GAP_LEAST : gapLeast
  const floor = Math.max(appliedGap, aaSpread ?? 0)
  return { ratio, verdict: chooseVerdict({ ratio, floor, isSpoiled }), gapLeast: appliedGap }
}

/**
 * Chooses the verdict on a ratio of a to b.
 * @param {{ ratio: Quantity, floor: number, isSpoiled: boolean }} options floor: the noise floor, a fraction: a median that is
 *   nearer to 1 shows no difference
 * @returns {Verdict} `invalid`: spoiled, or no median; `indicative`: no interval; `no-difference-shown`: the interval contains
 *   1, or the median is nearer to 1 than the floor; else `lower` or `higher`: a relative to b
 */
export function chooseVerdict({ ratio: { median, low, high }, floor, isSpoiled }) {
  if (median === null || isSpoiled) return 'invalid'
  if (low === null || high === null) return 'indicative'
  if ((low <= 1 && high >= 1) || Math.abs(median - 1) < floor) return 'no-difference-shown'
  return median < 1 ? 'lower' : 'higher'
}

/** @typedef {NonNullable<Manifest['precision']>} PrecisionTarget */

/**
 * Computes how near the intervals of CPU per request are to the target. A/A pairs and single sidecars do not count.
 * @param {{ target: PrecisionTarget, rounds: number, comparisons: Comparison[] }} run comparisons: those of arms that the run
 *   still measures
 * @returns {Precision} isReached: false also without any pair; width: null without an interval; roundsMore: rounds still
 *   needed, 0: none, null: not known, or too many
 */
export function computePrecision({ target, rounds, comparisons }) {
  const pairs = comparisons
    .filter(c => c.quantity === PRIMARY.name && c.service === null && !c.isControl)
    .map(({ a, b, link, cpuLimitCores, load, conditions, contrast, ratio }) => {
      const width = computeIntervalWidth(ratio)
      const isNarrow = isPrecise(ratio, target.width)
      const roundsMore = isNarrow ? 0 : estimateNeededRounds(ratio, target.width)
      return { a, b, link, cpuLimitCores, load, conditions, contrast, width, isNarrow, roundsMore }
    })
  return { ...target, rounds, isReached: pairs.length > 0 && pairs.every(pair => pair.isNarrow), pairs }
}

/**
 * Says whether an interval is at most as wide as the target, with few spoiled rounds.
 * @param {Quantity} ratio
 * @param {number} widthMost target, high / low - 1
 * @returns {boolean} false also: there is no interval
 */
function isPrecise(ratio, widthMost) {
  const width = computeIntervalWidth(ratio)
  return width !== null && width <= widthMost && !areSpoiled(ratio.values, true)
}

/**
 * Computes the width of an interval, high / low - 1.
 * @param {Quantity} ratio
 * @returns {number | null} null: there is no interval
 */
function computeIntervalWidth({ low, high }) {
  return low === null || high === null ? null : high / low - 1
}

/**
 * Estimates how many more rounds the target width needs, from the spread of the ratios so far.
 * @param {Quantity} ratio
 * @param {number} widthMost target, high / low - 1
 * @returns {number | null} null: not known (fewer than three ratios), or more than the kit allows
 */
function estimateNeededRounds({ values, ...ratio }, widthMost) {
  const logs = values.flatMap(value => (value === null ? [] : [Math.log(value)]))
  // The spread of two ratios says too little to extrapolate from.
  if (logs.length < 3) return null
  const width = computeIntervalWidth({ values, ...ratio })
  const isWide = width === null || width > widthMost
  const count = isWide
    ? extrapolateCount({ values: logs, width: Math.log(1 + widthMost), most: ROUNDS_MOST })
    : logs.length
  return count && Math.max(isWide ? 1 : 0, count - logs.length, countCuringRounds(values, true))
}
