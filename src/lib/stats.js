import { medianSorted, quantileSorted } from 'simple-statistics'
import { findSequenceDepth } from './confidence-sequence.js'
import { createRandom } from './random.js'

/**
 * A value per round, their median, and the median's 95 % interval.
 * @typedef {object} Quantity
 * @property {number | null} median null: no round has a value
 * @property {number | null} low null: too few values for an interval
 * @property {number | null} high
 * @property {(number | null)[]} values null: the round has none
 */

const CONFIDENCE = 0.95
/** Below this many rounds nothing has an interval: the range of five values covers the median with 93.75 %. */
export const ROUNDS_LEAST = 6
const BOOTSTRAP_LEAST = 10
const RESAMPLES = 2000
// Quantiles of the normal distribution, two-sided: 1 % for TREND_Z, 5 % for SLOPE_Z.
const TREND_Z = 2.576
const SLOPE_Z = 1.96

/**
 * Summarises a value per round. From ROUNDS_LEAST values on, the interval is of order statistics (`findIntervalDepth`); fewer have none.
 * @param {(number | null)[]} values
 * @returns {Quantity} median: null: no value is known; low, high: null: there is no interval
 */
export function summariseValues(values) {
  return summariseAtDepth(values, n => (n >= ROUNDS_LEAST ? findIntervalDepth(n) : 0))
}

/**
 * Summarises a value per round by a confidence sequence, which may end at any round. Fewer than SEQUENCE_LEAST values have no
 * interval.
 * @param {(number | null)[]} values
 * @returns {Quantity} median: null: no value is known; low, high: null: there is no interval
 */
export function summariseSequence(values) {
  return summariseAtDepth(values, findSequenceDepth)
}

/**
 * Summarises values. The interval goes from the depth-th smallest to the depth-th largest.
 * @param {(number | null)[]} values
 * @param {(n: number) => number} findDepthOf the depth for n values; 0: they have no interval
 * @returns {Quantity}
 */
function summariseAtDepth(values, findDepthOf) {
  const sorted = sortPresentValues(values)
  if (sorted.length === 0) return { median: null, low: null, high: null, values }
  const depth = findDepthOf(sorted.length)
  return {
    median: medianSorted(sorted),
    low: depth > 0 ? sorted[depth - 1] : null,
    high: depth > 0 ? sorted[sorted.length - depth] : null,
    values,
  }
}

/**
 * Summarises a ratio per round: fewer than BOOTSTRAP_LEAST as `summariseValues` does; from there on, the interval is the percentile
 * bootstrap of the median of the logarithms (Efron and Tibshirani, An Introduction to the Bootstrap, 13.3).
 * @param {(number | null)[]} ratios above 0; null: the round has none
 * @param {number} seed of the resampling: the same gives the same interval
 * @returns {Quantity}
 */
export function summariseRatios(ratios, seed) {
  const logs = sortPresentValues(ratios).map(Math.log)
  if (logs.length < BOOTSTRAP_LEAST) return summariseValues(ratios)
  const random = createRandom(seed)
  // One typed array is used for all resamples: sorting thousands of rounds is most of the cost of a report.
  const resample = new Float64Array(logs.length)
  const medians = Array.from({ length: RESAMPLES }, () => {
    for (let i = 0; i < resample.length; i++) resample[i] = logs[Math.floor(random() * logs.length)]
    return medianSorted(/** @type {any} */ (resample.sort()))
  }).sort((a, b) => a - b)
  const computeQuantile = (/** @type {number} */ q) => Math.exp(quantileSorted(medians, q))
  return {
    median: computeMedianRatio(ratios.filter(ratio => ratio !== null)),
    low: computeQuantile((1 - CONFIDENCE) / 2),
    high: computeQuantile((1 + CONFIDENCE) / 2),
    values: ratios,
  }
}

/**
 * Computes the median of `summariseRatios`: from BOOTSTRAP_LEAST ratios on, by their logarithms.
 * @param {number[]} ratios at least one, above 0
 * @returns {number}
 */
export function computeMedianRatio(ratios) {
  const sorted = sortPresentValues(ratios)
  return sorted.length < BOOTSTRAP_LEAST ? medianSorted(sorted) : Math.exp(medianSorted(sorted.map(Math.log)))
}

/**
 * Finds the largest k for which the interval from the k-th smallest to the k-th largest of n values covers the median with at
 * least CONFIDENCE. Exact (David and Nagaraja, Order Statistics, 7.1).
 * @param {number} n number of values
 * @returns {number} 0: no interval does
 */
export function findIntervalDepth(n) {
  // The chance that the median lies below the (k + 1)-th smallest.
  let tail = 0
  // By logarithms: 2 ** n is infinite from 1024 values on.
  let logCombinations = 0
  for (let k = 0; k < n / 2; k++) {
    tail += Math.exp(logCombinations - n * Math.LN2)
    if (1 - 2 * tail < CONFIDENCE) return k
    logCombinations += Math.log((n - k) / (k + 1))
  }
  return 0
}

/**
 * Says whether values rise or fall: Mann's test of trend at TREND_Z, two-sided, with continuity correction (Kendall, Rank Correlation
 * Methods, 4).
 * @param {number[]} values in order of time
 * @returns {boolean} false also: there are fewer than ROUNDS_LEAST values
 */
export function hasTrend(values) {
  const n = values.length
  let score = 0
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) score += Math.sign(values[j] - values[i])
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  return n >= ROUNDS_LEAST && (Math.abs(score) - 1) / deviation >= TREND_Z
}

/**
 * Fits a line: the slope is the median of the slopes of all pairs, the base the median of what it leaves (Theil 1950; Sen,
 * Journal of the American Statistical Association 63, 1968). A quarter of the points may be outliers.
 * @param {[number, number][]} points at least two, of different x
 * @returns {{ slope: number, base: number }} base: the value at x = 0
 */
export function fitLine(points) {
  const slope = medianSorted(listSlopes(points))
  return { slope, base: medianSorted(points.map(([x, y]) => y - slope * x).sort((a, b) => a - b)) }
}

/**
 * Computes the 95 % interval of the slope of `fitLine`, by the normal approximation to Kendall's score (Sen 1968; Gilbert,
 * Statistical Methods for Environmental Pollution Monitoring, 16.5).
 * @param {[number, number][]} points
 * @returns {{ low: number | null, high: number | null }} null: fewer than ROUNDS_LEAST points, or all of one x
 */
export function findSlopeInterval(points) {
  const n = points.length
  const slopes = listSlopes(points)
  if (n < ROUNDS_LEAST || slopes.length === 0) return { low: null, high: null }
  const reach = SLOPE_Z * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  const first = Math.max(0, Math.floor((slopes.length - reach) / 2) - 1)
  const last = Math.min(slopes.length - 1, Math.ceil((slopes.length + reach) / 2))
  return { low: slopes[first], high: slopes[last] }
}

/** Lists the slopes of all pairs of different x, rising; []: there is no such pair. @param {[number, number][]} points */
function listSlopes(points) {
  return points
    .flatMap(([x0, y0], i) => points.slice(i + 1).flatMap(([x1, y1]) => (x1 === x0 ? [] : [(y1 - y0) / (x1 - x0)])))
    .sort((a, b) => a - b)
}

/** Copies the values that are not null, rising. @param {(number | null)[]} values */
const sortPresentValues = values => values.filter(v => v !== null).sort((a, b) => a - b)
