import { hasHeld, listMemoryPoints } from '../judge/growth.js'
import { groupBy } from '../lib/group-by.js'
import { findSlopeInterval, fitLine, summariseValues } from '../lib/stats.js'
import { choiceOf } from '../model/arms.js'

/**
 * How far control planes came with more and more sidecars, and what each sidecar took of their memory. Pure.
 * @import { Arm, GrowthFit, TrialRecord } from '../model/types.ts'
 */

const POINTS_LEAST = 3

/**
 * @param {{ arms: Arm[], records: TrialRecord[] }} run
 * @returns {GrowthFit[]} one of each arm that grew
 */
export function fitGrowths({ arms, records }) {
  return arms.flatMap(arm => {
    const own = records.flatMap(({ trial, growth }) => (growth && trial.arm.id === arm.id ? [{ trial, growth }] : []))
    if (own.length === 0) return []
    const rounds = own.map(({ trial: { round }, growth: { sidecars, ended } }) => ({
      round,
      sidecars,
      failedAt: ended?.sidecars ?? null,
      reason: ended?.reason ?? null,
      why: ended?.why ?? null,
    }))
    return [
      {
        ...choiceOf(arm),
        armId: arm.id,
        rounds,
        memory: fitMemory(own.flatMap(({ growth }) => listMemoryPoints(growth))),
        hasControl: own[0].growth.hasControl,
        sidecarsMost: own[0].growth.sidecarsMost,
        steps: listSteps(own.map(({ growth }) => growth)),
      },
    ]
  })
}

/**
 * @param {NonNullable<TrialRecord['growth']>[]} growths of an arm
 * @returns {GrowthFit['steps']}
 */
function listSteps(growths) {
  const counts = new Set(growths.flatMap(({ steps }) => steps.filter(hasHeld).map(({ sidecars }) => sidecars)))
  return [...counts].map(sidecars => ({
    sidecars,
    seconds: summariseValues(growths.map(({ steps }) => steps.find(s => s.sidecars === sidecars)?.seconds ?? null)),
  }))
}

/**
 * A line through the medians of what has the same number of sidecars.
 * @param {[number, number][]} seen sidecars, bytes
 * @returns {GrowthFit['memory']} null: fewer than three numbers of sidecars
 */
export function fitMemory(seen) {
  const fit = fitOverSidecars(seen)
  if (fit === null) return null
  const { base, slope, low, high, points } = fit
  return {
    baseBytes: base,
    bytesPerSidecar: slope,
    low,
    high,
    points: points.map(({ sidecars, value, residual }) => ({ sidecars, bytes: value, residualBytes: residual })),
  }
}

/**
 * @param {[number, number][]} seen sidecars, and a value that goes with them
 */
export function fitOverSidecars(seen) {
  const points = [...groupBy(seen, ([sidecars]) => sidecars)]
    .map(([sidecars, own]) => /** @type {[number, number]} */ ([sidecars, medianOf(own)]))
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

/** @param {[number, number][]} points of one number of sidecars */
function medianOf(points) {
  return Number(summariseValues(points.map(([, value]) => value)).median)
}
