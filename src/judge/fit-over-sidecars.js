import { groupBy } from '../lib/group-by.js'
import { findSlopeInterval, fitLine, summariseValues } from '../lib/stats.js'

/** Lines through the memory and the CPU of a control plane over the number of its sidecars. Pure. */
/** @import { ControlNeed, GrowthFit } from '../model/types.ts' */

const SIZES_LEAST = 3

/** Numbers of sidecars, each with a value. @typedef {[number, number][]} Pairs */

/**
 * Fits a line of bytes over the number of sidecars.
 * @param {Pairs} pairs bytes by number of sidecars
 * @returns {GrowthFit['memory']} points: the median at each number of sidecars; low, high: the 95 % interval of the slope, null if
 *   there are too few points (`findSlopeInterval`); null: fewer than SIZES_LEAST numbers of sidecars
 */
export function fitMemoryOverSidecars(pairs) {
  const fit = fitMediansOverSidecars(pairs)
  if (fit === null) return null
  const { base: baseBytes, slope: bytesPerSidecar, low, high } = fit
  const points = fit.points.map(([sidecars, bytes, residualBytes]) => ({ sidecars, bytes, residualBytes }))
  return { baseBytes, bytesPerSidecar, low, high, points }
}

/**
 * Fits a line of CPU seconds over the number of sidecars.
 * @param {Pairs} pairs seconds by number of sidecars
 * @returns {ControlNeed['rolloutCpu']} points: the median at each number of sidecars; low, high: the 95 % interval of the slope, null
 *   if there are too few points (`findSlopeInterval`); null: fewer than SIZES_LEAST numbers of sidecars
 */
export function fitCpuOverSidecars(pairs) {
  const fit = fitMediansOverSidecars(pairs)
  if (fit === null) return null
  const { base: baseSeconds, slope: secondsPerSidecar, low, high } = fit
  const points = fit.points.map(([sidecars, seconds, residualSeconds]) => ({ sidecars, seconds, residualSeconds }))
  return { baseSeconds, secondsPerSidecar, low, high, points }
}

/**
 * Fits a line through the median at each number of sidecars.
 * @param {Pairs} pairs
 * @returns base, slope: of the line; low, high: the interval of the slope, null as `findSlopeInterval` says; points: sidecars,
 *   median and residual, by rising number of sidecars; null: fewer than SIZES_LEAST numbers of sidecars
 */
function fitMediansOverSidecars(pairs) {
  const medians = [...groupBy(pairs, ([sidecars]) => sidecars)].map(([sidecars, group]) => {
    const { median } = summariseValues(group.map(([, value]) => value))
    return /** @type {[number, number]} */ ([sidecars, Number(median)])
  })
  if (medians.length < SIZES_LEAST) return null
  const points = medians.sort(([a], [b]) => a - b)
  const { base, slope } = fitLine(points)
  return {
    base,
    slope,
    ...findSlopeInterval(points),
    points: points.map(([sidecars, value]) => [sidecars, value, value - (base + slope * sidecars)]),
  }
}
