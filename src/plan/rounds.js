import { PLANS } from '../kinds/plans.js'
import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { UsageError } from '../lib/errors.js'
import { createRandom, shuffle } from '../lib/random.js'
import { groupOf } from '../model/axes.js'
import { ROUNDS_MOST } from '../model/bounds.js'
import { estimatePlanSeconds, estimateSeconds } from './time.js'

/** The rounds of a plan, and the order of their trials. Pure. @import { Arm, Plan, Trial } from '../model/types.ts' */
/** @import { Question } from './question.js' */

// All trials are made before the first runs.
const TRIALS_MOST = 100_000

/** Throws UsageError for too many trials. @param {number} trials @param {{ name: string }} experiment */
export function assertFew(trials, { name }) {
  if (trials <= TRIALS_MOST) return
  throw new UsageError(`${name} would be ${trials} trials, at most ${TRIALS_MOST}: ask for fewer values or rounds`)
}

/**
 * Chooses the rounds asked for, or with a precision as many as there is time for. Throws UsageError where that shows nothing.
 * @param {Question} question @param {{ arms: Arm[], calibrations: Arm[], order: typeof orderTrials }} measured
 */
export function chooseRounds(question, { arms, calibrations, order }) {
  const { precision } = question.overrides
  if (!precision) return question.profile.rounds
  assertPrecise(question, arms)
  const roundSeconds = estimateSeconds(order({ arms, rounds: 1, seed: 0 }))
  return countRounds({ arms, calibrations, precision, roundSeconds })
}

/** Plans every arm once a round, in random order. @param {{ arms: Arm[], rounds: number, seed: number }} options */
export function orderTrials({ arms, rounds, seed }) {
  const random = createRandom(seed)
  const trials = []
  for (let round = 1; round <= rounds; round++) {
    for (const arm of shuffle(arms, random)) {
      trials.push({ id: `r${round}-${arm.id}`, round, arm, repeats: null, searchOf: null })
    }
  }
  return trials
}

/** Throws where rounds could make nothing precise. @param {Question} question @param {Arm[]} arms */
function assertPrecise(question, arms) {
  const why = explainImprecise(question, arms)
  if (why !== null) throw new UsageError(`--precision is for ratios of CPU per request, and ${why}`)
  if (question.overrides.rounds)
    throw new UsageError(`--precision decides how many rounds there are: leave out --rounds`)
}

/** @param {Question} question @param {Arm[]} arms */
function explainImprecise({ kind, experiment: { name, load, keepsServices, shows } }, arms) {
  if (PLANS[kind].choosesTrials) return `${name} is a ${kind}, and has no rounds`
  if (load.kind === 'idle') return `${name} has no requests, and so no CPU per request`
  if (keepsServices) return `${name} watches the same processes over time`
  const planes = arms.filter(arm => arm.hasSidecars && arm.repeatOf === null)
  const hasPair = shows.contrasts.length > 0 || new Set(planes.map(arm => groupOf(arm))).size < planes.length
  return hasPair ? null : 'no two planes are compared: name two with --planes'
}

/**
 * Counts the rounds that there is time for; throws where they are too few for an interval.
 * @param {{ arms: Arm[], calibrations: Arm[], precision: NonNullable<Plan['precision']>, roundSeconds: number }} options
 */
function countRounds({ arms, calibrations, precision: { maxMinutes }, roundSeconds }) {
  const before = estimatePlanSeconds({ arms, calibrations, trials: [], search: null })
  const count = Math.floor((60 * maxMinutes - before) / roundSeconds)
  if (count < SEQUENCE_LEAST) {
    const minutes = Math.ceil((before + SEQUENCE_LEAST * roundSeconds) / 60)
    throw new UsageError(
      `--precision needs at least ${SEQUENCE_LEAST} rounds, about ${minutes} min here, and --max-minutes allows ${maxMinutes}: give it ${minutes}, or ask for less (--profile quick, --planes)`,
    )
  }
  return Math.min(count, ROUNDS_MOST, Math.floor(TRIALS_MOST / arms.length))
}
