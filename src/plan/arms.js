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
import { countInterleavedWorkers, isOpenLoop } from './cpu-limits.js'
import { groupByGenerator } from './interleave.js'
import { chooseLoad } from './load.js'

/** The arms of a plan: one of every plane at every place on the axes. Pure. */
/** @import { Arm, AxisName, Calibration, Conditions, Plan, PlaneChoice } from '../model/types.ts' */
/** @import { Missing, Question } from '../request/question.js' */

const CALIBRATION_SECONDS = 3
/** Values of each axis but the CPU limit. @typedef {Record<string, any[]>} Lists */

/**
 * The planes of a plan, and facts about them.
 * @typedef {object} Contenders
 * @property {PlaneChoice[]} planes
 * @property {(plane: string) => boolean} hasSidecars
 * @property {(choice: PlaneChoice) => boolean} runsControl a process hands out configurations
 * @property {(choice: PlaneChoice, sidecars: number) => number} countSimulated how many of so many sidecars are simulated
 */

/**
 * Lists the values of each axis but the CPU limit. A smoke run has the first and the last value of each; an axis that
 * the kind does not have is at its default.
 * @param {Question} question
 * @param {object} options
 * @param {PlaneChoice[]} options.named the planes of the question
 * @param {number} options.pinnableCpus the CPUs that processes can have for themselves
 * @param {(plane: string) => boolean} options.isAnyProgram says whether contenders of this plane may have nothing in
 *   common
 * @returns {Lists}
 */
export function listValues(question, { named, pinnableCpus, isAnyProgram }) {
  const { overrides, axes, kind } = question
  const lists = Object.fromEntries(
    AXIS_NAMES.filter(name => name !== 'cpuLimitCores').map(name => [
      name,
      NODE_CPU_AXES.includes(name) && !AXES[name].kinds.includes(kind)
        ? AXES[name].values
        : pickEndValues(
            overrides.axes[/** @type {'link'} */ (name)] ?? axes[name] ?? AXES[name].values,
            overrides.profile,
          ),
    ]),
  )
  if (kind !== 'cost') lists.placement = AXES.placement.values
  else if (
    !(overrides.axes.placement ?? axes.placement) &&
    pinnableCpus > 1 &&
    isPlacedApart(question, { lists, named, isAnyProgram })
  )
    lists.placement = ['apart']
  if (kind !== 'cost' || lists.ratePerSecond[0] !== null) lists.idleConnections = AXES.idleConnections.values
  // If one arm is redirected, services of all arms have namespaces: arms then differ in the redirection alone.
  const hasNamespaces = lists.interception.includes('redirect') || overrides.hasNamespaces === true
  return hasNamespaces ? lists : { ...lists, interception: AXES.interception.values }
}

/**
 * Says whether interleaved arms share CPUs that the generator does not use. Only versions of one plane with one
 * worker do: a change to scripts is then visible from 2 % on (docs/evidence/accuracy.md). All other arms are compared
 * unpinned, as a node runs them.
 * @param {Question} question
 * @param {{ lists: Lists, named: PlaneChoice[], isAnyProgram: (plane: string) => boolean }} options
 */
function isPlacedApart(question, { lists, named, isAnyProgram }) {
  const hasOneWorker = (lists.workers[0] ?? countInterleavedWorkers(question)) === 1
  const isAlike = Object.values(lists).every(({ length }) => length === 1)
  const choices = named.filter(({ plane }) => plane !== 'none')
  const isOnePlane = new Set(choices.map(({ plane, profile }) => `${plane}:${profile}`)).size === 1
  const areVersions = isOnePlane && choices.length > 1 && !isAnyProgram(choices[0].plane)
  return hasOneWorker && isAlike && areVersions && !isOpenLoop(question)
}

/**
 * Picks the first and the last value in a smoke run; other profiles keep all.
 * @template T
 * @param {T[]} list the values of an axis
 * @param {string} profile
 * @returns {T[]}
 */
function pickEndValues(list, profile) {
  return profile === 'smoke' && list.length > 2 ? [list[0], /** @type {T} */ (list.at(-1))] : list
}

/**
 * Creates an arm for every plane, CPU limit and combination of axis values; an id occurs once. A plane without
 * sidecars has no CPU limits.
 * @param {Question} question
 * @param {{ lists: Lists, cpuLimits: (number | null)[], contenders: Contenders }} options cpuLimits: cores, or null:
 *   no limit
 * @returns {Arm[]}
 * @throws {UsageError} for two variants of one name
 */
export function createArms(question, { lists, cpuLimits, contenders }) {
  const { planes, hasSidecars, runsControl, countSimulated } = contenders
  const listCpuLimits = (/** @type {PlaneChoice} */ { plane }) =>
    hasSidecars(plane) ? pickEndValues(cpuLimits, question.overrides.profile) : [null]
  const arms = listCombinations(lists).flatMap(cell =>
    planes.flatMap(choice =>
      listCpuLimits(choice).map(cpuLimit => {
        const conditions = chooseConditions(cell, {
          hasSidecars: hasSidecars(choice.plane),
          isLimitable: !KINDS[question.kind].hasUncontrolled || runsControl(choice),
          simulated: cell.sidecars === null ? 0 : countSimulated(choice, cell.sidecars),
        })
        if (question.kind === 'cost') conditions.workers ??= countInterleavedWorkers(question)
        const placed = {
          hasSidecars: hasSidecars(choice.plane),
          cpuLimit,
          conditions,
          cell,
          cpuLimits,
          variant: choice.variant,
        }
        /** @type {Arm} */
        const arm = {
          ...choice,
          id: '',
          kind: question.kind,
          repeatOf: null,
          calibratedBy: null,
          hasSidecars: placed.hasSidecars,
          link: cell.link,
          cpuLimitCores: cpuLimit,
          conditions,
          load: chooseLoad(question, placed),
        }
        return { ...arm, id: renderArmId(arm, lists) }
      }),
    ),
  )
  return deduplicateArms(arms)
}

/**
 * Lists every combination of one value of each axis.
 * @param {Lists} lists
 * @returns {Record<string, any>[]} places on the axes, each with its value by the name of the axis
 */
function listCombinations(lists) {
  return Object.entries(lists).reduce(
    (cells, [name, values]) => cells.flatMap(cell => values.map(value => ({ ...cell, [name]: value }))),
    /** @type {Record<string, any>[]} */ ([{}]),
  )
}

/**
 * Chooses an arm's conditions from a place on the axes. A condition that does not apply to the arm has its default;
 * if it is sparse, it is absent.
 * @param {Record<string, any>} cell a place on the axes
 * @param {{ hasSidecars: boolean, isLimitable: boolean, simulated: number }} options isLimitable: limits of a control
 *   plane apply; simulated: the number of simulated sidecars
 * @returns {Conditions}
 */
function chooseConditions(cell, { hasSidecars, isLimitable, simulated }) {
  // Conditions that only sidecars get make no difference to arms without sidecars.
  const take = (/** @type {AxisName} */ name) => [
    name,
    hasSidecars || !AXES[name].isOfSidecars ? cell[name] : AXES[name].values[0],
  ]
  const controlled = CONTROL_PLANE_NAMES.filter(
    name => cell[name] !== null && (name === 'sidecars' || isLimitable),
  ).map(name => [name, cell[name]])
  return /** @type {Conditions} */ (
    Object.fromEntries([
      ...CONDITION_AXES.every.map(take),
      ...CONDITION_AXES.sparse.map(take).filter(([, value]) => value !== null),
      ...controlled,
      ...(simulated > 0 ? [['simulated', simulated]] : []),
    ])
  )
}

/**
 * Renders the id of an arm, unique within its run, with the axes that the run varies.
 * @param {Arm} arm
 * @param {Lists} lists
 * @returns {string}
 */
function renderArmId(arm, lists) {
  const others = AXIS_NAMES.filter(name => !['link', 'cpuLimitCores', 'ratePerSecond'].includes(name))
  // An arm's name has its interception even if the run does not vary it.
  const isVaried = (/** @type {string} */ name) => name === 'interception' || lists[name].length > 1
  const variedAxes = others.filter(name => isVaried(name) && AXES[name].of(arm) !== null)
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
    ...variedAxes.map(name => AXES[name].render(AXES[name].of(arm)).replaceAll(/[^A-Za-z0-9.]+/g, '-')),
  ]
    .filter(part => part !== null)
    .join('-')
}

/**
 * Removes arms of an id that occurred before: arms without sidecars may differ only in axes of sidecars.
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
 * @param {(arm: Arm) => string | null} findUnsupported gives the reason why an arm cannot be measured; null: it can
 * @returns {{ possible: Arm[], refused: Missing[] }} refused: the planes of the other arms, each reason of a plane
 *   once
 * @throws {UsageError} if no arm can be measured
 */
export function splitUnsupportedArms(arms, findUnsupported) {
  const judged = arms.map(arm => ({ arm, reason: findUnsupported(arm) }))
  const possible = judged.flatMap(({ arm, reason }) => (reason ? [] : [arm]))
  const refused = deduplicateReasons(
    judged.flatMap(({ arm, reason }) => (reason ? [{ plane: renderArmName(arm), reason }] : [])),
  )
  if (possible.length === 0) {
    const why = refused.map(({ plane, reason }) => `${plane}: ${reason}`).join('; ')
    throw new UsageError(`nothing to measure: ${why || 'no plane is left'}`)
  }
  return { possible, refused }
}

/**
 * Removes repeated reasons of a plane.
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
 * @param {Lists} lists the values of each axis, for the ids
 * @returns {{ calibrations: Arm[], calibrated: Arm[] }} calibrated: all arms, in which `calibratedBy` names the
 *   calibration
 */
export function addCalibrations(arms, lists) {
  /** @type {Map<string, Arm>} */
  const calibrations = new Map()
  const calibrated = arms.map(arm => {
    const { ratePerSecond, ...load } = arm.load
    if (ratePerSecond === undefined) return arm
    /** @type {Arm} */
    const closed = { ...arm, load: { ...load, kind: 'closed', windowSeconds: CALIBRATION_SECONDS } }
    const id = `capacity-${renderArmId(closed, lists)}`
    if (!calibrations.has(id)) calibrations.set(id, { ...closed, id })
    return { ...arm, calibratedBy: id }
  })
  return { calibrations: [...calibrations.values()], calibrated }
}

/**
 * Removes the arms whose rate is above a share of the measured capacity, and says why. An A/A repeat gets no reason
 * of its own.
 * @param {{ plan: Pick<Plan, 'arms' | 'mostOfCapacity'>, calibrations: Calibration[] }} options plan: its
 *   mostOfCapacity is a fraction, null: 1
 * @returns {{ arms: Arm[], notMeasured: Missing[] }} arms: those that can be reached; notMeasured: []: all can
 */
export function leaveOutUnreachable({ plan, calibrations }) {
  const share = plan.mostOfCapacity ?? 1
  const judged = plan.arms.map(arm => {
    const calibration = calibrations.find(c => c.armId === arm.calibratedBy)
    const { ratePerSecond: rate = 0 } = arm.load
    const capacity = calibration?.ratePerSecond ?? 0
    return { arm, isReachable: rate <= share * capacity, capacity, boundBy: calibration?.boundBy ?? null }
  })
  return {
    arms: judged.filter(j => j.isReachable).map(j => j.arm),
    notMeasured: judged
      .filter(j => !j.isReachable && j.arm.repeatOf === null)
      .map(({ arm, capacity, boundBy }) => ({
        plane: `${renderArmName(arm)}${arm.conditions.services > 1 ? ` with ${arm.conditions.services} services` : ''} at ${arm.load.ratePerSecond} requests/s`,
        reason:
          capacity > 0
            ? `not reachable here: over ${Math.round(100 * share)} % of the ${Math.round(capacity)} requests/s that it reached, bound by ${boundBy}`
            : 'not reachable here: it answered nothing in a closed loop',
      })),
  }
}

/**
 * Repeats the first arm with sidecars of each compared group, as its A/A control.
 * @param {Arm[]} arms
 * @param {boolean} areTogether arms that share a generator have one repeat together
 * @returns {Arm[]} only the repeats; []: no arms are compared
 */
export function repeatFirstArms(arms, areTogether) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  const compared = [...groupBy(withSidecars, arm => createGroupKey(arm)).values()].filter(group => group.length > 1)
  const repeated = compared.map(([first]) => ({ ...first, id: `${first.id}-aa`, repeatOf: first.id }))
  if (!areTogether) return repeated
  return groupByGenerator(repeated).map(([first]) => first)
}
