import { KINDS } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { groupBy, uniqueBy } from '../lib/group-by.js'
import {
  AXES,
  AXIS_NAMES,
  CONDITION_AXES,
  CONTROL_PLANE_NAMES,
  createGroupKey,
  NODE_CPU_AXES,
  renderArmName,
} from '../model/arms.js'
import { readValues } from '../request/part-request.js'
import { groupByGenerator } from './interleave.js'
import { chooseLoad, isOpenLoop } from './load.js'

/** The arms of a plan: one for every plane, CPU limit and combination of axis values. Pure. */
/** @import { Arm, AxisName, Conditions, PlaneChoice } from '../model/types.ts' */
/** @import { Missing, Question } from '../request/question.js' */

const CALIBRATION_SECONDS = 3
/** The values of each axis but the CPU limit, by its name. @typedef {Record<string, any[]>} AxisValues */

/**
 * The planes of a part, and facts about them.
 * @typedef {object} Contenders
 * @property {PlaneChoice[]} planes
 * @property {(plane: string) => boolean} hasSidecars
 * @property {(choice: PlaneChoice) => boolean} runsControl says whether a process hands out configurations
 * @property {(choice: PlaneChoice, sidecars: number) => number} countSimulated counts how many of the sidecars are simulated
 */

/**
 * Chooses the values of each axis but the CPU limit: those of the options, else of the experiment, else the default. A smoke run has
 * the first and the last value of each. Axes of shared CPUs, placement, and idle connections have their default if the kind or the
 * load excludes them, and so has interception unless services have namespaces. If nobody chose the placement of interleaved arms, it
 * may be `apart` (`isPlacedApart`).
 * @param {Question} question
 * @param {object} options
 * @param {PlaneChoice[]} options.planeChoices the planes of the question
 * @param {number} options.pinnableCpus the CPUs that processes can have for themselves
 * @param {(plane: string) => boolean} options.hasOnlyPipelines says whether all contenders of this plane are pipelines,
 *   which may have nothing in common
 * @returns {AxisValues}
 */
export function chooseAxisValues(question, { planeChoices, pinnableCpus, hasOnlyPipelines }) {
  const { overrides, kind } = question
  const isInterleaved = kind === 'cost'
  /** @type {AxisValues} */
  const axisValues = Object.fromEntries(
    AXIS_NAMES.filter(name => name !== 'cpuLimitCores').map(name => [name, chooseValuesOfOneAxis(question, name)]),
  )
  const canPlaceApart = isInterleaved && !readValues(question, 'placement') && pinnableCpus > 1
  if (!isInterleaved) axisValues.placement = AXES.placement.values
  if (canPlaceApart && isPlacedApart(question, { axisValues, planeChoices, hasOnlyPipelines }))
    axisValues.placement = ['apart']
  if (!isInterleaved || axisValues.ratePerSecond[0] !== null) axisValues.idleConnections = AXES.idleConnections.values
  // If one arm is redirected, services of all arms have namespaces: arms then differ in the redirection alone.
  const hasNamespaces = axisValues.interception.includes('redirect') || overrides.hasNamespaces === true
  return hasNamespaces ? axisValues : { ...axisValues, interception: AXES.interception.values }
}

/**
 * Chooses the values of one axis: those of the options, else of the experiment, else the default; in a smoke run, the first and the
 * last of them.
 * @param {Question} question
 * @param {AxisName} name
 * @returns {any[]} the default alone, for an axis of NODE_CPU_AXES that the kind does not have: another part of the experiment has it
 */
function chooseValuesOfOneAxis(question, name) {
  const { kinds, values: defaults } = AXES[name]
  if (NODE_CPU_AXES.includes(name) && !kinds.includes(question.kind)) return defaults
  return pickEndValues(readValues(question, name) ?? defaults, question.overrides.profile)
}

/**
 * Says whether interleaved arms share CPUs that the generator does not use. Only versions of one plane with one
 * worker do: a change to scripts is then visible from 2 % on (docs/evidence/accuracy.md). All other arms are compared
 * unpinned, as a node runs them.
 * @param {Question} question
 * @param {{ axisValues: AxisValues, planeChoices: PlaneChoice[], hasOnlyPipelines: (plane: string) => boolean }} options
 * @returns {boolean} false also: an axis has several values, the load has a rate, or the versions are pipelines
 */
function isPlacedApart(question, { axisValues, planeChoices, hasOnlyPipelines }) {
  const hasOneWorker = (axisValues.workers[0] ?? computeInterleavedWorkers(question)) === 1
  const variesNoAxis = Object.values(axisValues).every(({ length }) => length === 1)
  const choices = planeChoices.filter(({ plane }) => plane !== 'none')
  const isOnePlane = new Set(choices.map(({ plane, profile }) => `${plane}:${profile}`)).size === 1
  const areVersions = isOnePlane && choices.length > 1 && !hasOnlyPipelines(choices[0].plane)
  return hasOneWorker && variesNoAxis && areVersions && !isOpenLoop(question)
}

/**
 * Picks the first and the last value in a smoke run; other profiles keep all.
 * @template T
 * @param {T[]} values of an axis
 * @param {string} profile
 * @returns {T[]}
 */
function pickEndValues(values, profile) {
  return profile === 'smoke' && values.length > 2 ? [values[0], values[values.length - 1]] : values
}

/**
 * Creates an arm for every plane, CPU limit and combination of axis values; an id occurs once. A plane without
 * sidecars has no CPU limits, and a smoke run only the first and the last.
 * @param {Question} question
 * @param {{ axisValues: AxisValues, cpuLimits: (number | null)[], contenders: Contenders }} options cpuLimits: cores; null: no
 *   limit
 * @returns {Arm[]} []: there are no planes
 * @throws {UsageError} for two variants of one id
 */
export function createArms(question, { axisValues, cpuLimits, contenders }) {
  const sidecarLimits = pickEndValues(cpuLimits, question.overrides.profile)
  const arms = listCombinations(axisValues).flatMap(cell =>
    contenders.planes.flatMap(choice => {
      const limits = contenders.hasSidecars(choice.plane) ? sidecarLimits : [null]
      return limits.map(cpuLimit => createArm(question, { cell, choice, cpuLimit, cpuLimits, contenders }))
    }),
  )
  return deduplicateArms(arms.map(arm => ({ ...arm, id: renderArmId(arm, axisValues) })))
}

/**
 * Creates an arm, whose id is still empty.
 * @param {Question} question
 * @param {{ cell: Record<string, any>, choice: PlaneChoice, cpuLimit: number | null, cpuLimits: (number | null)[], contenders:
 *   Contenders }} options cell: the arm's value on each axis; cpuLimits: of all arms with sidecars
 * @returns {Arm}
 */
function createArm(question, { cell, choice, cpuLimit, cpuLimits, contenders }) {
  const { kind } = question
  const hasSidecars = contenders.hasSidecars(choice.plane)
  const conditions = chooseConditions(cell, {
    hasSidecars,
    hasControlAxes: !KINDS[kind].hasUncontrolled || contenders.runsControl(choice),
    simulated: cell.sidecars === null ? 0 : contenders.countSimulated(choice, cell.sidecars),
  })
  if (kind === 'cost') conditions.workers ??= computeInterleavedWorkers(question)
  const draft = { hasSidecars, cpuLimit, conditions, cell, cpuLimits, variant: choice.variant }
  return {
    ...choice,
    id: '',
    kind,
    repeatOf: null,
    calibratedBy: null,
    hasSidecars,
    link: cell.link,
    cpuLimitCores: cpuLimit,
    conditions,
    load: chooseLoad(question, draft),
  }
}

/**
 * Computes the workers of an interleaved sidecar: enough for the largest CPU limit of the options, else of the experiment, and at
 * least one. Interleaved sidecars do not get this limit itself.
 * @param {Question} question
 * @returns {number | null} null: there is no limit, so that the plane or the number of CPUs decides
 */
function computeInterleavedWorkers({ overrides, axes }) {
  const cpuLimits = overrides.cpuLimits ?? axes.cpuLimitCores
  return cpuLimits === 'none' ? null : Math.max(1, ...cpuLimits.map(Math.ceil))
}

/**
 * Lists every combination of one value of each axis.
 * @param {AxisValues} axisValues
 * @returns {Record<string, any>[]} for each combination, its values by the names of the axes
 */
function listCombinations(axisValues) {
  return Object.entries(axisValues).reduce(
    (cells, [name, values]) => cells.flatMap(cell => values.map(value => ({ ...cell, [name]: value }))),
    /** @type {Record<string, any>[]} */ ([{}]),
  )
}

/**
 * Chooses an arm's conditions from its values on the axes. A condition that does not apply to the arm has its default;
 * a sparse one, or one of a control plane, is absent if its value is null.
 * @param {Record<string, any>} cell the arm's value on each axis
 * @param {{ hasSidecars: boolean, hasControlAxes: boolean, simulated: number }} options hasControlAxes: all axes of a control plane
 *   apply; false: only the number of sidecars does; simulated: the number of simulated sidecars
 * @returns {Conditions} simulated: absent if it is 0
 */
function chooseConditions(cell, { hasSidecars, hasControlAxes, simulated }) {
  const createEntry = (/** @type {AxisName} */ name) => {
    // Conditions that only sidecars get make no difference to arms without sidecars.
    const isApplicable = hasSidecars || !AXES[name].isOfSidecars
    return [name, isApplicable ? cell[name] : AXES[name].values[0]]
  }
  const controlNames = CONTROL_PLANE_NAMES.filter(name => name === 'sidecars' || hasControlAxes)
  const controlEntries = controlNames.map(name => [name, cell[name]])
  return /** @type {Conditions} */ (
    Object.fromEntries([
      ...CONDITION_AXES.every.map(createEntry),
      ...[...CONDITION_AXES.sparse.map(createEntry), ...controlEntries].filter(([, value]) => value !== null),
      ...(simulated > 0 ? [['simulated', simulated]] : []),
    ])
  )
}

/**
 * Renders the id of an arm: its link, name, CPU limit and rate, and its values on the other axes that the run varies. Arms that are
 * equal in these have one id.
 * @param {Arm} arm
 * @param {AxisValues} axisValues
 * @returns {string} the name of a folder, too
 */
function renderArmId(arm, axisValues) {
  const others = AXIS_NAMES.filter(name => !['link', 'cpuLimitCores', 'ratePerSecond'].includes(name))
  // An arm's name has its interception even if the run does not vary it.
  const isVaried = (/** @type {string} */ name) => name === 'interception' || axisValues[name].length > 1
  const variedAxes = others.filter(name => isVaried(name) && AXES[name].readValue(arm) !== null)
  const { ratePerSecond } = arm.load
  return [
    arm.link,
    // The name is that of a folder, too, and a variant may have any characters and length.
    renderArmName(arm)
      .replaceAll(/[^A-Za-z0-9._]+/g, '-')
      .slice(0, 80),
    arm.cpuLimitCores,
    ratePerSecond === undefined ? null : `${ratePerSecond}rps`,
    arm.load.isInterleaved ? 'interleaved' : null,
    ...variedAxes.map(name => AXES[name].render(AXES[name].readValue(arm)).replaceAll(/[^A-Za-z0-9.]+/g, '-')),
  ]
    .filter(part => part !== null)
    .join('-')
}

/**
 * Keeps the first arm of each id: arms without sidecars may differ only in axes of sidecars.
 * @param {Arm[]} arms
 * @returns {Arm[]} in the same order
 * @throws {UsageError} for two variants of one id
 */
function deduplicateArms(arms) {
  /** @type {Map<string, Arm>} */
  const byId = new Map()
  for (const arm of arms) {
    const namesake = byId.get(arm.id)
    if (namesake && namesake.variant !== arm.variant)
      throw new UsageError(`two variants are both called ${renderArmName(arm)}: rename the folder of one`)
    if (!namesake) byId.set(arm.id, arm)
  }
  return [...byId.values()]
}

/**
 * Splits arms by whether they can be measured.
 * @param {Arm[]} arms
 * @param {(arm: Arm) => Pick<Missing, 'reason' | 'isRefused'> | null} findUnsupported finds the reason why an arm cannot be measured;
 *   null: it can
 * @returns {{ possible: Arm[], unsupported: Missing[] }} unsupported: the planes of the other arms, each reason of a plane
 *   once; []: all arms can be measured
 * @throws {UsageError} if no arm can be measured, or there are none
 */
export function splitUnsupportedArms(arms, findUnsupported) {
  const judged = arms.map(arm => ({ arm, fault: findUnsupported(arm) }))
  const possible = judged.flatMap(({ arm, fault }) => (fault ? [] : [arm]))
  const unsupported = deduplicateReasons(
    judged.flatMap(({ arm, fault }) => (fault ? [{ plane: renderArmName(arm), ...fault }] : [])),
  )
  if (possible.length === 0) {
    const reasons = unsupported.map(({ plane, reason }) => `${plane}: ${reason}`)
    throw new UsageError(`nothing to measure: ${reasons.join('; ') || 'no plane is left'}`)
  }
  return { possible, unsupported }
}

/**
 * Keeps each reason of a plane once: among equal ones the last, at the place of the first.
 * @param {Missing[]} missing
 * @returns {Missing[]}
 */
export function deduplicateReasons(missing) {
  return uniqueBy(missing, ({ plane, reason }) => `${plane} ${reason}`)
}

/**
 * Adds calibrations: the closed loops that find the capacity of open-loop arms, one for all rates of an arm. An arm
 * without a rate has none.
 * @param {Arm[]} arms
 * @param {AxisValues} axisValues for the ids
 * @returns {{ calibrations: Arm[], calibrated: Arm[] }} calibrations: []: no arm has a rate; calibrated: all arms, of which
 *   `calibratedBy` names the calibration
 */
export function addCalibrations(arms, axisValues) {
  /** @type {Map<string, Arm>} */
  const calibrations = new Map()
  const calibrated = arms.map(arm => {
    const { ratePerSecond, ...load } = arm.load
    if (ratePerSecond === undefined) return arm
    /** @type {Arm} */
    const closed = { ...arm, load: { ...load, kind: 'closed', windowSeconds: CALIBRATION_SECONDS } }
    const id = `capacity-${renderArmId(closed, axisValues)}`
    if (!calibrations.has(id)) calibrations.set(id, { ...closed, id })
    return { ...arm, calibratedBy: id }
  })
  return { calibrations: [...calibrations.values()], calibrated }
}

/**
 * Repeats the first arm with sidecars of each compared group, as its A/A control.
 * @param {Arm[]} arms
 * @param {boolean} areTogether arms that share a generator have one repeat in all
 * @returns {Arm[]} only the repeats; []: no two arms with sidecars are compared
 */
export function repeatFirstArms(arms, areTogether) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const compared = [...groupBy(withSidecars, arm => createGroupKey(arm)).values()].filter(group => group.length > 1)
  const repeated = compared.map(([first]) => ({ ...first, id: `${first.id}-aa`, repeatOf: first.id }))
  if (!areTogether) return repeated
  return groupByGenerator(repeated).map(([first]) => first)
}
