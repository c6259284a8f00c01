/**
 * Whether a run is whole. Pure.
 * @import { Manifest, TrialRecord } from '../model/types.ts'
 */

/**
 * @param {Manifest} manifest
 * @param {TrialRecord[]} records
 * @returns {string[]} a line where the run was cut short, or still goes on
 */
export function describeUnfinished({ arms, rounds, search, calibrations }, records) {
  if (search) return []
  const calibrating = new Set(calibrations.map(c => c.armId))
  const planned = arms.length * rounds
  const run = records.filter(r => r.trial.repeats === null && !calibrating.has(r.trial.arm.id)).length
  return run < planned ? [`This run was cut short, or still goes on: ${run} of ${planned} trials are recorded.`] : []
}

/**
 * What was not measured, each reason once.
 * @param {{ plane: string, reason: string }[]} notMeasured
 */
export function describeNotMeasured(notMeasured) {
  const reasons = [...new Set(notMeasured.map(({ reason }) => reason))]
  return reasons.map(reason => {
    const planes = notMeasured.filter(n => n.reason === reason).map(n => n.plane)
    return `Not measured: ${planes.join(', ')}: ${reason}`
  })
}
