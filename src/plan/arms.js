import { PLANS } from '../kinds/plans.js'
import { UsageError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { nameOf } from '../model/arms.js'
import { CONTROL_PLANE_AXES } from '../model/axes/control-plane.js'
import { SIDECAR_AXES } from '../model/axes/sidecar.js'
import { AXES, AXIS_NAMES, groupOf } from '../model/axes.js'
import { countTurnWorkers } from './caps.js'
import { chooseLoad } from './load.js'

/**
 * The arms of a plan: one of every plane at every place on the axes. Pure.
 * @import { Arm, AxisName, Conditions, PlaneChoice } from '../model/types.ts'
 * @import { Missing, Question } from './question.js'
 */

// A capacity that rates are chosen by.
const CALIBRATION_SECONDS = 3
// Conditions that every arm has; those of control planes are absent where nothing was asked.
const EVERY_CONDITION = /** @type {AxisName[]} */ (['services', ...Object.keys(SIDECAR_AXES)])

/** Values of each axis but the cap. @typedef {Record<string, any[]>} Lists */

/**
 * hasSidecars, runsControl: of a plane; countSimulated: of so many sidecars of a plane.
 * @typedef {{ planes: PlaneChoice[], hasSidecars: (plane: string) => boolean, runsControl: (choice: PlaneChoice) => boolean,
 *   countSimulated: (choice: PlaneChoice, sidecars: number) => number }} Contenders
 */

/**
 * The values of each axis, the ends of longer lists in a smoke run.
 * @param {Question} question
 * @returns {Lists}
 */
export function listValues({ overrides, axes }) {
  const lists = Object.fromEntries(
    AXIS_NAMES.filter(name => name !== 'capCores').map(name => [
      name,
      takeEnds(overrides.axes[/** @type {'link'} */ (name)] ?? axes[name] ?? AXES[name].values, overrides.profile),
    ]),
  )
  // Services have namespaces where those of another arm are redirected: the difference is then the redirection alone.
  return lists.interception.includes('redirect') ? lists : { ...lists, interception: AXES.interception.values }
}

/**
 * @template T
 * @param {T[]} list
 * @param {string} profile
 */
function takeEnds(list, profile) {
  return profile === 'smoke' && list.length > 2 ? [list[0], /** @type {T} */ (list.at(-1))] : list
}

/**
 * Arms of every combination, each once.
 * @param {Question} question
 * @param {{ lists: Lists, caps: (number | null)[], contenders: Contenders }} options
 * @throws {UsageError} for two variants of one name
 */
export function createArms(question, { lists, caps, contenders }) {
  const { planes, hasSidecars, runsControl, countSimulated } = contenders
  const capsOf = (/** @type {PlaneChoice} */ { plane }) =>
    hasSidecars(plane) ? takeEnds(caps, question.overrides.profile) : [null]
  const arms = product(lists).flatMap(cell =>
    planes.flatMap(choice =>
      capsOf(choice).map(cap => {
        const conditions = chooseConditions(cell, {
          hasSidecars: hasSidecars(choice.plane),
          isLimitable: !PLANS[question.kind].hasUncontrolled || runsControl(choice),
          simulated: cell.sidecars === null ? 0 : countSimulated(choice, cell.sidecars),
        })
        if (question.kind === 'turns') conditions.workers ??= countTurnWorkers(question)
        const placed = { hasSidecars: hasSidecars(choice.plane), cap, conditions, cell, caps }
        /** @type {Arm} */
        const arm = {
          ...choice,
          id: '',
          repeatOf: null,
          calibratedBy: null,
          hasSidecars: placed.hasSidecars,
          link: cell.link,
          capCores: cap,
          conditions,
          load: chooseLoad(question, placed),
        }
        return { ...arm, id: idOf(arm, lists) }
      }),
    ),
  )
  return distinct(arms)
}

/**
 * Every combination of one value of each list.
 * @param {Lists} lists
 * @returns {Record<string, any>[]}
 */
function product(lists) {
  return Object.entries(lists).reduce(
    (cells, [name, values]) => cells.flatMap(cell => values.map(value => ({ ...cell, [name]: value }))),
    /** @type {Record<string, any>[]} */ ([{}]),
  )
}

/**
 * @param {Record<string, any>} cell a place on the axes
 * @param {{ hasSidecars: boolean, isLimitable: boolean, simulated: number }} options isLimitable: it has a control plane
 * @returns {Conditions}
 */
function chooseConditions(cell, { hasSidecars, isLimitable, simulated }) {
  // Without sidecars, what only sidecars are given makes no difference.
  const given = EVERY_CONDITION.map(name => [
    name,
    hasSidecars || !AXES[name].isOfSidecars ? cell[name] : AXES[name].values[0],
  ])
  const controlled = Object.keys(CONTROL_PLANE_AXES)
    .filter(name => cell[name] !== null && (name === 'sidecars' || isLimitable))
    .map(name => [name, cell[name]])
  return /** @type {Conditions} */ (
    Object.fromEntries([
      ...given,
      ...(cell.interception === null ? [] : [['interception', cell.interception]]),
      ...controlled,
      ...(simulated > 0 ? [['simulated', simulated]] : []),
    ])
  )
}

/**
 * The name of an arm within its run: link, plane, cap and rate, and what else the run varies.
 * @param {Arm} arm
 * @param {Lists} lists
 */
function idOf(arm, lists) {
  const others = AXIS_NAMES.filter(name => !['link', 'capCores', 'ratePerSecond'].includes(name))
  // What is said of connections is always said.
  const isVaried = (/** @type {string} */ name) => name === 'interception' || lists[name].length > 1
  const varied = others.filter(name => isVaried(name) && AXES[name].of(arm) !== null)
  const { ratePerSecond } = arm.load
  return [
    arm.link,
    // It is a folder's name, too, and a variant may be called anything.
    nameOf(arm)
      .replaceAll(/[^A-Za-z0-9._]+/g, '-')
      .slice(0, 80),
    arm.capCores,
    ratePerSecond === undefined ? null : `${ratePerSecond}rps`,
    arm.load.isBesideOthers ? 'turns' : null,
    ...varied.map(name => AXES[name].show(AXES[name].of(arm)).replaceAll(/[^A-Za-z0-9.]+/g, '-')),
  ]
    .filter(part => part !== null)
    .join('-')
}

/**
 * Arms without those that are the same as one before (none, where only sidecars differ).
 * @param {Arm[]} arms
 * @returns {Arm[]}
 */
function distinct(arms) {
  /** @type {Map<string, Arm>} */
  const byId = new Map()
  for (const arm of arms) {
    const same = byId.get(arm.id)
    if (same && same.variant !== arm.variant)
      throw new UsageError(`two variants are both called ${nameOf(arm)}: rename the folder of one`)
    if (!same) byId.set(arm.id, arm)
  }
  return [...byId.values()]
}

/**
 * Arms that planes can run, and for the others each reason once.
 * @param {Arm[]} arms
 * @param {(arm: Arm) => string | null} findUnsupported
 * @returns {{ possible: Arm[], refused: Missing[] }}
 * @throws {UsageError} where none is possible
 */
export function refuseUnsupported(arms, findUnsupported) {
  const reasons = new Map(arms.map(arm => [arm.id, findUnsupported(arm)]))
  /** @type {Map<string, Missing>} */
  const byText = new Map()
  for (const arm of arms) {
    const reason = reasons.get(arm.id)
    if (reason) byText.set(`${nameOf(arm)} ${reason}`, { plane: nameOf(arm), reason })
  }
  const refused = [...byText.values()]
  const possible = arms.filter(arm => !reasons.get(arm.id))
  if (possible.length === 0) {
    const why = refused.map(({ plane, reason }) => `${plane}: ${reason}`).join('; ')
    throw new UsageError(`nothing to measure: ${why || 'no plane is left'}`)
  }
  return { possible, refused }
}

/**
 * A closed loop for every plane, link, cap and condition of an open loop, and the arms with the one that is theirs.
 * @param {Arm[]} arms
 * @param {Lists} lists
 */
export function calibrate(arms, lists) {
  /** @type {Map<string, Arm>} */
  const calibrations = new Map()
  const calibrated = arms.map(arm => {
    const { ratePerSecond, ...load } = arm.load
    if (ratePerSecond === undefined) return arm
    /** @type {Arm} */
    const closed = { ...arm, load: { ...load, kind: 'closed', windowSeconds: CALIBRATION_SECONDS } }
    const id = `capacity-${idOf(closed, lists)}`
    if (!calibrations.has(id)) calibrations.set(id, { ...closed, id })
    return { ...arm, calibratedBy: id }
  })
  return { calibrations: [...calibrations.values()], calibrated }
}

/**
 * For every link, cap and load at which planes are compared, its first sidecar plane once more: an arm against
 * itself (A/A) shows the noise.
 * @param {Arm[]} arms
 * @returns {Arm[]}
 */
export function repeatFirst(arms) {
  const groups = groupBy(
    arms.filter(arm => arm.hasSidecars),
    arm => groupOf(arm),
  )
  return [...groups.values()]
    .filter(group => group.length > 1)
    .map(([first]) => ({ ...first, id: `${first.id}-aa`, repeatOf: first.id }))
}

/**
 * One repetition for each link and load: arms that stand at the same time share their noise.
 * @param {Arm[]} repetitions
 * @returns {Arm[]}
 */
export function keepFirstOfLoads(repetitions) {
  return [...groupBy(repetitions, ({ link, load }) => JSON.stringify([link, load])).values()].map(([first]) => first)
}
