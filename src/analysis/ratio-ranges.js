import { PRIMARY } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { AXES, AXIS_NAMES } from '../model/arms.js'

/** Computes the ranges of ratios over the conditions of a run: a ratio carries no further than these. Pure. */
/** @import { AxisName, Comparison, Quantity, Summary } from '../model/types.ts' */

/** A ratio may depend on these axes, which are conditions of the answer, and no part of the question. @type {AxisName[]} */
const CONDITION_AXES = ['users', 'ratePerSecond', 'placement', 'cpuLimitCores', 'workers']

/**
 * Computes the range of each pair's CPU per request ratios over the conditions of a run. It leaves out ratios without an
 * interval, A/A pairs, contrasts and single sidecars.
 * @param {Comparison[]} comparisons of a run
 * @returns {NonNullable<Summary['carries']>} one for each pair of planes with the same number of workers and the same other axes; low,
 *   high: the least and the largest ratio; measured: cpuLimitCores is null for interleaved arms; []: no ratio is left
 */
export function computeRatioRanges(comparisons) {
  const pairs = comparisons.filter(c => isPlaneComparison(c) && c.quantity === PRIMARY.name && hasInterval(c.ratio))
  const names = AXIS_NAMES.filter(name => !CONDITION_AXES.includes(name))
  const createComparisonKey = (/** @type {Comparison} */ c) =>
    JSON.stringify([c.a, c.b, computeWorkerCount(c), ...names.map(name => AXES[name].readValue(c))])
  return [...groupBy(pairs, createComparisonKey).values()].map(group => {
    const [{ a, b, link, conditions }] = group
    const measured = group.map(({ load, cpuLimitCores, ratio: { median, low, high } }) => ({
      load,
      cpuLimitCores: load.isInterleaved ? null : cpuLimitCores,
      ratio: Number(median),
      low: Number(low),
      high: Number(high),
    }))
    const ratios = measured.map(({ ratio }) => ratio)
    return {
      a,
      b,
      link,
      conditions,
      low: Math.min(...ratios),
      high: Math.max(...ratios),
      measured,
      isContradicted: isContradicted(measured),
    }
  })
}

/** Says whether a comparison is of two planes, over all of their sidecars. @param {Comparison} comparison */
const isPlaneComparison = ({ service, contrast, isControl }) => service === null && contrast === null && !isControl

/**
 * Says whether some interval of interleaved arms and some interval of arms in windows of their own do not overlap.
 * @param {{ load: Comparison['load'], low: number, high: number }[]} measured
 * @returns {boolean | null} null: the pair was measured in one of the two ways only
 */
function isContradicted(measured) {
  const interleaved = measured.filter(({ load }) => load.isInterleaved)
  const windows = measured.filter(({ load }) => !load.isInterleaved)
  if (interleaved.length === 0 || windows.length === 0) return null
  return interleaved.some(a => windows.some(b => a.low > b.high || b.low > a.high))
}

/**
 * Computes the number of workers of a sidecar: that of the arm or, by default, its CPU limit rounded up.
 * @param {Comparison} comparison
 * @returns {number | null} null: the arm names no number, and has no limit
 */
function computeWorkerCount({ conditions: { workers }, cpuLimitCores }) {
  return workers ?? (cpuLimitCores === null ? null : Math.max(1, Math.ceil(cpuLimitCores)))
}

/**
 * Says whether a ratio has a median and an interval.
 * @param {Quantity} ratio
 * @returns {boolean}
 */
const hasInterval = ({ median, low, high }) => median !== null && low !== null && high !== null
