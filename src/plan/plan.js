import { PLANS } from '../kinds/plans.js'
import { UsageError } from '../lib/errors.js'
import { nameOf, parseChoice } from '../model/arms.js'
import { AXES, AXIS_NAMES } from '../model/axes.js'
import { calibrate, createArms, keepFirstOfLoads, listValues, refuseUnsupported, repeatFirst } from './arms.js'
import { chooseCaps, isOpenLoop } from './caps.js'
import { assertFew } from './checks.js'
import { chooseControls } from './controls.js'
import { orderDeployments, shareRates } from './deployments.js'
import { choosePlanes, resolveQuestions } from './question.js'
import { chooseRounds, orderTrials } from './rounds.js'

export { withWarmupFor } from './load.js'
export { choosePlanes } from './question.js'
export { countSearchTrials, estimatePlanSeconds, estimateSeconds } from './time.js'

/**
 * From a question to all trials that answer it. Pure.
 * @import { Arm, Plan, PlaneChoice } from '../model/types.ts'
 * @import { Experiment } from './experiment.js'
 * @import { Missing, Question } from './question.js'
 */

/** @typedef {import('./question.js').Overrides} Overrides */

const PRECISION = { default: 0.05, smoke: 0.5 }

/**
 * Every trial of a run, in its order: arms in random order within each round.
 * @param {{ experiment: Experiment, overrides: Overrides, cpus: number, missing: Missing[],
 *   hasSidecars: (plane: string) => boolean, controlsOf?: (plane: string) => string[],
 *   runsControl?: (choice: PlaneChoice) => boolean, realMostOf?: (choice: PlaneChoice) => number | null,
 *   findUnsupported?: (arm: Arm) => string | null }} options
 *   missing: planes whose program cannot be had; controlsOf: names of the control planes of a plane; runsControl: whether
 *   a process hands out its configurations; realMostOf: sidecars that are real where nothing else is asked, null where none
 *   can be simulated; findUnsupported: why a plane cannot run an arm
 * @returns {Plan & { notes: string[] }}
 * @throws {UsageError}
 */
export function createPlan({ experiment, overrides, cpus, missing, ...known }) {
  const planes = choosePlanes(experiment, overrides)
  // Where no plane has sidecars, there is no cost to measure in turns.
  const questions = resolveQuestions(experiment, overrides).filter(
    ({ kind }, _, { length }) =>
      length === 1 || kind !== 'turns' || planes.some(({ plane }) => known.hasSidecars(plane)),
  )
  const parts = questions.map(question => planPart(question, { cpus, missing, ...known }))
  const [{ question }] = parts
  return {
    experiment: experiment.name,
    kinds: parts.map(part => part.question.kind),
    question: experiment.question,
    claims: experiment.claims,
    seed: overrides.seed,
    rounds: Math.max(...parts.map(({ rounds }) => rounds)),
    ...(overrides.precision && { precision: overrides.precision }),
    arms: parts.flatMap(part => withRounds(part, Math.max(...parts.map(({ rounds }) => rounds)))),
    calibrations: parts.flatMap(({ calibrations }) => calibrations),
    mostOfCapacity: experiment.mostOfCapacity,
    search: experiment.search && {
      ...experiment.search,
      precision: overrides.profile === 'smoke' ? PRECISION.smoke : PRECISION.default,
    },
    notMeasured: distinctly([...missing, ...parts.flatMap(({ notMeasured }) => notMeasured)]),
    notes: parts.flatMap(({ notes }) => notes),
    trials: parts.flatMap(({ trials }) => trials),
    settings: createSettings(question),
  }
}

/**
 * The arms of one kind, with their number of rounds where another kind has more.
 * @param {{ arms: Arm[], rounds: number }} part
 * @param {number} mostRounds
 */
function withRounds({ arms, rounds }, mostRounds) {
  return rounds < mostRounds ? arms.map(arm => ({ ...arm, rounds })) : arms
}

/**
 * What one kind of trials measures.
 * @param {Question} question
 * @param {Omit<Parameters<typeof createPlan>[0], 'experiment' | 'overrides'>} options
 */
function planPart(question, { cpus, missing, ...known }) {
  const { experiment, overrides, kind } = question
  const { hasSidecars, runsControl = () => true, findUnsupported = () => null } = known
  const { caps, notes, notMeasured } = chooseCaps(question, cpus)
  const named = overrides.planes ?? question.axes.plane.map(parseChoice)
  const isBesideOthers = kind === 'turns'
  const lists = listValues(question)
  // Without sidecars there is no cost, but a latency that others add to, and the cost of rules.
  const isOfSidecars = isBesideOthers && !isOpenLoop(question) && lists.interception.length === 1
  const chosen = isOfSidecars ? named.filter(({ plane }) => hasSidecars(plane)) : named
  PLANS[kind].assertAskable(question, { planes: chosen, hasSidecars })
  const contenders = nameControls(question, chosen, known.controlsOf ?? (() => []))
  const planes = contenders.filter(({ plane }) => !missing.some(m => m.plane === plane))
  const cells = Object.values(lists).reduce((count, list) => count * list.length, planes.length * caps.length)
  assertFew(cells * question.profile.rounds, experiment)
  const countOf = chooseSimulated(question, { lists, contenders, realMostOf: known.realMostOf ?? (() => null) })
  const arms = createArms(question, {
    lists,
    caps,
    contenders: { planes, hasSidecars, runsControl, countSimulated: countOf },
  })
  const { possible, refused } = refuseUnsupported(arms, findUnsupported)
  const { calibrations, calibrated } =
    experiment.mostOfCapacity === null || isBesideOthers
      ? { calibrations: [], calibrated: possible }
      : calibrate(possible, lists)
  const hasRepeats = question.profile.hasControl && !experiment.search
  const repeated = hasRepeats ? repeatFirst(calibrated) : []
  const measured = isBesideOthers
    ? shareRates([...calibrated, ...keepFirstOfLoads(repeated)], cpus)
    : [...calibrated, ...repeated]
  const order = isBesideOthers ? orderDeployments : orderTrials
  const rounds = chooseRounds(question, { arms: measured, calibrations, order })
  const trials = order({ arms: measured, rounds: experiment.search ? 0 : rounds, seed: overrides.seed })
  return {
    question,
    rounds,
    arms: measured,
    calibrations,
    notMeasured: [...notMeasured, ...refused],
    notes: [...notes, ...(PLANS[kind].noteArms?.(possible, runsControl) ?? [])],
    trials: trials.map(trial => ({ ...trial, kind })),
  }
}

/**
 * @param {Missing[]} missing
 * @returns {Missing[]} each once
 */
function distinctly(missing) {
  return [...new Map(missing.map(one => [`${one.plane} ${one.reason}`, one])).values()]
}

/**
 * The planes, with the controls that were asked for. An arm of one sidecar names its control only where one was asked for: it
 * has the same name as in older runs.
 * @param {Question} question
 * @param {PlaneChoice[]} planes
 * @param {(plane: string) => string[]} controlsOf
 */
function nameControls({ kind, overrides, axes }, planes, controlsOf) {
  const given = overrides.controls ?? null
  const isNamed = PLANS[kind].hasControlPlane || given !== null || axes.control !== undefined
  return isNamed ? chooseControls({ planes, given, own: axes.control ?? [], controlsOf }) : planes
}

/**
 * How many of so many sidecars of a plane are simulated.
 * @param {Question} question
 * @param {{ lists: Record<string, any[]>, contenders: PlaneChoice[], realMostOf: (choice: PlaneChoice) => number | null }} options
 * @returns {(choice: PlaneChoice, sidecars: number) => number}
 * @throws {UsageError} where simulated ones were asked for, and none can be
 */
function chooseSimulated({ kind, experiment, overrides }, { lists, contenders, realMostOf }) {
  // Not where sidecars are shared among control planes, nor where commits are paced: simulated ones go at the pace of real ones.
  const isSimulable =
    !PLANS[kind].isAllReal &&
    !experiment.sizesControlOf &&
    AXIS_NAMES.every(name => !AXES[name].needsRealSidecars || lists[name].every(value => value === null))
  const ownMostOf = (/** @type {PlaneChoice} */ choice) => (isSimulable ? realMostOf(choice) : null)
  const asked = overrides.realMost ?? null
  if (asked && contenders.every(choice => ownMostOf(choice) === null))
    throw new UsageError(
      `--real ${asked}: no control plane of this run has simulated sidecars${isSimulable ? '' : ` in ${experiment.name}`}: ${contenders.map(nameOf).join(', ') || 'there is none'}`,
    )
  return (choice, sidecars) => {
    const realMost = ownMostOf(choice)
    return realMost === null ? 0 : Math.max(0, sidecars - (asked ?? realMost))
  }
}

/**
 * @param {Question} question
 * @returns {Plan['settings']}
 */
function createSettings({ experiment, overrides }) {
  return {
    profile: overrides.profile,
    trafficPolicy: experiment.trafficPolicy,
    app: overrides.app,
    isPinned: overrides.isPinned,
    relaxes: experiment.relaxes,
    keepsServices: experiment.keepsServices,
    shows: experiment.shows,
    ...(experiment.grows && { grows: experiment.grows }),
    ...(experiment.sizesControlOf && { sizesControlOf: experiment.sizesControlOf }),
  }
}
