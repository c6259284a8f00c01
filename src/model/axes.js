import { CONTROL_PLANE_AXES } from './axes/control-plane.js'
import { LOAD_AXES } from './axes/load.js'
import { CAP_AXIS, SIDECAR_AXES } from './axes/sidecar.js'

/** All axes, each with what is its own in axes/, and facts about arms that rest on them. Pure. */
/** @import { Arm, AxisName } from './types.ts' @import { Axis } from './axes/axis.js' */

/** The axes, in the order in which arms are made of them. @type {Record<AxisName, Axis>} */
export const AXES = { ...LOAD_AXES, ...SIDECAR_AXES, ...CONTROL_PLANE_AXES, capCores: CAP_AXIS }

/** @type {AxisName[]} */
export const AXIS_NAMES = /** @type {AxisName[]} */ (Object.keys(AXES))

/** The axes that an arm shares with its baseline without sidecars. @type {AxisName[]} */
export const BASELINE_AXES = AXIS_NAMES.filter(name => !AXES[name].isOfSidecars)

/** Lists the axes in which arms with sidecars differ, else any arms. @param {Parameters<Axis['of']>[0][]} arms */
export function findVaried(arms) {
  const capped = arms.filter(arm => arm.capCores !== null)
  const judged = capped.length > 0 ? capped : arms
  return AXIS_NAMES.filter(name => new Set(judged.map(AXES[name].of)).size > 1)
}

/** Tells the values of an arm on some axes. @param {Parameters<Axis['of']>[0]} arm @param {AxisName[]} names */
export function describeAxes(arm, names) {
  return names.map(name => AXES[name].show(AXES[name].of(arm))).join(', ')
}

/**
 * Says whether an arm is another without sidecars: under the same load, and equal in all that it can have.
 * @param {Parameters<Axis['of']>[0] & { hasSidecars: boolean }} none @param {Parameters<Axis['of']>[0]} arm
 */
export function isBaselineOf(none, arm) {
  return none !== arm && !none.hasSidecars && isAlike(none, arm, BASELINE_AXES)
}

/**
 * Says whether two arms have the same kind of load and the same on some axes.
 * @param {Parameters<Axis['of']>[0]} a @param {Parameters<Axis['of']>[0]} b @param {AxisName[]} names
 */
export function isAlike(a, b, names) {
  return kindOfLoad(a.load) === kindOfLoad(b.load) && describeAxes(a, names) === describeAxes(b, names)
}

/** Makes a key that comparable arms share. @param {Parameters<Axis['of']>[0]} arm @param {AxisName | null} [except] */
export function groupOf(arm, except = null) {
  const names = AXIS_NAMES.filter(name => name !== except)
  return JSON.stringify([kindOfLoad(arm.load), ...names.map(name => AXES[name].of(arm))])
}

/** Names the part of a load that arms must share to be compared. @param {Pick<Arm['load'], 'kind' | 'isBesideOthers'>} load */
function kindOfLoad({ kind, isBesideOthers }) {
  return isBesideOthers ? `${kind} beside others` : kind
}
