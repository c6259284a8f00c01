import { computeLargestBytes } from '../all-cpu.js'
import { computeCoresAt, computeCpuLimitPlace } from '../cpu-limit.js'
import { roundUpBytes } from '../memory-floor.js'
import { ROOM, suggestLimits } from '../size.js'
import { tryStep, withCpu, withMemory } from '../step.js'

/**
 * Limits with room above what sidecars take with all the CPU. They take a few trials; the smallest limits take dozens. Pure.
 * @import { Arm } from '../../../model/types.ts'
 * @import { Search, TriedStep } from '../step.js'
 * @import { Need } from '../all-cpu.js'
 */

const TRIES_MOST = 6

/**
 * Computes what sidecars took in the trials of a step.
 * @param {Pick<TriedStep, 'outcomes'>} step with at least one trial
 * @returns {Need} the most of all trials
 */
export function computeStepNeed({ outcomes }) {
  return { cores: Math.max(...outcomes.map(o => o.coresMost)), bytes: computeLargestBytes(outcomes) }
}

/**
 * Finds limits that hold, from an estimate upwards. Each try is ROOM.places further on the CPU grid, or, if the kernel
 * killed for memory, has ROOM.ofMemory times the memory.
 * @param {{ template: Arm, cpus: number, need: Need }} options cpus: of the machine; need: the estimate
 * @returns {Search<{ limits: Need | null, last: TriedStep, steps: TriedStep[] }>} limits: null: none held within TRIES_MOST or with
 *   all the CPU, or a step could not be judged; last: the last step; steps: those that show whether the CPU suffices
 */
export function* findHoldingLimits({ template, cpus, need }) {
  const lastPlace = computeCpuLimitPlace(cpus)
  const steps = []
  let { place, bytes } = suggestLimits({ need, cpus })
  for (let tries = 1; ; tries++) {
    const cores = computeCoresAt(place, cpus)
    const arm = withMemory(withCpu(template, cores), bytes)
    const last = yield* tryStep({ ...arm, id: `${arm.id}-first` }, cores)
    const isKilled = last.outcomes.some(o => o.survived === false)
    if (!isKilled) steps.push(last)
    if (last.held) return { limits: { cores, bytes }, last, steps }
    if (last.held === null || tries === TRIES_MOST || (!isKilled && place === lastPlace))
      return { limits: null, last, steps }
    if (isKilled) bytes = roundUpBytes(bytes * ROOM.ofMemory)
    else place = Math.min(lastPlace, place + ROOM.places)
  }
}

/**
 * Finds the highest p99 of those trials of a step that held.
 * @param {TriedStep} step
 * @returns {number | null} null: no trial held, or none that did has a p99
 */
export function findHighestP99Ms({ outcomes }) {
  const heldMs = outcomes.flatMap(o => (o.held && o.p99Ms !== null ? [o.p99Ms] : []))
  return heldMs.length > 0 ? Math.max(...heldMs) : null
}
