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
 * Finds what sidecars took in the trials of a step.
 * @param {Pick<TriedStep, 'outcomes'>} step
 * @returns {Need}
 */
export function computeStepNeed({ outcomes }) {
  return { cores: Math.max(...outcomes.map(o => o.coresMost)), bytes: findLargestBytes(outcomes) }
}

/**
 * Finds the first limits from an estimate upwards that hold: each try has two places of the grid more CPU, or half
 * as much memory again if the kernel killed for it.
 * @param {{ template: Arm, cpus: number, need: Need }} options need: estimated
 * @returns {Search<{ limits: Need | null, last: TriedStep, steps: TriedStep[] }>} limits: null: none that was tried held; steps: of the CPU
 */
export function* findHoldingLimits({ template, cpus, need }) {
  const most = findCapIndex(cpus)
  const steps = []
  let { place, bytes } = suggestLimits({ need, cpus })
  for (let tries = 1; ; tries++) {
    const cores = Math.min(cpus, computeCapAt(place))
    const arm = withMemory(withCpu(template, cores), bytes)
    const last = yield* tryStep({ ...arm, id: `${arm.id}-first` }, cores)
    const isKilled = last.outcomes.some(o => o.survived === false)
    if (!isKilled) steps.push(last)
    if (last.held) return { limits: { cores, bytes }, last, steps }
    if (last.held === null || tries === TRIES_MOST || (!isKilled && place === most))
      return { limits: null, last, steps }
    if (isKilled) bytes = roundUp(bytes * ROOM.ofMemory)
    else place = Math.min(most, place + ROOM.places)
  }
}

/**
 * Finds the highest p99 of the trials of a step that held, in milliseconds; null: none has one.
 * @param {TriedStep} step
 */
export function findHighestP99({ outcomes }) {
  const known = outcomes.flatMap(o => (o.held && o.p99Ms !== null ? [o.p99Ms] : []))
  return known.length > 0 ? Math.max(...known) : null
}
