import { capAt, indexOf } from '../cpu-limit.js'
import { roundUp } from '../memory-floor.js'
import { tryStep, withCpu, withMemory } from '../step.js'

/**
 * Estimates limits with room from what sidecars take with all the CPU. That takes a few trials; the smallest limits take dozens.
 * @import { Arm } from '../../../model/types.ts' @import { Outcome } from '../outcome.js'
 * @import { TriedStep } from '../step.js'
 */

// Room above the mean CPU: requests come in bursts, and the quota is counted in periods of 100 ms.
const ROOM = { places: 2, ofMemory: 1.5 }
const TRIES_MOST = 6

/** CPU of the busiest sidecar, and the most memory of one. @typedef {{ cores: number, bytes: number }} Need */

/** Finds what sidecars took in the trials of a step. @param {Pick<TriedStep, 'outcomes'>} step @returns {Need} */
export function needOf({ outcomes }) {
  // Resident memory includes pages that were not charged.
  const peaks = outcomes.map(o => Math.max(o.peakBytesMost + o.unchargedBytes, o.rssBytesMost))
  return { cores: Math.max(...outcomes.map(o => o.coresMost)), bytes: Math.max(...peaks) }
}

/**
 * Limits that have not failed.
 * @typedef {object} Estimate
 * @property {Need} limits
 * @property {number} trials that show what sidecars take at the rate
 * @property {number} coresLeast the least CPU of the busiest sidecar in these
 * @property {Need} need the most of these
 */

/**
 * Facts about a load for which no limits have held twice.
 * @typedef {object} Unconfirmed
 * @property {string} why they have not held
 * @property {Estimate | null} estimate null: limits failed, or no trial shows what sidecars take
 */

/**
 * Makes the facts about a load without confirmed limits.
 * @param {{ whole: TriedStep, cpus: number, step?: TriedStep, tried?: Need }} options whole: the step with all the CPU; step: the
 *   last one, which has not held; by default `whole`; tried: its limits
 * @returns {Unconfirmed}
 */
export function createUnconfirmed({ whole, cpus, step = whole, tried }) {
  const outcomes = whole.outcomes.filter(o => o.isNeedSeen)
  if (step.held === false || outcomes.length === 0) return { why: step.why, estimate: null }
  const need = needOf({ outcomes })
  const { place, bytes } = limitsAbove({ need, cpus })
  const limits = tried ?? { cores: Math.min(cpus, capAt(place)), bytes }
  const coresLeast = Math.min(...outcomes.map(o => o.coresMost))
  return { why: step.why, estimate: { limits, trials: outcomes.length, coresLeast, need } }
}

/** Adds room to what sidecars take, up to all the CPU of the machine; `place` is one on the CPU grid. @param {{ need: Need, cpus: number }} options */
function limitsAbove({ need, cpus }) {
  const place = Math.min(indexOf(cpus), indexOf(need.cores) + ROOM.places)
  return { place, bytes: roundUp(need.bytes * ROOM.ofMemory) }
}

/**
 * Finds the first limits from an estimate upwards that hold: each try has two places of the grid more CPU, or half
 * as much memory again if the kernel killed for it.
 * @param {{ template: Arm, cpus: number, need: Need }} options need: estimated
 * @returns {Generator<Arm, { limits: Need | null, tried: Need, last: TriedStep, steps: TriedStep[] }, Outcome>} limits: null:
 *   none that was tried held; tried: the last ones; steps: of the CPU
 */
export function* findFirst({ template, cpus, need }) {
  const most = indexOf(cpus)
  const steps = []
  let { place, bytes } = limitsAbove({ need, cpus })
  for (let tries = 1; ; tries++) {
    const cores = Math.min(cpus, capAt(place))
    const arm = withMemory(withCpu(template, cores), bytes)
    const last = yield* tryStep({ ...arm, id: `${arm.id}-first` }, cores)
    const isKilled = last.outcomes.some(o => o.survived === false)
    if (!isKilled) steps.push(last)
    const tried = { cores, bytes }
    if (last.held) return { limits: tried, tried, last, steps }
    if (last.held === null || tries === TRIES_MOST || (!isKilled && place === most))
      return { limits: null, tried, last, steps }
    if (isKilled) bytes = roundUp(bytes * ROOM.ofMemory)
    else place = Math.min(most, place + ROOM.places)
  }
}

/** Finds the highest p99 of the trials of a step that held, in milliseconds; null: none has one. @param {TriedStep} step */
export function p99Of({ outcomes }) {
  const known = outcomes.flatMap(o => (o.held && o.p99Ms !== null ? [o.p99Ms] : []))
  return known.length > 0 ? Math.max(...known) : null
}
