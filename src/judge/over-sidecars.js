import { groupBy } from '../lib/group-by.js'
import { findSlopeInterval, fitLine, summariseValues } from '../lib/stats.js'

/** Lines through what a control plane uses over the number of its sidecars. Pure. */
/** @import { ControlNeed, GrowthFit } from '../model/types.ts' */

const POINTS_LEAST = 3

/** Numbers of sidecars, each with a value. @typedef {[number, number][]} Points */

/**
 * Fits a line of bytes over the number of sidecars.
 * @param {Points} pairs bytes by number of sidecars
 * @returns {GrowthFit['memory']} low, high: the interval of the slope; null: fewer than three numbers of sidecars
 */
export function fitMemory(pairs) {
  const fit = fitOverSidecars(pairs)
  if (fit === null) return null
  const { base: baseBytes, slope: bytesPerSidecar, low, high } = fit
  const points = fit.points.map(([sidecars, bytes, residualBytes]) => ({ sidecars, bytes, residualBytes }))
  return { baseBytes, bytesPerSidecar, low, high, points }
}

/**
 * Fits a line of CPU seconds over the number of sidecars.
 * @param {Points} pairs seconds by number of sidecars
 * @returns {ControlNeed['rolloutCpu']} low, high: the interval of the slope; null: fewer than three numbers of sidecars
 */
export function fitCpu(pairs) {
  const fit = fitOverSidecars(pairs)
  if (fit === null) return null
  const { base: baseSeconds, slope: secondsPerSidecar, low, high } = fit
  const points = fit.points.map(([sidecars, seconds, residualSeconds]) => ({ sidecars, seconds, residualSeconds }))
  return { baseSeconds, secondsPerSidecar, low, high, points }
}

/**
 * Fits a line through the median at each number of sidecars.
 * @param {Points} pairs
 * @returns base, slope: of the line; low, high: the interval of the slope, null as `findSlopeInterval` says; points: sidecars,
 *   median and residual; null: fewer than three numbers of sidecars
 */
function fitOverSidecars(pairs) {
  const points = [...groupBy(pairs, ([sidecars]) => sidecars)]
    .map(([sidecars, group]) => {
      const { median } = summariseValues(group.map(([, value]) => value))
      return /** @type {[number, number]} */ ([sidecars, Number(median)])
    })
    .sort(([a], [b]) => a - b)
  if (points.length < POINTS_LEAST) return null
  const { base, slope } = fitLine(points)
  return {
    base,
    slope,
    ...findSlopeInterval(points),
    points: points.map(([sidecars, value]) => [sidecars, value, value - (base + slope * sidecars)]),
  }
}

/**
 * Renders the value of a point, with its distance from the line in brackets: `12.3 (+0.4)`.
 * @param {number} value
 * @param {number} residual
 * @param {{ digits?: number, digitsOff?: number }} [options]
 * @returns {string}
 */
export function renderWithResidual(value, residual, { digits = 1, digitsOff = digits } = {}) {
  return `${value.toFixed(digits)} (${residual >= 0 ? '+' : ''}${residual.toFixed(digitsOff)})`
}
