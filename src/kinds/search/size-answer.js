import { groupBy } from '../../lib/group-by.js'
import { computeLargestBytes, computeSidecarNeed, listOutcomesWithAllCpu } from './all-cpu.js'
import { hasMetP99, judgeLimits } from './confirm.js'
import { computeCpuLimitPlace } from './cpu-limit.js'
import { ROOM, suggestLimits } from './size.js'
import { hasOnlyCpuRequest, readCpuCores } from './step.js'
import { TRIALS } from './trial-counts.js'

/**
 * The answer of `size` from the trials of a load, however many there are: a search that was cut short, or whose trials were
 * spoiled, has an answer, too, whose state says so. Pure.
 * @import { Arm, SizeResult } from '../../model/types.ts'
 * @import { Tried } from './all-cpu.js'
 * @import { Judgement } from './confirm.js'
 * @import { Outcome } from './outcome.js'
 * @typedef {NonNullable<SizeResult['answer']>} SizeAnswer
 * @typedef {SizeResult & { answer: SizeAnswer }} AnsweredSize
 * @typedef {{ cores: number, bytes: number, outcomes: Outcome[] } & Judgement} JudgedLimits limits, and all trials at them
 */

/**
 * Says whether a result has an answer. Those of older searches have none.
 * @param {SizeResult} size
 * @returns {size is AnsweredSize}
 */
export const hasAnswer = size => size.answer !== undefined

/**
 * Judges each pair of a CPU and a memory limit that was tried, by all trials at it.
 * @param {Tried[]} tried
 * @param {number} p99Ms the limit
 * @returns {JudgedLimits[]} []: no trial had both limits
 */
export function judgeTriedLimits(tried, p99Ms) {
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
 * Chooses the limits of the answer: the smallest confirmed ones, if possible such that one step less CPU met the p99, too; else the
 * smallest that no trial refutes; else, if no trial had limits, those that the CPU and memory of the load suggest; else none, with the
 * state `none`.
 * @param {{ template: Arm, cpus: number, p99Ms: number, tried: Tried[], groups: JudgedLimits[], isOver: boolean }} options
 * @returns {SizeAnswer}
 */
export function chooseSizeAnswer({ template, cpus, p99Ms, tried, groups, isOver }) {
  const outcomesWithAllCpu = listOutcomesWithAllCpu({ template, cpus, tried })
  const confirmed = groups.filter(group => group.isConfirmed)
  const best = pickWithRoom(confirmed, groups) ?? pickUnrefuted(groups)
  if (best) {
    const why = best.isConfirmed ? null : renderWhyUnconfirmed(best, isOver)
    return createSizeAnswer({ template, judged: best, outcomesWithAllCpu, why })
  }
  const need = groups.length > 0 ? null : computeSidecarNeed(outcomesWithAllCpu)
  if (need === null) return createAnswerWithoutLimits({ cpus, groups, outcomesWithAllCpu })
  const { cores, bytes } = suggestLimits({ need, cpus })
  const judged = { cores, bytes, outcomes: [], ...judgeLimits([], p99Ms) }
  const why = 'these limits were not tried: they are what the load took, with room'
  return createSizeAnswer({ template, judged, outcomesWithAllCpu, why })
}

/**
 * Picks the smallest limits: by CPU, then by memory.
 * @template {{ cores: number, bytes: number }} T
 * @param {T[]} groups
 * @returns {T | undefined} undefined: there are none
 */
const pickSmallest = groups => groups.toSorted((a, b) => a.cores - b.cores || a.bytes - b.bytes).at(0)

/**
 * Picks the smallest limits for which trials with one step less CPU met the p99, too; if there are none, the smallest.
 * @param {JudgedLimits[]} limits
 * @param {JudgedLimits[]} groups all that were tried
 * @returns {JudgedLimits | undefined} undefined: there are no limits
 */
function pickWithRoom(limits, groups) {
  const withRoom = limits.filter(group => isMetOneStepBelow(group, groups))
  return pickSmallest(withRoom.length > 0 ? withRoom : limits)
}

/**
 * Says whether the next smaller CPU limit of the grid, with the same memory limit, was tried, and met the p99 in a trial that
 * counts, and no trial there missed it.
 * @param {JudgedLimits} limits
 * @param {JudgedLimits[]} groups all that were tried
 * @returns {boolean}
 */
function isMetOneStepBelow({ cores, bytes }, groups) {
  const below = computeCpuLimitPlace(cores) - 1
  return groups.some(other => other.bytes === bytes && computeCpuLimitPlace(other.cores) === below && hasMetP99(other))
}

/**
 * Picks the smallest limits such that no trial missed the p99 at them, or at larger limits. Limits at which a trial
 * met the p99 come first, and among these, those that also met it with one step less CPU.
 * @param {JudgedLimits[]} groups
 * @returns {JudgedLimits | undefined} undefined: all are refuted
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
 * @param {JudgedLimits} judged
 * @param {boolean} isOver false: the search was interrupted
 * @returns {string} a clause
 */
function renderWhyUnconfirmed({ proofs, boundMs, outcomes }, isOver) {
  // No trial missed the p99, and a bound is computed from enough of them: it is over the limit itself.
  if (boundMs !== null) return `the next trial may take up to ${boundMs.toFixed(0)} ms`
  const unjudged = outcomes.filter(o => o.held === null)
  const spoiledMs = unjudged.flatMap(o => o.p99Ms ?? [])
  const spoiledRange = spoiledMs.length > 0 ? ` (p99 up to ${Math.max(...spoiledMs).toFixed(0)} ms)` : ''
  const progress =
    proofs === 0
      ? `no trial at these limits could be judged${spoiledRange}`
      : `${proofs} of the ${TRIALS.least} trials needed met the p99`
  if (!isOver) return `${progress} before the search was cut short`
  const cause = findMostFrequentCause(unjudged)
  return cause === null ? progress : `${progress}: ${cause}`
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
 * Creates the answer with these limits: confirmed without a `why`, else estimated.
 * @param {{ template: Arm, judged: JudgedLimits, outcomesWithAllCpu: Outcome[], why: string | null }} options
 *   why: the limits are not confirmed; null: they are
 * @returns {SizeAnswer} need: null: no trial shows what sidecars take; requestCores: at most the CPU limit; null: there is no need,
 *   and the CPU is not itself a request
 */
function createSizeAnswer({ template, judged, outcomesWithAllCpu, why }) {
  const { cores, bytes, outcomes, met, besideOthers, missed, notJudged, p99Ms, boundMs } = judged
  const need = computeAnswerNeed(outcomes, outcomesWithAllCpu)
  const requestForNeed = need && Math.min(cores, ROOM.ofRequest * need.cores)
  return {
    state: why === null ? 'confirmed' : 'estimated',
    why:
      why ??
      `${met} of ${met} trials at these limits met the p99; the next will below ${Number(boundMs).toFixed(0)} ms`,
    limits: { cores, bytes },
    requestCores: hasOnlyCpuRequest(template) ? cores : requestForNeed,
    need,
    met,
    ...(besideOthers > 0 && { besideOthers }),
    missed,
    notJudged,
    p99Ms,
    p99BoundMs: boundMs,
    trials: outcomes.map(o => o.trial),
  }
}

/**
 * Computes what sidecars took in the trials at the limits that held; if these do not show it, in those with all the CPU.
 * @param {Outcome[]} outcomes at the limits
 * @param {Outcome[]} outcomesWithAllCpu
 * @returns {SizeAnswer['need']} null: no trial shows it
 */
function computeAnswerNeed(outcomes, outcomesWithAllCpu) {
  const heldAtLimits = outcomes.filter(o => o.held && o.isNeedSeen)
  const measured = heldAtLimits.length > 0 ? heldAtLimits : outcomesWithAllCpu.filter(o => o.isNeedSeen)
  if (measured.length === 0) return null
  const [largest] = measured.toSorted((a, b) => computeLargestBytes([b]) - computeLargestBytes([a]))
  return {
    cores: Math.max(...measured.map(o => o.coresMost)),
    bytes: computeLargestBytes(measured),
    ...(largest.memory && { memory: largest.memory }),
  }
}

/**
 * Creates the answer of a search without limits, with the reason of the largest CPU limit that was refuted, or of the trials with
 * all the CPU if none had limits.
 * @param {{ cpus: number, groups: JudgedLimits[], outcomesWithAllCpu: Outcome[] }} options
 * @returns {SizeAnswer} with the state `none`
 */
function createAnswerWithoutLimits({ cpus, groups, outcomesWithAllCpu }) {
  const refuted = groups.toSorted((a, b) => a.cores - b.cores).at(-1)
  const missed = outcomesWithAllCpu.filter(o => o.held === false)
  const lastReason = refuted ? refuted.why : (missed.at(-1)?.why ?? outcomesWithAllCpu.at(-1)?.why)
  const triedCores = refuted ? refuted.cores : cpus
  return {
    limits: null,
    requestCores: null,
    need: null,
    p99Ms: null,
    p99BoundMs: null,
    state: 'none',
    why: lastReason === undefined ? 'no trial was made' : `with ${triedCores} CPUs: ${lastReason}`,
    met: 0,
    missed: missed.length,
    notJudged: 0,
    trials: [],
  }
}
