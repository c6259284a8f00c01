import { listCells, listEndRates } from './cells.js'
import { withRate } from './step.js'

/** Numbers of trials that searches take, from which the time of a run is estimated. Pure. */
/**
 * @import { Arm, Plan } from '../../model/types.ts'
 * @typedef {NonNullable<Plan['search']>} Search
 */

/** Trials that must meet the p99 to confirm limits: three, or up to five if their p99s are too far apart. */
export const TRIALS = { least: 3, most: 5 }
/** Trials at limits after which a search ends without confirmed ones. */
export const AT_LIMITS_MOST = 24
/**
 * Trials with all the CPU that end this step: those that missed the p99, those that a busy machine spoiled but that show what
 * sidecars take, and those that were not judged.
 */
export const WHOLE = { missedMost: 2, busyMost: 2, lostMost: 6 }
const WHOLE_MOST = WHOLE.missedMost - 1 + WHOLE.lostMost
/**
 * Trials of a search of one arm on a quiet machine. A size takes one with all the CPU, one or two on the way down, three at
 * the limits, and one more if their p99s are far apart; the others are medians over sidecars with random needs.
 */
export const USUAL = { size: 6, knee: 20, 'memory-floor': 12 }

/**
 * Lists the trials that a search usually takes on a quiet machine.
 * @param {Search} search
 * @param {Arm[]} arms from which the searches start
 * @returns {Arm[]} one for each trial, with its rate
 */
export function listUsualTrials(search, arms) {
  const ofOne = search.kind === 'services' ? 0 : USUAL[search.kind]
  return arms.flatMap(arm => listTrials(search, arm, { whole: 1, limits: TRIALS.least, ofOne }))
}

/**
 * Lists the most trials that a search for limits takes.
 * @param {Search} search
 * @param {Arm[]} arms from which the searches start
 * @returns {Arm[] | null} one for each trial, with its rate; null: there is no such bound, as for a search for
 *   anything else, or one that extrapolates
 */
export function listMostTrials(search, arms) {
  if (search.kind !== 'size' && search.kind !== 'services') return null
  // --extrapolate also tries lower rates.
  if (search.kind === 'size' && search.isExtrapolated) return null
  const counts = { whole: WHOLE_MOST, limits: AT_LIMITS_MOST, ofOne: WHOLE_MOST + AT_LIMITS_MOST }
  return arms.flatMap(arm => listTrials(search, arm, counts))
}

/**
 * Lists the trials of one search. A file of services has trials with all the CPU at its lowest and highest rates, and
 * trials at limits for each rate; every other search tries the arm at its own rate.
 * @param {Search} search
 * @param {Arm} arm
 * @param {{ whole: number, limits: number, ofOne: number }} counts whole: with all the CPU; limits: at limits; ofOne:
 *   of a search without a file of services
 * @returns {Arm[]} one for each trial, with its rate
 */
function listTrials(search, arm, { whole, limits, ofOne }) {
  if (search.kind !== 'services') return Array(ofOne).fill(arm)
  const cells = listCells(search, arm)
  return [
    ...listEndRates(cells).flatMap(rate => Array(whole).fill(withRate(arm, rate))),
    ...cells.flatMap(({ ratePerSecond }) => Array(limits).fill(withRate(arm, ratePerSecond))),
  ]
}
