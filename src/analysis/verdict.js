import { PRIMARY } from '../judge/quantities.js'
import { extrapolateCount, SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { ROUNDS_LEAST, summariseRatios, summariseSequence } from '../lib/stats.js'
import { GAP_LEAST, ROUNDS_MOST } from '../model/bounds.js'

/** Chooses verdicts on ratios, for a fixed number of rounds and for a number that their precision decides. Pure. */
/** @import { Comparison, Manifest, Precision, Quantity, Verdict } from '../model/types.ts' */

/** Between arms that stood side by side, a gap below this fraction is no difference. */
export const GAP_LEAST_BESIDE = 0.01
// The largest share of spoiled rounds with which two arms still get a verdict: if rounds run until --precision, and if their number
// is fixed. Among many rounds some fail a gate, and so few hardly move a median.
const SPOILED_MOST_OF_SEQUENTIAL = 0.1
const SPOILED_MOST_OF_FIXED = 0.05

/**
 * Computes the smallest gap that counts as a difference: half of the target width, at most GAP_LEAST. It applies only where an A/A
 * pair shows the noise.
 * @param {number} [width] of the intervals that the run aims at; absent: the number of rounds is fixed, and GAP_LEAST applies
 * @returns {number} a fraction
 */
export function computeGapLeast(width) {
  return width === undefined ? GAP_LEAST : Math.min(GAP_LEAST, width / 2)
}

/**
 * Chooses the fewest rounds from which a confidence interval can be computed.
 * @param {boolean} isSequential the results decided how many rounds there are
 * @returns {number}
 */
export function chooseRoundsLeast(isSequential) {
  return isSequential ? SEQUENCE_LEAST : ROUNDS_LEAST
}

/**
 * Says whether too many rounds are spoiled for a verdict.
 * @param {(number | null)[]} values ratios by round; null: a spoiled round
 * @param {boolean} isSequential the results decided how many rounds there are
 * @returns {boolean} false also: there are too few rounds for an interval
 */
export function hasTooManySpoiledRounds(values, isSequential) {
  return values.length >= chooseRoundsLeast(isSequential) && computeRoundsUntilFewSpoiled(values, isSequential) > 0
}

/**
 * Computes the number of further good rounds that bring the share of spoiled rounds down to the limit.
 * @param {(number | null)[]} values by round; null: the round has no value (spoiled, or an arm has no trial in it), and counts as spoiled
 * @param {boolean} isSequential the results decided how many rounds there are
 * @returns {number} 0: few enough are spoiled; Infinity: too many are, and the number of rounds is fixed
 */
export function computeRoundsUntilFewSpoiled(values, isSequential) {
  const missing = values.filter(value => value === null).length
  if (isSequential) return Math.max(0, Math.ceil(missing / SPOILED_MOST_OF_SEQUENTIAL) - values.length)
  return missing <= SPOILED_MOST_OF_FIXED * values.length ? 0 : Infinity
}

/**
 * The ratios of the rounds of two arms, and their noise.
 * @typedef {object} RatiosToJudge
 * @property {(number | null)[]} values by round; null: a spoiled round
 * @property {number} seed of the resampling
 * @property {boolean} isSequential the results decided how many rounds there are
 * @property {number} [gapLeast] a smaller gap is no difference; GAP_LEAST by default
 * @property {number | null} aaSpread the A/A difference as a share; null: there is no A/A pair, and GAP_LEAST applies instead of
 *   `gapLeast`
 * @property {boolean} isSpoiled there is no verdict
 */

/**
 * Summarises the ratios of rounds, and chooses the verdict on them.
 * @param {RatiosToJudge} options
 * @returns {{ ratio: Quantity, verdict: Verdict, gapLeast: number }} gapLeast: the gap that applied, a fraction
 */
export function judgeRounds({ values, seed, isSequential, gapLeast = GAP_LEAST, aaSpread, isSpoiled }) {
  const ratio = isSequential ? summariseSequence(values) : summariseRatios(values, seed)
  const appliedGap = aaSpread === null ? GAP_LEAST : gapLeast
  const floor = Math.max(appliedGap, aaSpread ?? 0)
  return { ratio, verdict: chooseVerdict({ ratio, floor, isSpoiled }), gapLeast: appliedGap }
}

/**
 * Chooses the verdict on a ratio of a to b.
 * @param {{ ratio: Pick<Quantity, 'median' | 'low' | 'high'>, floor: number, isSpoiled: boolean }} options floor: the noise floor, a
 *   fraction: a median that is nearer to 1 shows no difference
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
 * @param {number} widthMost the target, high / low - 1
 * @returns {boolean} false also: there is no interval
 */
function isPrecise(ratio, widthMost) {
  const width = computeIntervalWidth(ratio)
  return width !== null && width <= widthMost && !hasTooManySpoiledRounds(ratio.values, true)
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
 * @param {number} widthMost the target, high / low - 1
 * @returns {number | null} at least 1 if there is no interval, or it is too wide; else the good rounds that make up for spoiled ones;
 *   null: not known (fewer than three ratios), or more than ROUNDS_MOST
 */
function estimateNeededRounds(ratio, widthMost) {
  const logs = ratio.values.flatMap(value => (value === null ? [] : [Math.log(value)]))
  // The spread of two ratios says too little to extrapolate from.
  if (logs.length < 3) return null
  const roundsUntilFewSpoiled = computeRoundsUntilFewSpoiled(ratio.values, true)
  const width = computeIntervalWidth(ratio)
  if (width !== null && width <= widthMost) return roundsUntilFewSpoiled
  const count = extrapolateCount({ values: logs, width: Math.log(1 + widthMost), most: ROUNDS_MOST })
  return count === null ? null : Math.max(1, count - logs.length, roundsUntilFewSpoiled)
}
