import { KINDS } from '../kinds/registry.js'
import { createSearchSpec } from '../kinds/search/plan.js'
import { UsageError } from '../lib/errors.js'
import { AXES, AXIS_NAMES, parsePlaneChoice } from '../model/arms.js'
import { PARTS } from '../request/constraints/plans.js'
import { assertCombination, assertRequest } from '../request/constraints.js'
import { choosePlanes, createQuestions } from '../request/question.js'
import {
  addCalibrations,
  chooseAxisValues,
  createArms,
  deduplicateReasons,
  repeatFirstArms,
  splitUnsupportedArms,
} from './arms.js'
import { chooseCpuLimits } from './cpu-limits.js'
import { createInterleavedTrials, keepForever, renderTurnNotes, shareLoads } from './interleave.js'
import { isOpenLoop } from './load.js'
import { assertTrialLimit, chooseRounds, createTrials } from './rounds.js'

export { choosePlanes } from '../request/question.js'
export { extendSearchWarmup } from './load.js'
export { estimateMostSeconds, estimatePlanSeconds, estimateSeconds } from './rounds.js'

/**
 * Creates the plan of a run, from an experiment and its options to all trials. Pure.
 * @import { Arm, Plan, PlaneChoice, TrialKind } from '../model/types.ts'
 */
/**
 * @import { Experiment } from '../request/experiment.js'
 * @import { Missing, Question, Overrides } from '../request/question.js'
 * @import { AxisValues } from './arms.js'
 * @import { FindArmIdleSeconds } from './interleave.js'
 */

/**
 * The machine, and facts about planes.
 * @typedef {object} PartOptions
 * @property {number} cpus of the machine
 * @property {Missing[]} missing the planes without a program
 * @property {(plane: string) => boolean} hasSidecars
 * @property {(plane: string) => string[]} [listControls] lists the names of a plane's control planes; absent: none
 * @property {(choice: PlaneChoice) => boolean} [runsControl] says whether a process hands out configurations; absent: one does
 * @property {(choice: PlaneChoice) => number | null} [findRealMost] finds the most real sidecars of a plane by default; null, or
 *   absent: it can simulate none
 * @property {(arm: Arm, kind: TrialKind) => Pick<Missing, 'reason' | 'isRefused'> | null} [findUnsupported] finds the reason why an
 *   arm cannot be measured; null, or absent: it can
 * @property {number} [pinnableCpus] the CPUs that processes can have for themselves; absent: 0
 * @property {(plane: string) => boolean} [hasOnlyPipelines] says whether all contenders of this plane are pipelines, which may have
 *   nothing in common; absent: they are not
 * @property {FindArmIdleSeconds} [findArmIdleSeconds] absent: connections stay open
 */

/**
 * Creates the plan of a run, with every trial in order; a kind that chooses its trials while it runs has none. Arms that
 * cannot be measured are left out, with the reason in `notMeasured`.
 * @param {PartOptions & { experiment: Experiment, overrides: Overrides }} request
 * @returns {Plan & { notes: string[] }} notes: sentences to print before the run, or []
 * @throws {UsageError} for an unknown profile, and as `planPart`
 */
export function createPlan({ experiment, overrides, ...options }) {
  const planes = choosePlanes(experiment, overrides)
  const hasAnySidecars = () => planes.some(({ plane }) => options.hasSidecars(plane))
  const allQuestions = createQuestions(experiment, overrides)
  // Planes without sidecars have no cost: that question is left out if there is another.
  const questions = allQuestions.filter(({ kind }) => kind !== 'cost' || allQuestions.length === 1 || hasAnySidecars())
  const planned = questions.map(question => planPart(question, options))
  const mostRounds = Math.max(...planned.map(({ rounds }) => rounds))
  // Arms of a part with fewer rounds than the run have the number of theirs.
  const parts = planned.map(({ kind, arms, calibrations, trials, rounds }) => ({
    kind,
    calibrations,
    trials,
    rounds,
    arms: rounds < mostRounds ? arms.map(arm => ({ ...arm, rounds })) : arms,
  }))
  return {
    experiment: experiment.name,
    parts,
    question: experiment.question,
    claims: experiment.claims,
    seed: overrides.seed,
    rounds: mostRounds,
    ...(overrides.precision && { precision: overrides.precision }),
    arms: parts.flatMap(({ arms }) => arms),
    calibrations: parts.flatMap(({ calibrations }) => calibrations),
    mostOfCapacity: experiment.mostOfCapacity,
    search: createSearchSpec(experiment.search, overrides.profile),
    notMeasured: deduplicateReasons([...options.missing, ...planned.flatMap(({ notMeasured }) => notMeasured)]),
    notes: planned.flatMap(({ notes }) => notes),
    trials: parts.flatMap(({ trials }) => trials),
    settings: createSettings(questions),
  }
}

/**
 * Plans the arms, calibrations, rounds and trials of one kind.
 * @param {Question} question
 * @param {PartOptions} options
 * @returns {Plan['parts'][number] & { notMeasured: Missing[], notes: string[] }} trials: []: the kind chooses them while it runs
 * @throws {UsageError} if nothing can be measured, and as `createPartArms`, `chooseRounds` and `splitDeployments`
 */
function planPart(question, options) {
  const { experiment, overrides, kind, profile } = question
  const { cpus, findUnsupported = () => null, runsControl = () => true, findArmIdleSeconds = keepForever } = options
  const { choosesTrials, noteArms } = KINDS[kind]
  const isInterleaved = kind === 'cost'
  const { arms, axisValues, notes, notMeasured } = createPartArms(question, { ...options, runsControl })
  const { possible, unsupported } = splitUnsupportedArms(arms, arm => findUnsupported(arm, kind))
  const { calibrations, calibrated } =
    experiment.mostOfCapacity === null || isInterleaved
      ? { calibrations: [], calibrated: possible }
      : addCalibrations(possible, axisValues)
  const hasRepeats = profile.hasControl && !choosesTrials
  const all = hasRepeats ? [...calibrated, ...repeatFirstArms(calibrated, isInterleaved)] : calibrated
  const measured = isInterleaved ? shareLoads(all, { cpus, findArmIdleSeconds }) : all
  const turnNotes = isInterleaved ? renderTurnNotes(all, { cpus, findArmIdleSeconds }) : []
  const createPartTrials = isInterleaved ? createInterleavedTrials : createTrials
  const rounds = chooseRounds(question, { arms: measured, calibrations, createPartTrials })
  const trials = createPartTrials({ arms: measured, rounds: choosesTrials ? 0 : rounds, seed: overrides.seed })
  return {
    kind,
    rounds,
    arms: measured,
    calibrations,
    notMeasured: [...notMeasured, ...unsupported],
    notes: [...notes, ...turnNotes, ...(noteArms?.(possible, runsControl) ?? [])],
    trials: trials.map(trial => ({ ...trial, kind })),
  }
}

/**
 * Creates the arms of one kind, also those that cannot be measured, but none of planes without a program. Interleaved closed loops
 * have no arms without sidecars, unless interception varies.
 * @param {Question} question
 * @param {PartOptions & Pick<Required<PartOptions>, 'runsControl'>} options
 * @returns {{ arms: Arm[], axisValues: AxisValues, notes: string[], notMeasured: Missing[] }} notes, notMeasured: about CPU
 *   limits, or []
 * @throws {UsageError} for a request that breaks a constraint, an unknown --control, --real without simulated sidecars, too many
 *   trials, or two variants of one id
 */
function createPartArms(question, options) {
  const { experiment, overrides, axes, kind, profile } = question
  const { cpus, missing, hasSidecars, runsControl } = options
  const {
    listControls = () => [],
    findRealMost = () => null,
    pinnableCpus = 0,
    hasOnlyPipelines = () => false,
  } = options
  const planeChoices = overrides.planes ?? axes.plane.map(parsePlaneChoice)
  const axisValues = chooseAxisValues(question, { planeChoices, pinnableCpus, hasOnlyPipelines })
  // Arms without sidecars have no cost of their own: they show the latency that others add to, and the cost of rules.
  const isOfSidecars = kind === 'cost' && !isOpenLoop(question) && axisValues.interception.length === 1
  const partChoices = isOfSidecars ? planeChoices.filter(({ plane }) => hasSidecars(plane)) : planeChoices
  assertRequest({ ...question, planes: partChoices, hasSidecars, cpus })
  const { cpuLimits, notes, notMeasured } = chooseCpuLimits(question, cpus)
  const contenders = assignControls(question, partChoices, listControls)
  const planes = contenders.filter(({ plane }) => !missing.some(missingPlane => missingPlane.plane === plane))
  const cellCount = Object.values(axisValues).reduce((count, values) => count * values.length, 1)
  assertTrialLimit(planes.length * cpuLimits.length * cellCount * profile.rounds, experiment)
  const countSimulated = createSimulatedCounter(question, { axisValues, contenders, findRealMost })
  const armContenders = { planes, hasSidecars, runsControl, countSimulated }
  const arms = createArms(question, { axisValues, cpuLimits, contenders: armContenders })
  return { arms, axisValues, notes, notMeasured }
}

/**
 * Repeats each plane for each of its control planes that `--control`, else the experiment, names; if they name none of them, assigns
 * it its first. A control plane in the name of a choice stays. A kind without control planes of its own gets none unless one of the
 * two names some, so that the names of its arms are as in older runs.
 * @param {Question} question
 * @param {PlaneChoice[]} planes
 * @param {(plane: string) => string[]} listControls lists the names of a plane's control planes
 * @returns {PlaneChoice[]} a plane without control planes is unchanged
 * @throws {UsageError} for a control plane of --control that no plane has
 */
function assignControls({ kind, overrides, axes }, planes, listControls) {
  const requested = overrides.controls ?? null
  if (!KINDS[kind].hasControlPlane && requested === null && axes.control === undefined) return planes
  const offers = planes.map(({ plane }) => ({ plane, controls: listControls(plane) }))
  const unknown = requested?.find(name => offers.every(({ controls }) => !controls.includes(name)))
  if (unknown !== undefined) {
    const offered = offers.map(({ plane, controls }) => `${plane} has ${controls.join(', ') || 'none'}`)
    throw new UsageError(`--control ${unknown}: no plane of this run has it: ${[...new Set(offered)].join('; ')}`)
  }
  return planes.flatMap((choice, i) => {
    if (choice.control !== undefined) return [choice]
    const { controls } = offers[i]
    const accepted = (requested ?? axes.control ?? []).filter(name => controls.includes(name))
    const chosen = accepted.length > 0 ? accepted : controls.slice(0, 1)
    return chosen.length > 0 ? chosen.map(control => ({ ...choice, control })) : [choice]
  })
}

/**
 * Creates a function that counts the simulated sidecars of a plane: those beyond the most real ones.
 * @param {Question} question
 * @param {{ axisValues: AxisValues, contenders: PlaneChoice[] } & Pick<Required<PartOptions>, 'findRealMost'>} options
 * @returns {(choice: PlaneChoice, sidecars: number) => number} 0: all are real
 * @throws {UsageError} for --real if no control plane can simulate sidecars, or the kind or an axis needs real ones
 */
function createSimulatedCounter({ kind, experiment, overrides }, { axisValues, contenders, findRealMost }) {
  // Axes that need real sidecars exclude simulated ones, which go at the pace of real ones and have one control plane.
  const isSimulable =
    !KINDS[kind].isAllReal?.(experiment) &&
    AXIS_NAMES.every(name => !AXES[name].needsRealSidecars || axisValues[name].every(value => value === null))
  const requestedMost = overrides.realMost ?? null
  assertCombination(PARTS, {
    name: experiment.name,
    realMost: requestedMost,
    contenders,
    isSimulable,
    simulates: (/** @type {PlaneChoice} */ choice) => findRealMost(choice) !== null,
  })
  return (choice, sidecars) => {
    const realMost = isSimulable ? findRealMost(choice) : null
    return realMost === null ? 0 : Math.max(0, sidecars - (requestedMost ?? realMost))
  }
}

/**
 * Creates the settings of a plan, with those of each kind.
 * @param {Question[]} questions of one experiment, at least one
 * @returns {Plan['settings']}
 */
function createSettings(questions) {
  const [{ experiment, overrides }] = questions
  const { trafficPolicy, relaxes, keepsServices, shows } = experiment
  const { profile, app, isPinned } = overrides
  const settings = { profile, trafficPolicy, app, isPinned, relaxes, keepsServices, shows }
  return Object.assign(settings, ...questions.map(({ kind }) => KINDS[kind].createSettings?.(experiment)))
}
