import { capAt, indexOf } from './cpu-limit.js'
import { roundUp } from './memory-floor.js'
import { tryStep, withCpu, withMemory } from './step.js'

/**
 * Limits with room, from what sidecars take when they have all the CPU: a few trials where the smallest takes dozens.
 * @import { Arm } from '../model/types.ts'
 * @import { Outcome } from './outcome.js'
 * @import { TriedStep } from './step.js'
 */

// Above the mean CPU: requests come in bursts, and the quota is counted in periods of 100 ms.
const ROOM = { places: 2, ofMemory: 1.5 }
const TRIES_MOST = 6

/**
 * What sidecars take: CPU of the busiest, and the most memory.
 * @typedef {{ cores: number, bytes: number }} Need
 */

/**
 * What sidecars took in the trials of a step.
 * @param {Pick<TriedStep, 'outcomes'>} step
 * @returns {Need}
 */
export function needOf({ outcomes }) {
  // What is resident has the pages that were not charged among it.
  const peaks = outcomes.map(o => Math.max(o.peakBytesMost + o.unchargedBytes, o.rssBytesMost))
  return { cores: Math.max(...outcomes.map(o => o.coresMost)), bytes: Math.max(...peaks) }
}

/**
 * The first limits from an estimate upwards that hold: of the CPU two places of the grid more each time, of the memory
 * half as much again where the kernel killed for it.
 * @param {{ template: Arm, cpus: number, need: Need }} options need: estimated
 * @returns {Generator<Arm, { limits: Need | null, last: TriedStep, steps: TriedStep[] }, Outcome>} limits: null where none
 *   that was tried held; steps: of the CPU
 */
export function* findFirst({ template, cpus, need }) {
  const most = indexOf(cpus)
  const steps = []
  let place = Math.min(most, indexOf(need.cores) + ROOM.places)
  let bytes = roundUp(need.bytes * ROOM.ofMemory)
  for (let tries = 1; ; tries++) {
    const cores = Math.min(cpus, capAt(place))
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

/** The p99 at limits that held: the highest of the trials. @param {TriedStep} step */
export function p99Of({ outcomes }) {
  const known = outcomes.flatMap(o => (o.held && o.p99Ms !== null ? [o.p99Ms] : []))
  return known.length > 0 ? Math.max(...known) : null
}
