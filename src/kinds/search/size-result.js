import { groupBy } from '../../lib/group-by.js'
import { pickChoice } from '../../model/arms.js'
import { isMet, judgeLimits } from './confirm.js'
import { findCapIndex } from './cpu-limit.js'
import { extrapolateCpu } from './lower-rates.js'
import { ROOM, suggestLimits } from './size.js'
import { createSearchResult, isByRequest, readCpuCores } from './step.js'
import { TRIALS } from './trial-counts.js'
import { findLargestBytes, findNeed, listOutcomesWithAllCpu } from './whole.js'

/**
 * The answer of `size` from the trials of a load, however many there are: a search that was cut short, or whose trials were
 * spoiled, has an answer, too, whose state says so. Pure.
 * @import { Arm, SizeResult } from '../../model/types.ts'
 * @import { Outcome } from './outcome.js'
 * @import { Tried } from './whole.js'
 * @typedef {NonNullable<SizeResult['answer']>} SizeAnswer
 * @typedef {{ cores: number, bytes: number, outcomes: Outcome[] } & ReturnType<typeof judgeLimits>} Judged
 */

/**
 * @typedef {object} SizeOptions
 * @property {Arm} template with the rate
 * @property {number} cpus of the machine
 * @property {number} p99Ms the limit
 * @property {Tried[]} tried the trials so far
 * @property {boolean} isOver the search has ended
 * @property {string[]} [services] names of services with this load; [] by default
 * @property {SizeResult['line']} [line] of the CPU over the rate; null by default
 */

/**
 * Creates the result of `size` for one load.
 * @param {SizeOptions} options
 * @returns {SizeResult} if the answer has no limits, memory is null, and `extrapolated` may have a value
 */
export function createSizeResult({ template, cpus, p99Ms, tried, isOver, services = [], line = null }) {
  const groups = groupByLimits(tried, p99Ms)
  const answer = chooseAnswer({ template, cpus, p99Ms, tried, groups, isOver })
  const { limits, state, why, trials, p99Ms: worstMs } = answer
  const cpuSteps = groups
    .filter(group => limits === null || group.bytes === limits.bytes)
    .map(({ cores, missed, met, outcomes, ...group }) => ({
      value: cores,
      held: missed > 0 ? false : met > 0 ? true : null,
      why: group.why ?? 'met',
      trials: outcomes.map(o => o.trial),
    }))
    .toSorted((a, b) => a.value - b.value)
  const isConfirmed = state === 'confirmed'
  const below = cpuSteps.findLast(
    step => step.held === false && step.value < (limits?.cores ?? Number.POSITIVE_INFINITY),
  )
  const answerFields = { template, isFound: limits !== null, why }
  return {
    ...pickChoice(template),
    ratePerSecond: template.load.ratePerSecond ?? 0,
    p99LimitMs: p99Ms,
    p99Ms: worstMs,
    services,
    line,
    ...(isByRequest(template) && { neighbourCores: template.conditions.neighbourCores }),
    cpu: createSearchResult({
      ...answerFields,
      looksFor: 'cpu',
      held: limits?.cores ?? null,
      failed: below?.value ?? null,
      steps: cpuSteps,
    }),
    memory:
      limits && createSearchResult({ ...answerFields, looksFor: 'memory', held: limits.bytes, unchargedBytes: 0 }),
    checks: trials.length > 0 ? [{ what: 'at the answer', mustHold: true, held: isHeld(answer), why, trials }] : [],
    isChecked: isConfirmed,
    extrapolated: limits ? null : extrapolateCpu({ template, cpus, tried }),
    isOver,
    answer,
    trials: listTrials(tried),
  }
}

/**
 * Says whether all judged trials met the p99.
 * @param {SizeAnswer} answer
 * @returns {boolean | null} null: none was judged
 */
const isHeld = ({ met, missed }) => (missed > 0 ? false : met > 0 ? true : null)

/**
 * Lists the trials with their limits and outcomes.
 * @param {Tried[]} tried
 * @returns {NonNullable<SizeResult['trials']>}
 */
function listTrials(tried) {
  return tried.map(({ arm, outcome: { trial, held, p99Ms, why } }) => ({
    trial,
    ratePerSecond: arm.load.ratePerSecond ?? 0,
    cpuCores: readCpuCores(arm),
    memoryBytes: arm.conditions.memoryLimitBytes,
    state: held === null ? 'not judged' : held ? 'met' : 'missed',
    p99Ms,
    why,
  }))
}

/**
 * Groups the trials that had a CPU and a memory limit by these limits, and judges each group.
 * @param {Tried[]} tried
 * @param {number} p99Ms the limit
 * @returns {Judged[]} []: no trial had both limits
 */
function groupByLimits(tried, p99Ms) {
  const limited = tried.filter(({ arm }) => arm.conditions.memoryLimitBytes !== null && readCpuCores(arm) !== null)
  const groups = groupBy(limited, ({ arm }) => `${readCpuCores(arm)} ${arm.conditions.memoryLimitBytes}`)
  return [...groups.values()].map(group => {
    const [{ arm }] = group
    const outcomes = group.map(({ outcome }) => outcome)
    const limits = { cores: Number(readCpuCores(arm)), bytes: Number(arm.conditions.memoryLimitBytes) }
    return { ...limits, outcomes, ...judgeLimits(outcomes, p99Ms) }
  })
}

/**
 * Chooses the limits of the answer: the smallest that are confirmed, with one step less that met the p99, too, if there are such;
 * else the smallest that no trial refutes; if no trial had limits, those that the CPU and memory of the load suggest; else none,
 * with the state `none`.
 * @param {{ template: Arm, cpus: number, p99Ms: number, tried: Tried[], groups: Judged[], isOver: boolean }} options
 * @returns {SizeAnswer}
 */
function chooseAnswer({ template, cpus, p99Ms, tried, groups, isOver }) {
  const whole = listOutcomesWithAllCpu({ template, cpus, tried })
  const confirmed = groups.filter(group => group.isConfirmed)
  const best = pickWithRoom(confirmed, groups) ?? pickUnrefuted(groups)
  const answerFields = { template, whole }
  if (best)
    return createSizeAnswer({
      ...answerFields,
      judged: best,
      why: best.isConfirmed ? null : renderLackingProof(best, isOver),
    })
  const refuted = groups.toSorted((a, b) => a.cores - b.cores).at(-1)
  const need = refuted ? null : findNeed(whole)
  if (need) {
    const { cores, bytes } = suggestLimits({ need, cpus })
    const judged = { cores, bytes, outcomes: [], ...judgeLimits([], p99Ms) }
    return createSizeAnswer({
      ...answerFields,
      judged,
      why: 'these limits were not tried: they are what the load took, with room',
    })
  }
  const lastReason = refuted ? refuted.why : (whole.findLast(o => o.held === false)?.why ?? whole.at(-1)?.why)
  const triedCores = refuted ? refuted.cores : cpus
  const why = lastReason === undefined ? 'no trial was made' : `with ${triedCores} CPUs: ${lastReason}`
  const noLimits = { limits: null, requestCores: null, need: null, p99Ms: null, p99BoundMs: null }
  return {
    ...noLimits,
    state: 'none',
    why,
    met: 0,
    missed: whole.filter(o => o.held === false).length,
    notJudged: 0,
    trials: [],
  }
}

/**
 * Picks the smallest limits: by CPU, then by memory.
 * @template {{ cores: number, bytes: number }} T
 * @param {T[]} groups
 * @returns {T | undefined} undefined: there are none
 */
const pickSmallest = groups => groups.toSorted((a, b) => a.cores - b.cores || a.bytes - b.bytes).at(0)

/**
 * Picks the smallest limits whose CPU may be a step less, since a trial met the p99 with that and none missed it; if there are none,
 * the smallest.
 * @param {Judged[]} limits
 * @param {Judged[]} groups all that were tried
 * @returns {Judged | undefined} undefined: there are no limits
 */
function pickWithRoom(limits, groups) {
  const placeOf = (/** @type {Judged} */ { cores }) => findCapIndex(cores)
  const withRoom = limits.filter(group =>
    groups.some(other => other.bytes === group.bytes && placeOf(other) === placeOf(group) - 1 && isMet(other)),
  )
  return pickSmallest(withRoom.length > 0 ? withRoom : limits)
}

/**
 * Picks the smallest limits such that no trial missed the p99 at them, or at larger limits. Limits at which a trial
 * met the p99 come first, of these those whose CPU may be a step less.
 * @param {Judged[]} groups
 * @returns {Judged | undefined} undefined: all are refuted
 */
function pickUnrefuted(groups) {
  const missed = groups.filter(group => group.missed > 0)
  const unrefuted = groups.filter(
    ({ cores, bytes }) => !missed.some(other => other.cores >= cores && other.bytes >= bytes),
  )
  const met = unrefuted.filter(group => group.proofs > 0)
  return met.length > 0 ? pickWithRoom(met, groups) : pickSmallest(unrefuted)
}

/**
 * Renders why limits are not confirmed.
 * @param {Judged} judged
 * @param {boolean} isOver false: the search was interrupted
 * @returns {string} a clause
 */
function renderLackingProof({ proofs, boundMs, outcomes }, isOver) {
  const unjudged = outcomes.filter(o => o.held === null)
  const cause = findMostFrequentCause(unjudged)
  if (boundMs !== null) return `the next trial may take up to ${boundMs.toFixed(0)} ms`
  const spoiledMs = outcomes.flatMap(o => (o.held === null && o.p99Ms !== null ? [o.p99Ms] : []))
  const spoiledRange = spoiledMs.length > 0 ? ` (p99 up to ${Math.max(...spoiledMs).toFixed(0)} ms)` : ''
  const count =
    proofs === 0
      ? `no trial at these limits could be judged${spoiledRange}`
      : `${proofs} of the ${TRIALS.least} trials needed met the p99`
  if (!isOver) return `${count} before the search was cut short`
  return cause === null ? count : `${count}: ${cause}`
}

/**
 * Finds the most frequent cause, in the words of its last outcome. Causes that differ only in numbers count as one.
 * @param {Outcome[]} unjudged outcomes that were not judged
 * @returns {string | null} null: there are no outcomes
 */
function findMostFrequentCause(unjudged) {
  const causes = unjudged.map(({ cause, why }) => cause ?? why)
  const kinds = [...groupBy(causes, text => text.replaceAll(/[\d.]+/g, '')).values()]
  return kinds.toSorted((a, b) => b.length - a.length)[0]?.at(-1) ?? null
}

/**
 * Creates the answer from judged limits. The CPU request is at most the CPU limit.
 * @param {{ template: Arm, judged: Judged, whole: Outcome[], why: string | null }} options whole: outcomes with all
 *   the CPU; why: the limits are not confirmed; null: they are
 * @returns {SizeAnswer} requestCores, need: null: no trial shows what sidecars take
 */
function createSizeAnswer({ template, judged, whole, why }) {
  const { cores, bytes, outcomes, met, besideOthers, missed, notJudged, p99Ms, boundMs } = judged
  const measured = outcomes.filter(o => o.held && o.isNeedSeen)
  const needOutcomes = measured.length > 0 ? measured : whole.filter(o => o.isNeedSeen)
  const used = Math.max(...needOutcomes.map(o => o.coresMost))
  const largest = needOutcomes.toSorted((a, b) => findLargestBytes([b]) - findLargestBytes([a])).at(0)
  return {
    state: why === null ? 'confirmed' : 'estimated',
    why:
      why ??
      `${met} of ${met} trials at these limits met the p99; the next will below ${Number(boundMs).toFixed(0)} ms`,
    limits: { cores, bytes },
    requestCores: isByRequest(template)
      ? cores
      : needOutcomes.length > 0
        ? Math.min(cores, ROOM.ofRequest * used)
        : null,
    need:
      needOutcomes.length > 0
        ? { cores: used, bytes: findLargestBytes(needOutcomes), ...(largest?.memory && { memory: largest.memory }) }
        : null,
    met,
    ...(besideOthers > 0 && { besideOthers }),
    missed,
    notJudged,
    p99Ms,
    p99BoundMs: boundMs,
    trials: outcomes.map(o => o.trial),
  }
}
