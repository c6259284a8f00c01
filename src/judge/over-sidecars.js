import { groupBy } from '../lib/group-by.js'
import { findSlopeInterval, fitLine, summariseValues } from '../lib/stats.js'

/** Lines through what a control plane uses over the number of its sidecars. Pure. */
/** @import { ControlNeed, GrowthFit } from '../model/types.ts' */

const POINTS_LEAST = 3

/**
 * @param {[number, number][]} seen sidecars, bytes
 * @returns {GrowthFit['memory']} null: fewer than three numbers of sidecars
 */
export function fitMemory(seen) {
  const fit = fitOverSidecars(seen)
  if (fit === null) return null
  const { base: baseBytes, slope: bytesPerSidecar, points, ...interval } = fit
  return {
    baseBytes,
    bytesPerSidecar,
    ...interval,
    points: points.map(({ sidecars, value, residual }) => ({ sidecars, bytes: value, residualBytes: residual })),
  }
}

/**
 * @param {[number, number][]} seen sidecars, seconds of CPU time
 * @returns {ControlNeed['rolloutCpu']} null: fewer than three numbers of sidecars
 */
export function fitCpu(seen) {
  const fit = fitOverSidecars(seen)
  if (fit === null) return null
  const { base: baseSeconds, slope: secondsPerSidecar, points, ...interval } = fit
  return {
    baseSeconds,
    secondsPerSidecar,
    ...interval,
    points: points.map(({ sidecars, value, residual }) => ({ sidecars, seconds: value, residualSeconds: residual })),
  }
}

/**
 * A line through the medians of what has the same number of sidecars.
 * @param {[number, number][]} seen sidecars, value
 */
function fitOverSidecars(seen) {
  const points = [...groupBy(seen, ([sidecars]) => sidecars)]
    .map(([sidecars, own]) => {
      const { median } = summariseValues(own.map(([, value]) => value))
      return /** @type {[number, number]} */ ([sidecars, Number(median)])
    })
    .sort(([a], [b]) => a - b)
  if (points.length < POINTS_LEAST) return null
  const { base, slope } = fitLine(points)
  return {
    base,
    slope,
    ...findSlopeInterval(points),
    points: points.map(([sidecars, value]) => ({ sidecars, value, residual: value - (base + slope * sidecars) })),
  }
}
