import { CONTROL_PLANE_AXES } from './axes/control-plane.js'
import { LOAD_AXES } from './axes/load.js'
import { CPU_LIMIT_AXIS, SIDECAR_AXES } from './axes/sidecar.js'

/** All axes (axes/ defines each), the names of arms, and facts about arms that follow from their axes. Pure. */
/**
 * @import { Arm, AxisName, Conditions, PlaneChoice } from './types.ts'
 * @import { ArmOnAxes, Axis } from './axes/axis.js'
 */

/** The axes, in the order in which arms are made of them. @type {Record<AxisName, Axis>} */
export const AXES = { ...LOAD_AXES, ...SIDECAR_AXES, ...CONTROL_PLANE_AXES, cpuLimitCores: CPU_LIMIT_AXIS }

/** @type {AxisName[]} */
export const AXIS_NAMES = /** @type {AxisName[]} */ (Object.keys(AXES))

/** The names of the axes of control planes; an arm has conditions only on those that have a value. @type {AxisName[]} */
export const CONTROL_PLANE_NAMES = /** @type {AxisName[]} */ (Object.keys(CONTROL_PLANE_AXES))

const RECORDED = AXIS_NAMES.filter(name => AXES[name].recorded && !CONTROL_PLANE_NAMES.includes(name))
/**
 * Conditions beside those of control planes: all arms have those of `every`; an arm lacks one of `sparse` if its value is null.
 * @type {Record<'every' | 'sparse', AxisName[]>}
 */
export const CONDITION_AXES = {
  every: RECORDED.filter(name => !isSparse(name)),
  sparse: RECORDED.filter(isSparse),
}

/**
 * Says whether arms may lack the condition of an axis: null is its default, and records may be without it.
 * @param {AxisName} name of an axis
 */
function isSparse(name) {
  const { recorded, values } = AXES[name]
  return values[0] === null && recorded?.safeParse(undefined).success === true
}

/** The axes that an arm shares with its baseline without sidecars. @type {AxisName[]} */
export const BASELINE_AXES = AXIS_NAMES.filter(name => !AXES[name].isOfSidecars)

/** Axes of how processes share the CPUs of a full node; their arms are not interleaved with others. @type {AxisName[]} */
export const NODE_CPU_AXES = ['cpuRequestCores', 'neighbourCores', 'podCpuCores']

/**
 * Lists the axes in which arms with a CPU limit differ; if none has one, those in which all arms differ.
 * @param {ArmOnAxes[]} arms
 * @returns {AxisName[]} in the order of AXES; []: they differ in none
 */
export function listVariedAxes(arms) {
  const capped = arms.filter(arm => arm.cpuLimitCores !== null)
  const compared = capped.length > 0 ? capped : arms
  return AXIS_NAMES.filter(name => new Set(compared.map(AXES[name].readValue)).size > 1)
}

/**
 * Renders the values of an arm on some axes, joined by commas.
 * @param {ArmOnAxes} arm
 * @param {AxisName[]} names
 * @returns {string} empty: there are no names
 */
export function renderAxes(arm, names) {
  return names.map(name => AXES[name].render(AXES[name].readValue(arm))).join(', ')
}

/**
 * Says whether the first arm is the baseline of the second: it has no sidecars, the same kind of load, and the same values on
 * BASELINE_AXES.
 * @param {ArmOnAxes & { hasSidecars: boolean }} baseline
 * @param {ArmOnAxes} arm
 * @returns {boolean} false also: both are the same object
 */
export function isBaselineOf(baseline, arm) {
  return baseline !== arm && !baseline.hasSidecars && areAlikeOn(baseline, arm, BASELINE_AXES)
}

/**
 * Says whether two arms have the same kind of load, interleaved or not, and the same values on some axes.
 * @param {ArmOnAxes} a
 * @param {ArmOnAxes} b
 * @param {AxisName[]} names
 * @returns {boolean}
 */
export function areAlikeOn(a, b, names) {
  return renderLoadKind(a.load) === renderLoadKind(b.load) && renderAxes(a, names) === renderAxes(b, names)
}

/**
 * Creates a key that arms share if they have the same kind of load and the same values on all axes, whatever their planes.
 * @param {ArmOnAxes} arm
 * @param {AxisName | null} [except] an axis in which they may differ, too
 * @returns {string}
 */
export function createGroupKey(arm, except = null) {
  const names = AXIS_NAMES.filter(name => name !== except)
  return JSON.stringify([renderLoadKind(arm.load), ...names.map(name => AXES[name].readValue(arm))])
}

/**
 * Renders the kind of a load, and whether interleaved arms share it: arms are compared only if both are the same.
 * @param {{ kind: string, isInterleaved?: true }} load
 */
function renderLoadKind({ kind, isInterleaved }) {
  return isInterleaved ? `${kind} beside others` : kind
}

/**
 * Renders the name of a plane, profile, control or variant as in `--planes`, with the last part of the variant's path, how many
 * of its sidecars are simulated, and (A/A) for an arm that repeats another: `pipy:fsm@file=folder (A/A)`.
 * @param {PlaneChoice & { repeatOf?: string | null, conditions?: Pick<Conditions, 'sidecars' | 'simulated'> }} arm
 * @returns {string}
 */
export function renderArmName({ plane, profile, control, variant, repeatOf, conditions }) {
  const contender = `${plane}${profile ? `:${profile}` : ''}${control ? `@${control}` : ''}`
  const name = variant ? `${contender}=${variant.split('/').filter(Boolean).at(-1)}` : contender
  const simulated = conditions?.simulated ? ` (${conditions.simulated} of ${conditions.sidecars} simulated)` : ''
  return repeatOf ? `${name}${simulated} (A/A)` : `${name}${simulated}`
}

/**
 * Renders the name of an arm without the number of simulated sidecars, so that its name is the same at every size.
 * @param {Parameters<typeof renderArmName>[0]} arm
 * @returns {string}
 */
export function renderContenderName(arm) {
  return renderArmName({ ...arm, conditions: undefined })
}

/**
 * Renders the values of an arm on the axes that vary, joined by commas. It leaves out those that the arm cannot have, such as a
 * CPU limit without sidecars, and null on an axis with `isUnsaidWhenNull`.
 * @param {Pick<Arm, 'hasSidecars' | 'link' | 'cpuLimitCores' | 'load' | 'conditions'>} arm
 * @param {AxisName[]} varied
 * @returns {string} empty: all are left out
 */
export function renderVariedAxes(arm, varied) {
  const canHave = (/** @type {AxisName} */ name) => {
    if (AXES[name].isUnsaidWhenNull) return AXES[name].readValue(arm) !== null
    return arm.hasSidecars || !AXES[name].isOfSidecars
  }
  return renderAxes(arm, varied.filter(canHave))
}

/**
 * Renders the name of an arm and its values on the axes that vary, joined by commas.
 * @param {Parameters<typeof renderVariedAxes>[0] & PlaneChoice & { repeatOf?: string | null }} arm
 * @param {AxisName[]} varied
 * @returns {string}
 */
export function renderArmLabel(arm, varied) {
  return [renderArmName(arm), renderVariedAxes(arm, varied)].filter(Boolean).join(', ')
}

/**
 * Parses `name:profile@control=variant`, without checking that they exist. Text after a second `:` or `@` is dropped.
 * @param {string} text
 * @returns {PlaneChoice} a missing profile or variant is null, a missing control absent, a missing name empty
 */
export function parsePlaneChoice(text) {
  // A path follows the first "=", and may contain others.
  const [, contender, variant = null] = /** @type {RegExpExecArray} */ (/^([^=]*)(?:=(.*))?$/s.exec(text))
  const [planeAndProfile, control] = contender.split('@', 2)
  const [plane, profile = null] = planeAndProfile.split(':', 2)
  return { plane, variant, profile, ...(control !== undefined && { control }) }
}

/**
 * Says whether rules redirect the connections of an arm's services.
 * @param {Pick<Conditions, 'interception'>} conditions
 * @returns {boolean}
 */
export function isRedirected({ interception }) {
  return interception === 'redirect'
}

/**
 * Says whether a process of an arm shares a CPU quota with another one, as containers of a pod do: only a sidecar and its
 * application can.
 * @param {Pick<Arm, 'conditions'>} arm
 * @param {import('./types.ts').ProcessSpec['role']} role
 * @returns {boolean}
 */
export function sharesPodQuota({ conditions }, role) {
  return conditions.podCpuCores !== undefined && (role === 'sidecar' || role === 'application')
}

/**
 * Picks the fields of a choice from an object that has more, such as an arm.
 * @param {PlaneChoice} choice
 * @returns {PlaneChoice} without `control` if the choice has none
 */
export function pickPlaneChoice({ plane, variant, profile, control }) {
  return { plane, variant, profile, ...(control !== undefined && { control }) }
}
