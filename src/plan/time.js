import { countSearchTrials } from '../kinds/search/plan.js'
import { configurationOf } from '../parity/verdict/rows.js'

/** Estimates of a plan's time. Pure. @import { Arm, Plan, Trial } from '../model/types.ts' */

// Measured: starting, checking, k6's own start, the tail, stopping.
const OVERHEAD_SECONDS = 1.4
const OBSERVE_SECONDS = 3
const PARITY_SECONDS = 4
const ARM_CHECK_SECONDS = 0.4
// Measured: a sidecar of a rollout, with its change, or of a pair.
const ROLLOUT_SECONDS_PER_SIDECAR = 0.03

/** Estimates how long trials take, in seconds. @param {Trial[]} trials */
export function estimateSeconds(trials) {
  // Arms that stand at the same time share a window.
  const apart = new Map(trials.map((trial, i) => [trial.deployment ?? i, trial.arm]))
  return sumSeconds([...apart.values()])
}

/** Estimates the seconds of a run, with its checks. @param {Pick<Plan, 'trials' | 'calibrations' | 'search' | 'arms'>} plan */
export function estimatePlanSeconds({ trials, calibrations, search, arms }) {
  const own = arms.filter(arm => arm.repeatOf === null)
  const probes = new Set(own.filter(arm => arm.hasSidecars).map(arm => JSON.stringify(configurationOf(arm)))).size
  const checks = OBSERVE_SECONDS + probes * PARITY_SECONDS + own.length * ARM_CHECK_SECONDS
  const searched = countSearchTrials(search) * sumSeconds(arms)
  return checks + estimateSeconds(trials) + sumSeconds(calibrations) + searched
}

/** @param {Arm[]} arms each tried once */
function sumSeconds(arms) {
  return arms.reduce((sum, { load, conditions: { pairs = 0, sidecars = 2 * pairs, simulated = 0 } }) => {
    // The real sidecars are started twice before.
    const started = simulated > 0 ? sidecars + 2 * (sidecars - simulated) : sidecars
    return sum + load.warmupSeconds + load.windowSeconds + OVERHEAD_SECONDS + ROLLOUT_SECONDS_PER_SIDECAR * started
  }, 0)
}
