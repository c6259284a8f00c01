import { MACHINE_REASONS, renderGrowthEndings } from '../../kinds/growth/numbers.js'
import { summariseValues } from '../../lib/stats.js'
import { renderInterval } from '../../lib/units.js'
import { findResult, listArms } from '../../model/results.js'
import { chooseRoundsLeast } from '../verdict.js'
import { CLAIM_QUANTITIES, createUntestableAnswer, NOT_TESTABLE } from './answers.js'
import { isSelected, renderSelector } from './arms.js'

/** Judges a published limit, quantity or time of a control plane by a run of growth. Pure. */
/**
 * @import { GrowthFit, Summary, SummaryArm } from '../../model/types.ts'
 * @import { ClaimAnswer } from './answers.js'
 */
/** @import { GrowthClaim } from './schema.js' */

/** The sign of a slope is a direction: above 0, memory rises with the sidecars. Other quantities have none. */
const SLOPES = ['grownPerSidecar']

/**
 * Tests the number of sidecars at which a control plane fails, a quantity, or its times by step. Not testable: the run has no
 * such arm, or fewer rounds than an interval needs, or something else ended its rounds (the machine, too few sidecars).
 * @param {GrowthClaim} claim
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if the run has no such arm, or did not measure the quantity
 */
export function testGrowth(claim, { results, notMeasured }) {
  const arm = listArms({ results }).find(candidate => isSelected(candidate, claim.among))
  const growth = findResult({ results }, 'growth')?.growths.find(({ armId }) => armId === arm?.id)
  if (!arm || !growth) {
    const missing = notMeasured.filter(({ plane }) => plane === claim.among.plane)
    const reasons = new Set(missing.map(({ reason }) => reason))
    return createUntestableAnswer([`no arm here is ${renderSelector(claim.among)}`, ...reasons].join('; '))
  }
  const answer = judgeClaim(claim, { arm, growth })
  const [rounds, roundsLeast] = [growth.rounds.length, chooseRoundsLeast(false)]
  if (rounds >= roundsLeast || answer.status === NOT_TESTABLE) return answer
  return createUntestableAnswer(`indicative only: ${rounds} rounds, ${roundsLeast} are needed`, answer.ours)
}

/**
 * Judges a claim by the growth of an arm, whatever the number of its rounds.
 * @param {GrowthClaim} claim
 * @param {{ arm: SummaryArm, growth: GrowthFit }} options growth: of the arm
 * @returns {ClaimAnswer}
 */
function judgeClaim(claim, { arm, growth }) {
  const { failsAt, quantity } = claim
  if (failsAt !== undefined) return judgeFailure(failsAt, claim, growth)
  return quantity === undefined ? judgeSteps(claim, growth) : judgeQuantity(quantity, claim, arm)
}

/**
 * Judges the median number of sidecars at which rounds failed.
 * @param {number} failsAt the published number
 * @param {GrowthClaim} claim
 * @param {GrowthFit} growth
 * @returns {ClaimAnswer} contradicted: no round failed up to the published number; direction only: rounds failed by another reason or
 *   with another number of sidecars; not testable: the machine ended a round, only some rounds failed, or too few sidecars ran
 */
function judgeFailure(failsAt, { reason, tolerance }, growth) {
  const { rounds } = growth
  const ours = renderGrowthEndings(growth)
  const createAnswer = (/** @type {ClaimAnswer['status']} */ status, why = '') => ({ status, ours, reason: why })
  if (rounds.some(round => round.reason !== null && MACHINE_REASONS.includes(round.reason)))
    return createAnswer(NOT_TESTABLE, 'the machine ended it, not the control plane')
  const failures = rounds.flatMap(({ failedAt }) => failedAt ?? [])
  if (failures.length === 0) {
    const fewestSidecars = Math.min(...rounds.map(({ sidecars }) => sidecars))
    return fewestSidecars < failsAt
      ? createAnswer(NOT_TESTABLE, `it was given fewer than the published ${failsAt}: ask for more with --sidecars`)
      : createAnswer('contradicted')
  }
  if (failures.length < rounds.length) return createAnswer(NOT_TESTABLE, 'some rounds failed, and some did not')
  if (reason !== undefined && rounds.some(round => round.reason !== reason))
    return createAnswer('direction only', `it fails, and not by ${reason}`)
  const { median } = summariseValues(failures)
  return Math.abs(Number(median) / failsAt - 1) <= tolerance
    ? createAnswer('reproduced')
    : createAnswer('direction only', 'it fails, with another number of sidecars')
}

/**
 * Judges the median of a quantity.
 * @param {string} name of the quantity
 * @param {GrowthClaim} claim
 * @param {SummaryArm} arm
 * @returns {ClaimAnswer} direction only: a slope outside of the tolerance that is above 0; contradicted: any other value outside of
 *   it; not testable: it was not measured
 */
function judgeQuantity(name, { value: theirs = 0, tolerance }, arm) {
  const { find, format, label } = CLAIM_QUANTITIES[name]
  const quantity = find(arm)
  const { median, low } = quantity
  if (median === null) return createUntestableAnswer('not measured: too few steps held')
  const ours = `${label} ${format(median)}${renderInterval(quantity, format)}`
  if (Math.abs(median / theirs - 1) <= tolerance) return { status: 'reproduced', ours, reason: '' }
  if (!SLOPES.includes(name)) return { status: 'contradicted', ours, reason: 'outside of the tolerance' }
  return (low ?? median) > 0
    ? { status: 'direction only', ours, reason: 'it rises with the sidecars, outside of the tolerance' }
    : { status: 'contradicted', ours, reason: 'it does not rise with the sidecars' }
}

/**
 * Judges the median seconds of steps by their published ranges; outside of these, by the rise from the first step to the last.
 * @param {GrowthClaim} claim
 * @param {GrowthFit} growth
 * @returns {ClaimAnswer} direction only: the times rise, outside of the ranges; contradicted: they fall; not testable: a step was not
 *   taken, or neither is shown
 */
function judgeSteps({ steps: theirs = [] }, growth) {
  const stepSeconds = theirs.map(({ sidecars }) => growth.steps.find(step => step.sidecars === sidecars)?.seconds)
  const ours = theirs
    .map(({ sidecars }, i) => `${stepSeconds[i]?.median?.toFixed(2) ?? '-'} s at ${sidecars}`)
    .join(', ')
  const knownSeconds = stepSeconds.flatMap(seconds => (seconds && seconds.median !== null ? [seconds] : []))
  const last = knownSeconds.at(-1)
  if (!last || knownSeconds.length < theirs.length)
    return createUntestableAnswer('not every one of these steps was taken: ask for more with --sidecars', ours)
  const isWithin = theirs.every(({ leastSeconds, mostSeconds }, i) => {
    const median = Number(knownSeconds[i].median)
    return median >= leastSeconds && median <= mostSeconds
  })
  if (isWithin) return { status: 'reproduced', ours, reason: '' }
  const first = knownSeconds[0]
  const rises = last.values.flatMap((seconds, i) => {
    const firstSeconds = first.values[i]
    return seconds === null || firstSeconds === null ? [] : seconds - firstSeconds
  })
  const { low, high } = summariseValues(rises)
  if (low === null || high === null || (low <= 0 && high >= 0))
    return createUntestableAnswer('outside of the ranges, and no rise shown', ours)
  return low > 0
    ? { status: 'direction only', ours, reason: 'it rises, outside of the ranges' }
    : { status: 'contradicted', ours, reason: 'it falls' }
}
