import { isIdleCpuNeeded } from '../judge/gates/answers.js'
import { listMostTrials, listUsualTrials } from '../kinds/search/trial-counts.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { UsageError } from '../lib/errors.js'
import { createRandom, shuffleItems } from '../lib/random.js'
import { ROUNDS_MOST } from '../model/bounds.js'
import { pickConfiguration } from '../parity/verdict/checks.js'
import { PARTS } from '../request/constraints/plans.js'
import { assertCombination } from '../request/constraints.js'

/**
 * The rounds of a plan, the order of their trials, and their time. Pure.
 * @import { Arm, Plan, Trial } from '../model/types.ts'
 */
/** @import { Question } from '../request/question.js' */

// All trials are in memory before the first runs.
const TRIALS_MOST = 100_000

/**
 * Asserts that there are no more than TRIALS_MOST trials.
 * @param {number} trials
 * @param {{ name: string }} experiment
 * @throws {UsageError} if there are more
 */
export function assertTrialLimit(trials, { name }) {
  if (trials <= TRIALS_MOST) return
  throw new UsageError(`${name} would be ${trials} trials, at most ${TRIALS_MOST}: ask for fewer values or rounds`)
}

/**
 * Chooses the number of rounds: that of the profile, or, with a precision, as many as fit its time (`computeRounds`).
 * @param {Question} question
 * @param {{ arms: Arm[], calibrations: Arm[], createPartTrials: typeof createTrials }} measured createPartTrials: creates the trials of
 *   a round, to estimate its seconds
 * @returns {number}
 * @throws {UsageError} if the time is too short for enough rounds, or no two arms are compared, as a precision needs
 */
export function chooseRounds(question, { arms, calibrations, createPartTrials }) {
  const { precision } = question.overrides
  if (!precision) return question.profile.rounds
  const { name, shows } = question.experiment
  assertCombination(PARTS, { name, precision, arms, contrasts: shows.contrasts })
  const roundSeconds = estimateSeconds(createPartTrials({ arms, rounds: 1, seed: 0 }))
  return computeRounds({ arms, calibrations, precision, roundSeconds })
}

/**
 * Creates the trials: every arm once per round, in random order.
 * @param {{ arms: Arm[], rounds: number, seed: number }} options
 * @returns {Omit<Trial, 'kind'>[]} []: there are 0 rounds
 */
export function createTrials({ arms, rounds, seed }) {
  const random = createRandom(seed)
  const trials = []
  for (let round = 1; round <= rounds; round++) {
    for (const arm of shuffleItems(arms, random)) {
      trials.push({ id: `r${round}-${arm.id}`, round, arm, repeats: null, searchOf: null })
    }
  }
  return trials
}

/**
 * Computes how many rounds fit the time: at most ROUNDS_MOST, and no more trials than TRIALS_MOST.
 * @param {{ arms: Arm[], calibrations: Arm[], precision: NonNullable<Plan['precision']>, roundSeconds: number }} options
 * @returns {number}
 * @throws {UsageError} if they are fewer than SEQUENCE_LEAST, too few for a confidence interval
 */
function computeRounds({ arms, calibrations, precision: { maxMinutes }, roundSeconds }) {
  const checkSeconds = estimatePlanSeconds({ arms, calibrations, trials: [], search: null })
  const count = Math.floor((60 * maxMinutes - checkSeconds) / roundSeconds)
  if (count < SEQUENCE_LEAST) {
    const minutes = Math.ceil((checkSeconds + SEQUENCE_LEAST * roundSeconds) / 60)
    throw new UsageError(
      `--precision needs at least ${SEQUENCE_LEAST} rounds, about ${minutes} min here, and --max-minutes allows ${maxMinutes}: give it ${minutes}, or ask for less (--profile quick, --planes)`,
    )
  }
  return Math.min(count, ROUNDS_MOST, Math.floor(TRIALS_MOST / arms.length))
}

// For each trial: the measured sum of starting, checking, k6's own start, the tail, and stopping.
const OVERHEAD_SECONDS = 1.4
/** The time for which a run observes the machine before it starts anything. */
export const OBSERVE_SECONDS = 1
// The shortest time for which idle sidecars are measured, if the gate `passage` needs their CPU.
const IDLE_SECONDS = 2
// For each configuration with sidecars, and for each arm: the measured times of its checks.
const PARITY_SECONDS = 4
const ARM_CHECK_SECONDS = 0.4
// The measured time of a sidecar of a rollout, with its change, or of a pair.
const ROLLOUT_SECONDS_PER_SIDECAR = 0.03

/**
 * Estimates the duration of trials. Trials of one interleaving share a window, and count once.
 * @param {Pick<Trial, 'arm' | 'interleaving'>[]} trials
 * @returns {number} seconds
 */
export function estimateSeconds(trials) {
  const armOfWindow = new Map(trials.map((trial, i) => [trial.interleaving ?? i, trial.arm]))
  return sumArmSeconds([...armOfWindow.values()])
}

/** The fields of a plan that its duration depends on. @typedef {Pick<Plan, 'trials' | 'calibrations' | 'search' | 'arms'>} Timed */

/**
 * Estimates the duration of a run on a quiet machine: its checks, calibrations and trials, and the usual trials of a search.
 * @param {Timed} plan
 * @returns {number} seconds
 */
export function estimatePlanSeconds(plan) {
  return estimateTotalSeconds(plan, plan.search ? listUsualTrials(plan.search, plan.arms) : [])
}

/**
 * Estimates the longest duration of a run with a search, whose trials depend on earlier ones.
 * @param {Timed} plan
 * @returns {number | null} seconds; null: the plan has no search, or one whose trials have no bound
 */
export function estimateMostSeconds(plan) {
  const mostTrials = plan.search && listMostTrials(plan.search, plan.arms)
  return mostTrials && estimateTotalSeconds(plan, mostTrials)
}

/**
 * Adds up the durations of checks, trials, calibrations and a search. A/A repeats have no check.
 * @param {Timed} plan
 * @param {Arm[]} searched the arms that a search tries, one for each trial
 * @returns {number} seconds
 */
function estimateTotalSeconds({ trials, calibrations, arms }, searched) {
  const measured = arms.filter(arm => arm.repeatOf === null)
  const withSidecars = measured.filter(arm => arm.hasSidecars)
  const configurations = new Set(withSidecars.map(arm => JSON.stringify(pickConfiguration(arm))))
  const checkSeconds = OBSERVE_SECONDS + configurations.size * PARITY_SECONDS + measured.length * ARM_CHECK_SECONDS
  return checkSeconds + estimateSeconds(trials) + sumArmSeconds(calibrations) + sumArmSeconds(searched)
}

/** Adds up warm-ups, windows and overheads of one trial of each arm. @param {Arm[]} arms @returns {number} */
function sumArmSeconds(arms) {
  return arms.reduce((sum, arm) => {
    const { warmupSeconds, windowSeconds } = arm.load
    return sum + warmupSeconds + windowSeconds + estimateOverheadSeconds(arm)
  }, 0)
}

/**
 * Estimates the time that a trial takes beside warm-up and window: start, checks and end, and in some trials an idle measurement.
 * @param {Arm} arm
 * @returns {number} seconds
 */
function estimateOverheadSeconds({ load, hasSidecars, conditions }) {
  const { pairs = 0, sidecars = 2 * pairs, simulated = 0 } = conditions
  // Two rollouts with as many sidecars as are real come first: they check that simulated sidecars cost as much.
  const startedCount = simulated > 0 ? sidecars + 2 * (sidecars - simulated) : sidecars
  const isIdleNeeded = isIdleCpuNeeded(load, { sidecars: hasSidecars ? Math.max(2, sidecars) : 0 })
  const idleSeconds = isIdleNeeded ? IDLE_SECONDS : 0
  return OVERHEAD_SECONDS + idleSeconds + ROLLOUT_SECONDS_PER_SIDECAR * startedCount
}
