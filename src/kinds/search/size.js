import { computeSidecarNeed, listOutcomesWithAllCpu, tryLoadWithAllCpu } from './all-cpu.js'
import { hasMetP99, judgeLimits } from './confirm.js'
import { computeCoresAt, computeCpuLimitPlace } from './cpu-limit.js'
import { tryLowerRates } from './lower-rates.js'
import { roundUpBytes } from './memory-floor.js'
import { withCpu, withMemory } from './step.js'
import { AT_LIMITS_MOST, TRIALS } from './trial-counts.js'

/**
 * The trials that `size` makes of a load: some with all the CPU of the machine, which show what sidecars take, and then some
 * at the limits that this suggests, down to the smallest that are confirmed. size-result.js makes their result.
 * @import { Arm, SearchSpec } from '../../model/types.ts'
 * @import { Need, Tried, Trials } from './all-cpu.js'
 * @import { Judgement } from './confirm.js'
 */

/**
 * Room above the mean, in places of the CPU grid and as factors: requests come in bursts, the quota is counted in periods of
 * 100 ms, and memory grows with the requests that wait.
 */
export const ROOM = { places: 2, ofMemory: 1.5, ofRequest: 1.15 }
// Other users of a shared machine may spoil one trial in three: so many in a row show that it is too busy.
const LOST_MOST = 4

/**
 * Tries a load with all the CPU, then at limits. If all the CPU does not meet the load, it tries lower rates for a
 * line, if that was requested (`isExtrapolated`), or ends.
 * @param {{ template: Arm, spec: Extract<SearchSpec, { kind: 'size' }>, cpus: number, tried: Tried[] }} options cpus: of the
 *   machine; tried: the caller adds each trial that it measured
 * @returns {Trials} it yields the arms to measure
 */
export function* tryLoad({ template, spec: { p99Ms, isExtrapolated }, cpus, tried }) {
  yield* tryLoadWithAllCpu({ template, cpus, tried })
  const need = computeSidecarNeed(listOutcomesWithAllCpu({ template, cpus, tried }))
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
  const place = Math.min(computeCpuLimitPlace(cpus), computeCpuLimitPlace(need.cores) + ROOM.places)
  return { place, cores: computeCoresAt(place, cpus), bytes: roundUpBytes(need.bytes * ROOM.ofMemory) }
}

/**
 * Tries limits. After a trial that misses the p99, it adds CPU in growing steps, or memory if the kernel killed for it. For the
 * smallest limits, after a trial that meets the p99, it returns half way to those that missed it, and confirms those one step above
 * the smallest that met it: at the smallest themselves, chance and the hour decide. It ends with confirmed limits, if all the CPU is
 * too little, after AT_LIMITS_MOST trials, or on a machine that is too busy.
 * @param {{ template: Arm, cpus: number, p99Ms: number, tried: Tried[], need: Need, isSmallest: boolean }} options
 *   need: what sidecars took with all the CPU; isSmallest: find the smallest limits; false: confirm the first that hold
 * @returns {Trials} it yields the arms to measure
 */
export function* tryLimits({ template, cpus, p99Ms, tried, need, isSmallest }) {
  const last = computeCpuLimitPlace(cpus)
  let { place, bytes } = suggestLimits({ need, cpus })
  // At the first place above the mean every burst is throttled, and chance decides whether a trial meets the p99.
  let failed = isSmallest ? computeCpuLimitPlace(need.cores) : place - 1
  let stride = ROOM.places
  let trials = 0
  let lost = 0
  const createArmAt = (/** @type {number} */ i) => withMemory(withCpu(template, computeCoresAt(i, cpus)), bytes)
  const listOutcomesAt = (/** @type {number} */ i) =>
    tried.filter(({ arm }) => arm.id === createArmAt(i).id).map(({ outcome }) => outcome)
  const judgeAt = (/** @type {number} */ i) => judgeLimits(listOutcomesAt(i), p99Ms)
  while (trials < AT_LIMITS_MOST && lost < LOST_MOST) {
    const judgement = judgeAt(place)
    const isLowest = place - 1 <= failed
    const isStepAbove = place - 2 <= failed && hasMetP99(judgeAt(place - 1))
    const isAnswer = isStepAbove || (isLowest && (!isSmallest || place === last))
    if (judgement.isConfirmed && isAnswer) return
    if (isRefuted(judgement)) {
      if (listOutcomesAt(place).some(({ survived }) => survived === false)) {
        bytes = roundUpBytes(bytes * ROOM.ofMemory)
        continue
      }
      if (place === last) return
      failed = place
      const triedPlace = listPlacesAbove(place, last).find(i => listOutcomesAt(i).length > 0)
      place = triedPlace ?? Math.min(last, place + stride)
      stride *= 2
    } else if (judgement.proofs > 0 && !isAnswer) {
      place = isLowest ? place + 1 : Math.floor((failed + place) / 2)
    } else {
      yield createArmAt(place)
      trials++
      const { proofs, missed } = judgeAt(place)
      lost = proofs > judgement.proofs || missed > judgement.missed ? 0 : lost + 1
    }
  }
}

/**
 * Says whether no more trials can confirm limits: one missed the p99, or TRIALS.most met it with p99s that are too far apart.
 * @param {Judgement} judgement
 */
const isRefuted = ({ missed, proofs, isConfirmed }) => missed > 0 || (proofs >= TRIALS.most && !isConfirmed)

/**
 * Lists the places of the CPU grid above one, rising.
 * @param {number} place
 * @param {number} last the last place of the grid
 */
const listPlacesAbove = (place, last) => Array.from({ length: last - place }, (_, i) => place + 1 + i)
