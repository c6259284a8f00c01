import { PRIMARY } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { AXES, AXIS_NAMES } from '../model/arms.js'

/** The ratio of two planes under each load, limit and placement of a run: it carries no further than these. Pure. */
/** @import { AxisName, Comparison, Quantity, Summary } from '../model/types.ts' */

/** Axes that are a condition of the answer, and no part of the question. @type {AxisName[]} */
const CONDITION_AXES = ['users', 'ratePerSecond', 'placement', 'cpuLimitCores', 'workers']

/**
 * Finds the range of each pair's CPU per request ratios over the conditions of a run. Ratios without an interval, A/A pairs,
 * contrasts and single sidecars are left out.
 * @param {Comparison[]} comparisons of a run
 * @returns {NonNullable<Summary['carries']>} one for each pair of planes with the same number of workers; []: no ratio is left
 */
export function findBands(comparisons) {
  const pairs = comparisons.filter(
    c =>
      c.quantity === PRIMARY.name && c.service === null && c.contrast === null && !c.isControl && hasInterval(c.ratio),
  )
  const names = AXIS_NAMES.filter(name => !CONDITION_AXES.includes(name))
  const createComparisonKey = (/** @type {Comparison} */ c) =>
    JSON.stringify([c.a, c.b, countWorkers(c), ...names.map(name => AXES[name].of(c))])
  return [...groupBy(pairs, createComparisonKey).values()].map(alike => {
    const [{ a, b, link, conditions }] = alike
    const measured = alike.map(({ load, cpuLimitCores, ratio: { median, low, high } }) => ({
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

/**
 * Says whether some interval of arms in turns and some of arms in windows of their own exclude each other; null: there is one kind.
 * @param {{ load: Comparison['load'], low: number, high: number }[]} measured
 */
function isContradicted(measured) {
  const interleaved = measured.filter(({ load }) => load.isInterleaved)
  const windows = measured.filter(({ load }) => !load.isInterleaved)
  if (interleaved.length === 0 || windows.length === 0) return null
  return interleaved.some(a => windows.some(b => a.low > b.high || b.low > a.high))
}

/**
 * Counts the workers of a sidecar: if the arm does not say, as many as its limit has CPUs; null without a limit.
 * @param {Comparison} comparison
 */
function countWorkers({ conditions: { workers }, cpuLimitCores }) {
  return workers ?? (cpuLimitCores === null ? null : Math.max(1, Math.ceil(cpuLimitCores)))
}

/** @param {Quantity} ratio */
const hasInterval = ({ median, low, high }) => median !== null && low !== null && high !== null
