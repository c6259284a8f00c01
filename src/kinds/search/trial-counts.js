import { listDistinctLoads, listEndRates } from './distinct-loads.js'
import { withRate } from './step.js'

/** Numbers of trials that searches take, from which the time of a run is estimated. Pure. */
/**
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 */

/** Trials that must meet the p99 to confirm limits: `least`, or up to `most` if their p99s are too far apart. */
export const TRIALS = { least: 3, most: 5 }
/** Trials at limits after which a search ends, also without confirmed limits. */
export const AT_LIMITS_MOST = 24
/**
 * Trials with all the CPU that end this step: those that missed the p99, those that a busy machine spoiled but that show what
 * sidecars take, and those that were not judged.
 */
export const ALL_CPU_TRIALS = { missedMost: 2, busyMost: 2, lostMost: 6 }
const ALL_CPU_MOST = ALL_CPU_TRIALS.missedMost - 1 + ALL_CPU_TRIALS.lostMost
/**
 * Trials of a search of one arm on a quiet machine. A size takes one with all the CPU, one or two on the way down, three at
 * the limits, and one more if their p99s are far apart; the others are medians over sidecars with random needs.
 */
export const USUAL = { size: 6, knee: 20, 'memory-floor': 12 }

/**
 * Lists the trials that a search usually takes on a quiet machine.
 * @param {SearchSpec} search
 * @param {Arm[]} arms from which the searches start
 * @returns {Arm[]} one for each trial, with its rate; []: there are no arms
 */
export function listUsualTrials(search, arms) {
  const alone = search.kind === 'services' ? 0 : USUAL[search.kind]
  return arms.flatMap(arm => listSearchTrials(search, arm, { withAllCpu: 1, atLimits: TRIALS.least, alone }))
}

/**
 * Lists the most trials that a search for limits takes.
 * @param {SearchSpec} search
 * @param {Arm[]} arms from which the searches start
 * @returns {Arm[] | null} one for each trial, with its rate; null: there is no such bound, as for a search for
 *   anything else, or one that extrapolates from lower rates
 */
export function listMostTrials(search, arms) {
  if (search.kind !== 'size' && search.kind !== 'services') return null
  // --extrapolate also tries lower rates.
  if (search.kind === 'size' && search.isExtrapolated) return null
  const counts = { withAllCpu: ALL_CPU_MOST, atLimits: AT_LIMITS_MOST, alone: ALL_CPU_MOST + AT_LIMITS_MOST }
  return arms.flatMap(arm => listSearchTrials(search, arm, counts))
}

/**
 * Lists the trials of one search. A file of services has trials with all the CPU at its lowest and highest rates, and
 * trials at limits for each rate; every other search tries the arm at its own rate.
 * @param {SearchSpec} search
 * @param {Arm} arm
 * @param {{ withAllCpu: number, atLimits: number, alone: number }} counts withAllCpu: trials of an end rate with all the CPU; atLimits:
 *   trials of a rate at limits; alone: trials of a search without a file of services
 * @returns {Arm[]} one for each trial, with its rate
 */
function listSearchTrials(search, arm, { withAllCpu, atLimits, alone }) {
  if (search.kind !== 'services') return Array(alone).fill(arm)
  const loads = listDistinctLoads(search, arm)
  return [
    ...listEndRates(loads).flatMap(rate => Array(withAllCpu).fill(withRate(arm, rate))),
    ...loads.flatMap(({ ratePerSecond }) => Array(atLimits).fill(withRate(arm, ratePerSecond))),
  ]
}
