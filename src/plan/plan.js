import { KINDS } from '../kinds/registry.js'
import { specifySearch } from '../kinds/search/plan.js'
import { UsageError } from '../lib/errors.js'
import { AXES, AXIS_NAMES, parseChoice } from '../model/arms.js'
import { PARTS } from '../request/constraints/plans.js'
import { assertCombination, assertRequest } from '../request/constraints.js'
import { choosePlanes, resolveQuestions } from '../request/question.js'
import {
  addCalibrations,
  createArms,
  deduplicateReasons,
  listValues,
  repeatFirstArms,
  splitUnsupportedArms,
} from './arms.js'
import { chooseCpuLimits, isOpenLoop } from './cpu-limits.js'
import { noteTurns, orderInterleaved, shareLoads } from './interleave.js'
import { assertTrialLimit, chooseRounds, orderTrials } from './rounds.js'

export { choosePlanes } from '../request/question.js'
export { extendSearchWarmup } from './load.js'
export { estimateMostSeconds, estimatePlanSeconds, estimateSeconds } from './rounds.js'

/**
 * A plan: from a question to all trials that answer it. Pure.
 * @import { Arm, Plan, PlaneChoice, TrialKind } from '../model/types.ts'
 */
/**
 * @import { Experiment } from '../request/experiment.js'
 * @import { Missing, Question, Overrides } from '../request/question.js'
 */

/**
 * Creates the plan of a run, with every trial in order: within each round, arms come in random order. Arms that
 * cannot be measured are left out, with the reason in `notMeasured`.
 * @param {object} options
 * @param {Experiment} options.experiment
 * @param {Overrides} options.overrides
 * @param {number} options.cpus of the machine
 * @param {Missing[]} options.missing the planes without a program
 * @param {(plane: string) => boolean} options.hasSidecars says whether a plane has sidecars
 * @param {(plane: string) => string[]} [options.controlsOf] the names of a plane's control planes; none by default
 * @param {(choice: PlaneChoice) => boolean} [options.runsControl] says whether a process hands out configurations
 * @param {(choice: PlaneChoice) => number | null} [options.realMostOf] the most real sidecars of a plane by default;
 *   null: it can simulate none
 * @param {(arm: Arm, kind: TrialKind) => string | null} [options.findUnsupported] gives the reason why an arm cannot
 *   be measured; null: it can
 * @param {number} [options.pinnableCpus] the CPUs that processes can have for themselves
 * @param {(plane: string) => boolean} [options.isAnyProgram] says whether contenders of this plane may have nothing
 *   in common
 * @param {(arm: Arm) => number} [options.idleSecondsOf] seconds after which the sidecars of an arm close unused
 *   connections; infinity by default
 * @returns {Plan & { notes: string[] }} notes: sentences to print before the run, or []
 * @throws {UsageError} for a request that cannot be measured
 */
export function createPlan({ experiment, overrides, cpus, missing, ...known }) {
  const planes = choosePlanes(experiment, overrides)
  // Planes without sidecars have no cost: leave that question out if there is another.
  const questions = resolveQuestions(experiment, overrides).filter(
    ({ kind }, _, { length }) =>
      length === 1 || kind !== 'cost' || planes.some(({ plane }) => known.hasSidecars(plane)),
  )
  const planned = questions.map(question => planPart(question, { cpus, missing, ...known }))
  const mostRounds = Math.max(...planned.map(({ rounds }) => rounds))
  // An arm with fewer rounds than others has their number.
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
    search: specifySearch(experiment.search, overrides.profile),
    notMeasured: deduplicateReasons([...missing, ...planned.flatMap(({ notMeasured }) => notMeasured)]),
    notes: planned.flatMap(({ notes }) => notes),
    trials: parts.flatMap(({ trials }) => trials),
    settings: createSettings(questions),
  }
}

/**
 * Plans the arms, calibrations, rounds and trials of one kind.
 * @param {Question} question
 * @param {Omit<Parameters<typeof createPlan>[0], 'experiment' | 'overrides'>} options
 * @returns {import('../model/types.ts').Plan['parts'][number] & { notMeasured: Missing[], notes: string[] }} trials:
 *   []: the kind chooses them while it runs
 * @throws {UsageError} for what cannot be measured together, and for too many trials
 */
function planPart(question, { cpus, missing, hasSidecars, ...known }) {
  const { experiment, overrides, kind } = question
  const {
    controlsOf = () => [],
    runsControl = () => true,
    realMostOf = () => null,
    findUnsupported = () => null,
    pinnableCpus = 0,
    isAnyProgram = () => false,
    idleSecondsOf = () => Number.POSITIVE_INFINITY,
  } = known
  const named = overrides.planes ?? question.axes.plane.map(parseChoice)
  const isInterleaved = kind === 'cost'
  const lists = listValues(question, { named, pinnableCpus, isAnyProgram })
  // Arms without sidecars have no cost of their own: they show the latency that others add to, and the cost of rules.
  const isOfSidecars = isInterleaved && !isOpenLoop(question) && lists.interception.length === 1
  const chosen = isOfSidecars ? named.filter(({ plane }) => hasSidecars(plane)) : named
  assertRequest({ ...question, planes: chosen, hasSidecars, cpus })
  const { cpuLimits, notes, notMeasured } = chooseCpuLimits(question, cpus)
  const contenders = assignControls(question, chosen, controlsOf)
  const planes = contenders.filter(({ plane }) => !missing.some(m => m.plane === plane))
  const cells = Object.values(lists).reduce((count, list) => count * list.length, planes.length * cpuLimits.length)
  assertTrialLimit(cells * question.profile.rounds, experiment)
  const countSimulated = createSimulatedCounter(question, { lists, contenders, realMostOf })
  const arms = createArms(question, {
    lists,
    cpuLimits,
    contenders: { planes, hasSidecars, runsControl, countSimulated },
  })
  const { possible, refused } = splitUnsupportedArms(arms, arm => findUnsupported(arm, kind))
  const { calibrations, calibrated } =
    experiment.mostOfCapacity === null || isInterleaved
      ? { calibrations: [], calibrated: possible }
      : addCalibrations(possible, lists)
  const hasRepeats = question.profile.hasControl && !KINDS[kind].choosesTrials
  const all = hasRepeats ? [...calibrated, ...repeatFirstArms(calibrated, isInterleaved)] : calibrated
  const measured = isInterleaved ? shareLoads(all, { cpus, idleSecondsOf }) : all
  const noted = isInterleaved ? noteTurns(all, { cpus, idleSecondsOf }) : []
  const order = isInterleaved ? orderInterleaved : orderTrials
  const rounds = chooseRounds(question, { arms: measured, calibrations, order })
  const trials = order({ arms: measured, rounds: KINDS[kind].choosesTrials ? 0 : rounds, seed: overrides.seed })
  return {
    kind,
    rounds,
    arms: measured,
    calibrations,
    notMeasured: [...notMeasured, ...refused],
    notes: [...notes, ...noted, ...(KINDS[kind].noteArms?.(possible, runsControl) ?? [])],
    trials: trials.map(trial => ({ ...trial, kind })),
  }
}

/**
 * Repeats each plane for each control plane (`--control`) that the user names, else assigns it its first. A control
 * plane in the name of a choice stays. An arm of one sidecar names its control plane only if the user does, so that
 * its name is as in older runs.
 * @returns {PlaneChoice[]} a plane without control planes is unchanged
 * @throws {UsageError} for a control of --control that no plane has
 * @param {Question} question
 * @param {PlaneChoice[]} planes
 * @param {(plane: string) => string[]} controlsOf lists the names of a plane's control planes
 */
function assignControls({ kind, overrides, axes }, planes, controlsOf) {
  const requested = overrides.controls ?? null
  if (!KINDS[kind].hasControlPlane && requested === null && axes.control === undefined) return planes
  const offers = planes.map(({ plane }) => ({ plane, controls: controlsOf(plane) }))
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
 * @param {{ lists: Record<string, any[]>, contenders: PlaneChoice[], realMostOf: (choice: PlaneChoice) => number |
 *   null }} options lists: the values of each axis; realMostOf: the most real sidecars by default; null: it can
 *   simulate none
 * @returns {(choice: PlaneChoice, sidecars: number) => number}
 * @throws {UsageError} for --real if no control plane can simulate sidecars
 */
function createSimulatedCounter({ kind, experiment, overrides }, { lists, contenders, realMostOf }) {
  // Axes that need real sidecars exclude simulated ones, which go at the pace of real ones and have one control plane.
  const isSimulable =
    !KINDS[kind].isAllReal?.(experiment) &&
    AXIS_NAMES.every(name => !AXES[name].needsRealSidecars || lists[name].every(value => value === null))
  const findSimulationMost = (/** @type {PlaneChoice} */ choice) => (isSimulable ? realMostOf(choice) : null)
  const realLimit = overrides.realMost ?? null
  const isSimulated = (/** @type {PlaneChoice} */ choice) => realMostOf(choice) !== null
  assertCombination(PARTS, {
    name: experiment.name,
    realMost: realLimit,
    contenders,
    isSimulable,
    simulates: isSimulated,
  })
  return (/** @type {PlaneChoice} */ choice, /** @type {number} */ sidecars) => {
    const realMost = findSimulationMost(choice)
    return realMost === null ? 0 : Math.max(0, sidecars - (realLimit ?? realMost))
  }
}

/**
 * Collects the settings of a plan, with those of each kind.
 * @param {Question[]} questions of one experiment
 * @returns {Plan['settings']}
 */
function createSettings(questions) {
  const [{ experiment, overrides }] = questions
  const { trafficPolicy, relaxes, keepsServices, shows } = experiment
  const { profile, app, isPinned } = overrides
  const settings = { profile, trafficPolicy, app, isPinned, relaxes, keepsServices, shows }
  return Object.assign(settings, ...questions.map(({ kind }) => KINDS[kind].settings?.(experiment)))
}
