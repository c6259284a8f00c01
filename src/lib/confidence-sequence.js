import { median, probit } from 'simple-statistics'

/**
 * Intervals of a median that may be looked at after every value, and that may decide when to stop: a confidence
 * sequence (Darling and Robbins, Confidence sequences for mean, variance, and median, PNAS 58, 1967; Howard and Ramdas,
 * Sequential estimation of quantiles, Bernoulli 28, 2022). Its error is spent over the number of values (Lan and DeMets,
 * Discrete sequential boundaries for clinical trials, Biometrika 70, 1983).
 */

const ERROR = 0.05
const BEFORE_FIRST = 5
// The standard deviation of a normal distribution, over its median absolute deviation.
const DEVIATION_OF_MAD = 1.4826

/** Number of values at the first interval. */
export const SEQUENCE_LEAST = 8

/** Finds the error that may be spent until n values are there. @param {number} n */
const spendUntil = n => (n <= BEFORE_FIRST ? 0 : ERROR * (1 - Math.sqrt(BEFORE_FIRST / n)))

/** The k of the interval of n values, by n. */
const depths = [0]
/** The chance that j of n values are below the median, and no interval so far has missed it. @type {Float64Array} */
let alive = new Float64Array([1])
let spent = 0

/**
 * Finds the k for which the intervals from the k-th smallest to the k-th largest value, all together from the first value
 * on, contain the median with at least 95 %; 0: none yet. Exact for any distribution. @param {number} n
 */
export function findSequenceDepth(n) {
  while (depths.length <= n) addDepth()
  return depths[n]
}

function addDepth() {
  const n = depths.length
  const next = new Float64Array(n + 1)
  for (let j = 0; j < n; j++) {
    next[j] += alive[j] / 2
    next[j + 1] += alive[j] / 2
  }
  let k = 0
  while (2 * k < n - 1 && spent + next[k] + next[n - k] <= spendUntil(n)) {
    spent += next[k] + next[n - k]
    next[k] = 0
    next[n - k] = 0
    k++
  }
  depths.push(k)
  alive = next
}

/**
 * Estimates how many values an interval so narrow takes, as if they were normal, by the larger of their spread and that of
 * the interval that they have. @param {{ values: number[], width: number, most: number }} options width: from end to end
 * @returns {number | null} null: more than most
 */
export function extrapolateCount({ values, width, most }) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = median(sorted)
  const depth = findSequenceDepth(sorted.length)
  const now = depth > 0 ? (sorted[sorted.length - depth] - sorted[depth - 1]) / widthOf(sorted.length) : 0
  const deviation = Math.max(now, DEVIATION_OF_MAD * median(sorted.map(value => Math.abs(value - middle))))
  for (let n = SEQUENCE_LEAST; n <= most; n++) if (deviation * widthOf(n) <= width) return n
  return null
}

/** Finds the interval width of n normal values, in deviations (Blom, Statistical Estimates, 1958) @param {number} n */
const widthOf = n => -2 * probit((findSequenceDepth(n) - 0.375) / (n + 0.25))
