import { joinWords } from '../lib/letters.js'
import { canBind, findLargestBindingCpuLimit } from '../model/cpu-limits.js'

/** The CPU limits of sidecars. Pure. @import { Missing, Question } from '../request/question.js' */

const FALLBACK_CPU_LIMIT = 0.25

/** @typedef {{ cpuLimits: (number | null)[], notes: string[], notMeasured: Missing[] }} Chosen cpuLimits: in cores; [null]: no limit */

/**
 * Chooses the CPU limits: those of the user, with a note for each that can hardly bind; else those of the experiment
 * that fit this machine: in a closed loop at saturation, those that can bind.
 * @param {Question} question
 * @param {number} cpus of the machine
 * @returns {Chosen} cpuLimits: in cores; [null]: no limit; notMeasured: the limits that do not fit, or []
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
 * Counts the workers of an interleaved sidecar: enough for the largest CPU limit, and at least one.
 * @param {Question} question
 * @returns {number | null} null: there is no limit, so that the number of CPUs decides
 */
export function countInterleavedWorkers({ overrides, axes }) {
  const cpuLimits = overrides.cpuLimits ?? axes.cpuLimitCores
  return cpuLimits === 'none' ? null : Math.max(1, ...cpuLimits.map(Math.ceil))
}

/**
 * Says whether requests start at a rate (an open loop).
 * @param {Question} question
 * @returns {boolean} false: users send requests in closed loops
 */
export function isOpenLoop({ overrides, axes }) {
  return (overrides.axes.ratePerSecond ?? axes.ratePerSecond ?? null) !== null
}

/** @typedef {{ cpus: number, isLoadElsewhere?: boolean, mustBind: boolean }} Room what CPU limits must fit */

/**
 * Chooses all limits of the user, with a note for each that can hardly bind.
 * @param {number[]} cpuLimits of the user, in cores
 * @param {Room} room
 * @returns {Chosen} notes: []: all limits can bind; notMeasured: []
 */
function chooseRequestedLimits(cpuLimits, { cpus, isLoadElsewhere, mustBind }) {
  const tooLarge = mustBind ? cpuLimits.filter(cpuLimit => !canBind(cpuLimit, cpus, isLoadElsewhere)) : []
  const notes = tooLarge.map(
    cpuLimit =>
      `at a CPU limit of ${cpuLimit} the sidecars can hardly bind on ${cpus} CPUs: CPU per request and memory are measured, capacity is not; for that: --cpu ${findLargestBindingCpuLimit(cpus, isLoadElsewhere)}`,
  )
  return { cpuLimits, notes, notMeasured: [] }
}

/**
 * Chooses the limits that fit, or, if none does, the fallback with a note.
 * @param {number[]} planned CPU limits of the experiment, in cores
 * @param {Room} room
 * @returns {Chosen} notMeasured: the limits that do not fit, or []
 */
function chooseFittingLimits(planned, { cpus, isLoadElsewhere, mustBind }) {
  const isPossible = (/** @type {number} */ cpuLimit) =>
    mustBind ? canBind(cpuLimit, cpus, isLoadElsewhere) : Math.ceil(cpuLimit) <= cpus
  const renderLimitReason = (/** @type {number} */ cpuLimit) =>
    mustBind ? `at a CPU limit of ${cpuLimit} sidecars cannot bind on ${cpus} CPUs` : `this machine has ${cpus} CPUs`
  const unfit = planned.filter(cpuLimit => !isPossible(cpuLimit)).sort((a, b) => a - b)
  const notMeasured =
    unfit.length === 0
      ? []
      : [
          {
            plane: `every plane at ${joinWords(unfit.map(String))} CPU each`,
            reason: mustBind ? `no sidecar reaches such a CPU limit on ${cpus} CPUs` : `this machine has ${cpus} CPUs`,
            cpuLimitsCores: unfit,
          },
        ]
  const cpuLimits = planned.filter(isPossible)
  if (cpuLimits.length > 0) return { cpuLimits, notes: [], notMeasured }
  const note = `${planned.map(renderLimitReason).join('; ')}: measuring at ${FALLBACK_CPU_LIMIT} instead (give --cpu to choose)`
  return { cpuLimits: [FALLBACK_CPU_LIMIT], notes: [note], notMeasured }
}
