import { computeCapAt, findCapIndex } from '../cpu-limit.js'
import { roundUp } from '../memory-floor.js'
import { ROOM, suggestLimits } from '../size.js'
import { tryStep, withCpu, withMemory } from '../step.js'
import { findLargestBytes } from '../whole.js'

/**
 * Estimates limits with room from what sidecars take with all the CPU. That takes a few trials; the smallest limits take dozens.
 * @import { Arm } from '../../../model/types.ts'
 * @import { Search, TriedStep } from '../step.js'
 * @import { Need } from '../whole.js'
 */

const TRIES_MOST = 6

/**
 * Computes what sidecars took in the trials of a step.
 * @param {Pick<TriedStep, 'outcomes'>} step
 * @returns {Need} the most of all trials
 */
export function computeStepNeed({ outcomes }) {
  return { cores: Math.max(...outcomes.map(o => o.coresMost)), bytes: findLargestBytes(outcomes) }
}

/**
 * Finds limits that hold, from an estimate upwards. Each try has two places of the CPU grid more, or, if the kernel
 * killed for memory, half as much memory again.
 * @param {{ template: Arm, cpus: number, need: Need }} options need: the estimate
 * @returns {Search<{ limits: Need | null, last: TriedStep, steps: TriedStep[] }>} limits: null: none held within
 *   TRIES_MOST; last: the last step; steps: those that show whether the CPU suffices
 */
export function* findHoldingLimits({ template, cpus, need }) {
  const lastPlace = findCapIndex(cpus)
  const steps = []
  let { place, bytes } = suggestLimits({ need, cpus })
  for (let tries = 1; ; tries++) {
    const cores = Math.min(cpus, computeCapAt(place))
    const arm = withMemory(withCpu(template, cores), bytes)
    const last = yield* tryStep({ ...arm, id: `${arm.id}-first` }, cores)
    const isKilled = last.outcomes.some(o => o.survived === false)
    if (!isKilled) steps.push(last)
    if (last.held) return { limits: { cores, bytes }, last, steps }
    if (last.held === null || tries === TRIES_MOST || (!isKilled && place === lastPlace))
      return { limits: null, last, steps }
    if (isKilled) bytes = roundUp(bytes * ROOM.ofMemory)
    else place = Math.min(lastPlace, place + ROOM.places)
  }
}

/**
 * Finds the highest p99 of the trials of a step that held.
 * @param {TriedStep} step
 * @returns {number | null} milliseconds; null: none has one
 */
export function findHighestP99({ outcomes }) {
  const known = outcomes.flatMap(o => (o.held && o.p99Ms !== null ? [o.p99Ms] : []))
  return known.length > 0 ? Math.max(...known) : null
}
