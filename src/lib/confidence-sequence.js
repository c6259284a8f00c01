import { median, probit } from 'simple-statistics'

/**
 * Intervals of a median that may be looked at after every value, and that may decide when to stop: a confidence
 * sequence (Darling and Robbins, Confidence sequences for mean, variance, and median, PNAS 58, 1967; Howard and Ramdas,
 * Sequential estimation of quantiles, Bernoulli 28, 2022). Its error is spent over the number of values (Lan and DeMets,
 * Discrete sequential boundaries for clinical trials, Biometrika 70, 1983).
 */

const ERROR = 0.05
// Up to this many values, no error is spent.
const BEFORE_FIRST = 5
// Ratio of a normal distribution's standard deviation to its median absolute deviation.
const DEVIATION_OF_MAD = 1.4826

/** The fewest values that have an interval. */
export const SEQUENCE_LEAST = 8

/**
 * Computes the part of ERROR that the intervals of the first n values may use up together.
 * @param {number} n
 */
const computeSpentError = n => (n <= BEFORE_FIRST ? 0 : ERROR * (1 - Math.sqrt(BEFORE_FIRST / n)))

/** The results of `findSequenceDepth` so far, by n. */
const depths = [0]
/** By j: the chance that j of the n values so far are below the median, and no interval has missed it. @type {Float64Array} */
let alive = new Float64Array([1])
let spent = 0

/**
 * Finds the depth k of the interval of n values, which goes from the k-th smallest to the k-th largest. With a chance of at least
 * 1 - ERROR, the intervals of all n contain the median, whatever the distribution. Depths are computed once, and kept.
 * @param {number} n
 * @returns {number} 0: there is no interval yet
 */
export function findSequenceDepth(n) {
  while (depths.length <= n) addDepth()
  return depths[n]
}

/** Appends to `depths` the depth for one value more, as large as the error allows, and adds to `spent` its chance of a miss. */
function addDepth() {
  const n = depths.length
  const next = new Float64Array(n + 1)
  for (let j = 0; j < n; j++) {
    next[j] += alive[j] / 2
    next[j + 1] += alive[j] / 2
  }
  let k = 0
  while (2 * k < n - 1 && spent + next[k] + next[n - k] <= computeSpentError(n)) {
    spent += next[k] + next[n - k]
    next[k] = 0
    next[n - k] = 0
    k++
  }
  depths.push(k)
  alive = next
}

/**
 * Estimates how many values an interval of at most `width` takes, if they are normal. Their standard deviation is the larger of
 * two estimates: by the median absolute deviation, and by the interval that they have, if there are enough for one.
 * @param {{ values: number[], width: number, most: number }} options values: at least one; width: that of the interval, from end to end
 * @returns {number | null} SEQUENCE_LEAST at least; null: more than `most`
 */
export function extrapolateCount({ values, width, most }) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = median(sorted)
  const depth = findSequenceDepth(sorted.length)
  const now = depth > 0 ? (sorted[sorted.length - depth] - sorted[depth - 1]) / computeExpectedWidth(sorted.length) : 0
  const deviation = Math.max(now, DEVIATION_OF_MAD * median(sorted.map(value => Math.abs(value - middle))))
  for (let n = SEQUENCE_LEAST; n <= most; n++) if (deviation * computeExpectedWidth(n) <= width) return n
  return null
}

/**
 * Computes the expected interval width of n normal values, in standard deviations (Blom, Statistical Estimates, 1958).
 * @param {number} n from SEQUENCE_LEAST on
 */
const computeExpectedWidth = n => -2 * probit((findSequenceDepth(n) - 0.375) / (n + 0.25))
