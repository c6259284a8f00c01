import { SEQUENCE_LEAST } from '../lib/confidence-sequence.js'
import { UsageError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { createRandom, shuffle } from '../lib/random.js'
import { nameOf } from '../model/arms.js'
import { groupOf } from '../model/axes.js'
import { ROUNDS_MOST } from '../model/bounds.js'
import { TRIALS_MOST } from './checks.js'
import { estimatePlanSeconds, sumSeconds } from './time.js'

/**
 * How many rounds a plan has, and in which order their trials run. Pure.
 * @import { Arm, Plan, Trial } from '../model/types.ts'
 * @import { Question } from './question.js'
 */

/**
 * The rounds asked for, or with a precision those that there is time for.
 * @param {Question} question
 * @param {{ arms: Arm[], calibrations: Arm[] }} measured
 * @throws {UsageError} where rounds can make nothing precise, or the time is too short for an interval
 */
export function chooseRounds(question, { arms, calibrations }) {
  const { precision } = question.overrides
  if (!precision) return question.profile.rounds
  assertPrecise(question, arms)
  return countRounds({ arms, calibrations, precision })
}

/**
 * Every arm once a round, in random order.
 * @param {{ arms: Arm[], rounds: number, seed: number }} options
 */
export function orderTrials({ arms, rounds, seed }) {
  const random = createRandom(seed)
  /** @type {Trial[]} */
  const trials = []
  for (let round = 1; round <= rounds; round++) {
    for (const arm of shuffle(arms, random)) {
      trials.push({ id: `r${round}-${arm.id}`, round, arm, repeats: null, searchOf: null })
    }
  }
  return trials
}

/** Arms that stand at the same time, at most: a small node has memory for no more. */
const TOGETHER_MOST = 6

/**
 * Every arm once a round, beside the others of its link and load; where these are too many, in groups, each with the first arm
 * of every plane. The order in which the arms of a group are started turns from round to round.
 * @param {{ arms: Arm[], rounds: number, seed: number }} options
 */
export function orderDeployments({ arms, rounds, seed }) {
  const random = createRandom(seed)
  const alike = [...groupBy(arms, arm => JSON.stringify([arm.link, arm.load])).values()]
  const groups = alike.flatMap(splitGroup).map(group => shuffle(group, random))
  /** @type {Trial[]} */
  const trials = []
  for (let round = 1; round <= rounds; round++) {
    for (const group of shuffle(groups, random)) {
      const name = groups.length > 1 ? `-${groups.indexOf(group) + 1}` : ''
      const turned = group.map((_, i) => group[(i + round) % group.length])
      const deployment = `r${round}-turns${name}`
      for (const arm of round % 2 === 0 ? turned.toReversed() : turned)
        trials.push({ id: `r${round}${name}-${arm.id}`, round, arm, deployment, repeats: null, searchOf: null })
    }
  }
  return trials
}

/**
 * @param {Arm[]} arms of one link and load
 * @returns {Arm[][]}
 */
function splitGroup(arms) {
  if (arms.length <= TOGETHER_MOST) return [arms]
  const firsts = arms.filter((arm, i) => arms.findIndex(other => nameOf(other) === nameOf(arm)) === i)
  const others = arms.filter(arm => !firsts.includes(arm))
  const room = Math.max(1, TOGETHER_MOST - firsts.length)
  const count = Math.ceil(others.length / room)
  return Array.from({ length: count }, (_, i) => [...firsts, ...others.slice(i * room, (i + 1) * room)])
}

/**
 * @param {Question} question
 * @param {Arm[]} arms
 * @throws {UsageError} where there is nothing that rounds could make precise
 */
function assertPrecise({ experiment, overrides }, arms) {
  const why = explainImprecise(experiment, arms)
  if (why !== null) throw new UsageError(`--precision is for ratios of CPU per request, and ${why}`)
  if (overrides.rounds) throw new UsageError(`--precision decides how many rounds there are: leave out --rounds`)
}

/**
 * @param {Question['experiment']} experiment
 * @param {Arm[]} arms
 */
function explainImprecise({ name, search, load, keepsServices, shows }, arms) {
  if (search) return `${name} is a search, and has no rounds`
  if (load.kind === 'idle') return `${name} has no requests, and so no CPU per request`
  if (keepsServices) return `${name} watches the same processes over time`
  const planes = arms.filter(arm => arm.hasSidecars && arm.repeatOf === null)
  const hasPair = shows.contrasts.length > 0 || new Set(planes.map(arm => groupOf(arm))).size < planes.length
  return hasPair ? null : 'no two planes are compared: name two with --planes'
}

/**
 * The rounds that there is time for.
 * @param {{ arms: Arm[], calibrations: Arm[], precision: NonNullable<Plan['precision']> }} options
 * @throws {UsageError} where the time is too short for an interval
 */
function countRounds({ arms, calibrations, precision: { maxMinutes } }) {
  const before = estimatePlanSeconds({ arms, calibrations, trials: [], search: null })
  const count = Math.floor((60 * maxMinutes - before) / sumSeconds(arms))
  if (count < SEQUENCE_LEAST) {
    const minutes = Math.ceil((before + SEQUENCE_LEAST * sumSeconds(arms)) / 60)
    throw new UsageError(
      `--precision needs at least ${SEQUENCE_LEAST} rounds, about ${minutes} min here, and --max-minutes allows ${maxMinutes}: give it ${minutes}, or ask for less (--profile quick, --planes)`,
    )
  }
  return Math.min(count, ROUNDS_MOST, Math.floor(TRIALS_MOST / arms.length))
}
