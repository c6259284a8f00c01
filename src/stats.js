import { medianSorted } from 'simple-statistics'

/**
 * @import { Quantity } from './types.ts'
 */

const CONFIDENCE = 0.95
const ROUNDS_LEAST = 6

/**
 * One value per round as a quantity: the median of those that are there, and its 95 % interval from
 * order statistics; low and high are null below six.
 * @param {(number | null)[]} values
 * @returns {Quantity}
 */
export function summariseValues(values) {
  const sorted = values.filter(v => v !== null).sort((a, b) => a - b)
  if (sorted.length === 0) return { median: null, low: null, high: null, values }
  const depth = sorted.length >= ROUNDS_LEAST ? findDepth(sorted.length) : 0
  return {
    median: medianSorted(sorted),
    low: depth > 0 ? sorted[depth - 1] : null,
    high: depth > 0 ? sorted[sorted.length - depth] : null,
    values,
  }
}

/**
 * The largest k for which the interval from the k-th smallest to the k-th largest of n values covers the
 * median with at least 95 %; 0 when none does. Exact, from the binomial distribution with p = 1/2
 * (David and Nagaraja, Order Statistics, 7.1).
 * @param {number} n
 */
export function findDepth(n) {
  let tail = 0
  let combinations = 1
  for (let k = 0; k < n / 2; k++) {
    tail += combinations / 2 ** n
    if (1 - 2 * tail < CONFIDENCE) return k
    combinations = (combinations * (n - k)) / (k + 1)
  }
  return Math.floor(n / 2)
}
