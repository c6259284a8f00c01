import { joinWords } from '../lib/letters.js'
import { canBind, findLargestBindingCpuLimit } from '../model/cpu-limits.js'
import { isOpenLoop } from './load.js'

/** The CPU limits of sidecars. Pure. @import { Missing, Question } from '../request/question.js' */

const FALLBACK_LIMIT_CORES = 0.25

/**
 * @typedef {object} ChosenLimits
 * @property {(number | null)[]} cpuLimits in cores; [null]: there is no limit
 * @property {string[]} notes about limits that do not fit, or []
 * @property {Missing[]} notMeasured the limits of the experiment that do not fit, or []
 */

/**
 * Chooses the CPU limits: those of the user; else those of the experiment that fit this machine, or FALLBACK_LIMIT_CORES if none
 * does.
 * In a closed loop at saturation, a limit fits only if sidecars can reach it, and one of the user that they hardly can gets a note.
 * Interleaved arms, and all arms at `none`, have no limit.
 * @param {Question} question
 * @param {number} cpus of the machine
 * @returns {ChosenLimits}
 */
export function chooseCpuLimits(question, cpus) {
  const { cpuLimits, isLoadElsewhere } = question.overrides
  const planned = question.axes.cpuLimitCores
  if (question.kind === 'cost' || (cpuLimits ?? planned) === 'none')
    return { cpuLimits: [null], notes: [], notMeasured: [] }
  // A CPU limit that the load saturates must bind; any other only has to fit.
  const mustBind = question.kind === 'capacity' && question.experiment.load.kind !== 'idle' && !isOpenLoop(question)
  const room = { cpus, isLoadElsewhere, mustBind }
  return cpuLimits
    ? chooseRequestedLimits(/** @type {number[]} */ (cpuLimits), room)
    : chooseFittingLimits(/** @type {number[]} */ (planned), room)
}

/**
 * The machine that CPU limits must fit.
 * @typedef {object} LimitRoom
 * @property {number} cpus
 * @property {boolean} [isLoadElsewhere] the generator takes none of these CPUs
 * @property {boolean} mustBind sidecars have to reach their limit
 */

/**
 * Chooses all limits of the user, with a note for each that can hardly bind.
 * @param {number[]} cpuLimits of the user, in cores
 * @param {LimitRoom} room
 * @returns {ChosenLimits} notes: []: all limits can bind, or none has to; notMeasured: []
 */
function chooseRequestedLimits(cpuLimits, { cpus, isLoadElsewhere, mustBind }) {
  const tooLarge = mustBind ? cpuLimits.filter(cpuLimit => !canBind(cpuLimit, cpus, isLoadElsewhere)) : []
  const notes = tooLarge.map(
    cpuLimit =>
      `at a CPU limit of ${cpuLimit} the sidecars can hardly reach it on ${cpus} CPUs: CPU per request and memory are measured, capacity is not; for that: --cpu ${findLargestBindingCpuLimit(cpus, isLoadElsewhere)}`,
  )
  return { cpuLimits, notes, notMeasured: [] }
}

/**
 * Chooses the limits that fit, or, if none does, FALLBACK_LIMIT_CORES with a note. Those that do not fit are listed as not measured.
 * @param {number[]} planned CPU limits of the experiment, in cores
 * @param {LimitRoom} room
 * @returns {ChosenLimits}
 */
function chooseFittingLimits(planned, { cpus, isLoadElsewhere, mustBind }) {
  const isFitting = (/** @type {number} */ cpuLimit) =>
    mustBind ? canBind(cpuLimit, cpus, isLoadElsewhere) : Math.ceil(cpuLimit) <= cpus
  const cpuLimits = planned.filter(isFitting)
  const unfit = planned.filter(cpuLimit => !isFitting(cpuLimit)).sort((a, b) => a - b)
  const machineReason = `this machine has ${cpus} CPUs`
  const missing = {
    plane: `every plane at ${joinWords(unfit.map(String))} CPU each`,
    reason: mustBind ? `no sidecar reaches such a CPU limit on ${cpus} CPUs` : machineReason,
    cpuLimitsCores: unfit,
  }
  const notMeasured = unfit.length > 0 ? [missing] : []
  if (cpuLimits.length > 0) return { cpuLimits, notes: [], notMeasured }
  const reasons = planned.map(cpuLimit =>
    mustBind ? `at a CPU limit of ${cpuLimit} sidecars cannot bind on ${cpus} CPUs` : machineReason,
  )
  const note = `${[...new Set(reasons)].join('; ')}: measuring at ${FALLBACK_LIMIT_CORES} instead (give --cpu to choose)`
  return { cpuLimits: [FALLBACK_LIMIT_CORES], notes: [note], notMeasured }
}
