import { UsageError } from '../lib/errors.js'
import { canBind, largestBindingCap } from '../model/caps.js'

/** The caps of sidecars. Pure. @import { Missing, Question } from './question.js' */

const FALLBACK_CAP = 0.25

/** @typedef {{ caps: (number | null)[], notes: string[], notMeasured: Missing[] }} Chosen */

/**
 * Chooses the caps asked for, else the experiment's that fit here: in a closed loop at saturation, those that can bind.
 * @param {Question} question @param {number} cpus @returns {Chosen} @throws {UsageError} for a cap that does not fit
 */
export function chooseCaps(question, cpus) {
  const { caps, isLoadElsewhere } = question.overrides
  const own = question.axes.cpuLimitCores
  if (question.kind === 'cost' || (caps ?? own) === 'none') return { caps: [null], notes: [], notMeasured: [] }
  // A cap that the load saturates must bind; any other only has to fit.
  const mustBind = question.kind === 'capacity' && question.experiment.load.kind !== 'idle' && !isOpenLoop(question)
  const room = { cpus, isLoadElsewhere, mustBind }
  return caps ? takeAsked(/** @type {number[]} */ (caps), room) : takeFitting(/** @type {number[]} */ (own), room)
}

/** Counts workers in turns: enough for the largest cap asked for; null: by the CPUs. @param {Question} question */
export function countInterleavedWorkers({ overrides, axes }) {
  const caps = overrides.caps ?? axes.cpuLimitCores
  return caps === 'none' ? null : Math.max(1, ...caps.map(Math.ceil))
}

/** Says whether requests start at a rate. @param {Question} question */
export function isOpenLoop({ overrides, axes }) {
  return (overrides.axes.ratePerSecond ?? axes.ratePerSecond ?? null) !== null
}

/** @typedef {{ cpus: number, isLoadElsewhere?: boolean, mustBind: boolean }} Room what caps must fit */

/** @param {number[]} caps that were asked for @param {Room} room @returns {Chosen} */
function takeAsked(caps, { cpus, isLoadElsewhere, mustBind }) {
  const beyond = caps.find(cap => Math.ceil(cap) > cpus)
  if (beyond !== undefined)
    throw new UsageError(`--cpu ${beyond}: this machine has ${cpus} CPUs; give at most ${cpus}, or --cpu none`)
  const tooLarge = mustBind ? caps.filter(cap => !canBind(cap, cpus, isLoadElsewhere)) : []
  const notes = tooLarge.map(
    cap =>
      `at a cap of ${cap} the sidecars can hardly bind on ${cpus} CPUs: CPU per request and memory are measured, capacity is not; for that: --cpu ${largestBindingCap(cpus, isLoadElsewhere)}`,
  )
  return { caps, notes, notMeasured: [] }
}

/** @param {number[]} own caps of the experiment @param {Room} room @returns {Chosen} */
function takeFitting(own, { cpus, isLoadElsewhere, mustBind }) {
  const fits = (/** @type {number} */ cap) => (mustBind ? canBind(cap, cpus, isLoadElsewhere) : Math.ceil(cap) <= cpus)
  const reason = (/** @type {number} */ cap) =>
    mustBind ? `sidecars at ${cap} cores cannot bind on ${cpus} CPUs` : `this machine has ${cpus} CPUs`
  const notMeasured = own
    .filter(cap => !fits(cap))
    .map(cap => ({ plane: `every plane at ${cap} cores`, reason: reason(cap) }))
  const caps = own.filter(fits)
  if (caps.length > 0) return { caps, notes: [], notMeasured }
  const note = `${own.map(reason).join('; ')}: measuring at ${FALLBACK_CAP} instead (give --cpu to choose)`
  return { caps: [FALLBACK_CAP], notes: [note], notMeasured }
}
