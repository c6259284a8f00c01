import { isMet, judgeLimits } from './confirm.js'
import { computeCapAt, findCapIndex } from './cpu-limit.js'
import { tryLowerRates } from './lower-rates.js'
import { roundUp } from './memory-floor.js'
import { withCpu, withMemory } from './step.js'
import { AT_LIMITS_MOST, TRIALS } from './trial-counts.js'
import { findNeed, listOutcomesWithAllCpu, tryWithAllCpu } from './whole.js'

/**
 * The trials that `size` makes of a load: some with all the CPU of the machine, which show what sidecars take, and then some
 * at the limits that this suggests, down to the smallest that are confirmed. size-result.js makes their result.
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 * @import { Need, Tried, Trials } from './whole.js'
 */

/**
 * Room above the mean, in places of the CPU grid and as factors: requests come in bursts, the quota is counted in periods of
 * 100 ms, and memory grows with the requests that wait.
 */
export const ROOM = { places: 2, ofMemory: 1.5, ofRequest: 1.15 }
// Other users of a shared machine may spoil one trial in three: four in a row show that it is too busy.
const LOST_MOST = 4

/**
 * Tries a load with all the CPU, then at limits. If all the CPU does not meet the load, it tries lower rates for a
 * line, if that was requested (`isExtrapolated`), or ends.
 * @param {{ template: Arm, spec: Extract<SearchSpec, { kind: 'size' }>, cpus: number, tried: Tried[] }} options cpus: of the
 *   machine; tried: the caller adds each trial that it measured
 * @returns {Trials} it yields the arms to measure
 */
export function* trySize({ template, spec: { p99Ms, isExtrapolated }, cpus, tried }) {
  yield* tryWithAllCpu({ template, cpus, tried })
  const need = findNeed(listOutcomesWithAllCpu({ template, cpus, tried }))
  if (need) yield* tryLimits({ template, cpus, p99Ms, tried, need, isSmallest: true })
  else if (isExtrapolated) yield* tryLowerRates({ template, cpus, tried })
}

/**
 * Suggests limits with room above what sidecars take. The CPU limit is at most the machine's CPUs, so that there may
 * be less room, or none.
 * @param {{ need: Need, cpus: number }} options cpus: of the machine
 * @returns {{ place: number, cores: number, bytes: number }} place: of the CPU limit on the CPU grid; cores: the CPU limit;
 *   bytes: the memory limit, rounded up
 */
export function suggestLimits({ need, cpus }) {
  const place = Math.min(findCapIndex(cpus), findCapIndex(need.cores) + ROOM.places)
  return { place, cores: computeCoresAt(place, cpus), bytes: roundUp(need.bytes * ROOM.ofMemory) }
}

/**
 * Computes the CPU limit at a place on the grid, at most the machine's CPUs.
 * @param {number} place
 * @param {number} cpus
 * @returns {number} cores
 */
const computeCoresAt = (place, cpus) => Math.min(cpus, computeCapAt(place))

/**
 * Tries limits. After a trial that misses the p99, it adds CPU in growing steps, or memory if the kernel killed for
 * it. For the smallest limits, after a trial that meets the p99, it returns half way to those that missed it, and confirms
 * those one step above the smallest that met it: at the smallest themselves, chance and the hour decide. It ends with
 * confirmed limits, if all the CPU is too little, after AT_LIMITS_MOST trials, or on a machine that is too busy.
 * @param {{ template: Arm, cpus: number, p99Ms: number, tried: Tried[], need: Need, isSmallest: boolean }} options
 *   need: what sidecars took with all the CPU; isSmallest: find the smallest limits; false: confirm the first that
 *   hold
 * @returns {Trials} it yields the arms to measure
 */
export function* tryLimits({ template, cpus, p99Ms, tried, need, isSmallest }) {
  const start = suggestLimits({ need, cpus })
  const last = findCapIndex(cpus)
  let { place, bytes } = start
  // Within 15 % of the mean every burst is throttled, and chance decides whether a trial meets the p99.
  let failed = isSmallest ? findCapIndex(need.cores) : place - 1
  let stride = ROOM.places
  let lost = 0
  const createArmAt = (/** @type {number} */ i) => withMemory(withCpu(template, computeCoresAt(i, cpus)), bytes)
  const listOutcomesAt = (/** @type {number} */ i) =>
    tried.filter(({ arm }) => arm.id === createArmAt(i).id).map(t => t.outcome)
  for (let trials = 0; trials < AT_LIMITS_MOST; ) {
    const { proofs, missed, isConfirmed } = judgeLimits(listOutcomesAt(place), p99Ms)
    const isLowest = place - 1 <= failed
    const isStepAbove = place - 2 <= failed && isMet(judgeLimits(listOutcomesAt(place - 1), p99Ms))
    const isAnswer = isStepAbove || (isLowest && (!isSmallest || place === last))
    if (isConfirmed && isAnswer) return
    if (missed > 0 || (proofs >= TRIALS.most && !isConfirmed)) {
      if (listOutcomesAt(place).some(o => o.survived === false)) {
        bytes = roundUp(bytes * ROOM.ofMemory)
        continue
      }
      if (place === last) return
      failed = place
      const known = Array.from({ length: last - place }, (_, i) => place + 1 + i).find(
        i => listOutcomesAt(i).length > 0,
      )
      place = known ?? Math.min(last, place + stride)
      stride *= 2
      continue
    }
    if (proofs > 0 && !isAnswer) {
      place = isLowest ? place + 1 : Math.floor((failed + place) / 2)
      continue
    }
    yield createArmAt(place)
    trials++
    const judged = judgeLimits(listOutcomesAt(place), p99Ms)
    lost = judged.proofs > proofs || judged.missed > missed ? 0 : lost + 1
    if (lost === LOST_MOST) return
  }
}
