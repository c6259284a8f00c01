import { CONTROL_PLANE_AXES } from './axes/control-plane.js'
import { LOAD_AXES } from './axes/load.js'
import { CPU_LIMIT_AXIS, SIDECAR_AXES } from './axes/sidecar.js'

/** All axes, each with what is its own in axes/; the names of arms, and facts about arms that rest on their axes. Pure. */
/** @import { Arm, AxisName, Conditions, PlaneChoice } from './types.ts' @import { Axis } from './axes/axis.js' */

/** The axes, in the order in which arms are made of them. @type {Record<AxisName, Axis>} */
export const AXES = { ...LOAD_AXES, ...SIDECAR_AXES, ...CONTROL_PLANE_AXES, cpuLimitCores: CPU_LIMIT_AXIS }

/** @type {AxisName[]} */
export const AXIS_NAMES = /** @type {AxisName[]} */ (Object.keys(AXES))

/** The axes of control planes, of which an arm has what it was asked for. @type {AxisName[]} */
export const CONTROL_PLANE_NAMES = /** @type {AxisName[]} */ (Object.keys(CONTROL_PLANE_AXES))

const RECORDED = AXIS_NAMES.filter(name => AXES[name].recorded && !CONTROL_PLANE_NAMES.includes(name))
/** Conditions that every arm has, and those that are absent where nothing was asked. @type {Record<'every' | 'sparse', AxisName[]>} */
export const CONDITION_AXES = {
  every: RECORDED.filter(name => !isSparse(name)),
  sparse: RECORDED.filter(isSparse),
}

/** @param {AxisName} name */
function isSparse(name) {
  const { recorded, values } = AXES[name]
  return values[0] === null && recorded?.safeParse(undefined).success === true
}

/** The axes that an arm shares with its baseline without sidecars. @type {AxisName[]} */
export const BASELINE_AXES = AXIS_NAMES.filter(name => !AXES[name].isOfSidecars)

/** How arms share the CPUs of a node with others, for which an arm has the machine alone. @type {AxisName[]} */
export const NODE_CPU_AXES = ['cpuRequestCores', 'neighbourCores', 'podCpuCores']

/** Lists the axes in which arms with sidecars differ, else any arms. @param {Parameters<Axis['of']>[0][]} arms */
export function findVaried(arms) {
  const capped = arms.filter(arm => arm.cpuLimitCores !== null)
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

/** Names the part of a load that arms must share to be compared. @param {{ kind: string, isInterleaved?: true }} load */
function kindOfLoad({ kind, isInterleaved }) {
  return isInterleaved ? `${kind} beside others` : kind
}

/**
 * Names a plane, profile, control or variant as in `--planes`, with the last part of the variant's path, and how
 * many of its sidecars are simulated.
 * @param {PlaneChoice & { repeatOf?: string | null, conditions?: Pick<Conditions, 'sidecars' | 'simulated'> }} arm
 */
export function nameOf({ plane, profile, control, variant, repeatOf, conditions }) {
  const contender = `${plane}${profile ? `:${profile}` : ''}${control ? `@${control}` : ''}`
  const name = variant ? `${contender}=${variant.split('/').filter(Boolean).at(-1)}` : contender
  const simulated = conditions?.simulated ? ` (${conditions.simulated} of ${conditions.sidecars} simulated)` : ''
  return repeatOf ? `${name}${simulated} (A/A)` : `${name}${simulated}`
}

/** Names an arm alike at every size: without the number of simulated sidecars. @param {Parameters<typeof nameOf>[0]} arm */
export function nameOfContender(arm) {
  return nameOf({ ...arm, conditions: undefined })
}

/**
 * Tells the values of an arm on the axes that vary, without those that it cannot have, such as the cap of no sidecars.
 * @param {Pick<Arm, 'hasSidecars' | 'link' | 'cpuLimitCores' | 'load' | 'conditions'>} arm @param {AxisName[]} varied
 */
export function describeVaried(arm, varied) {
  const has = (/** @type {AxisName} */ name) => {
    if (AXES[name].isUnsaidWhenNull) return AXES[name].of(arm) !== null
    return arm.hasSidecars || !AXES[name].isOfSidecars
  }
  return describeAxes(arm, varied.filter(has))
}

/**
 * Names an arm with its values on the axes that vary.
 * @param {Parameters<typeof describeVaried>[0] & PlaneChoice & { repeatOf?: string | null }} arm
 * @param {AxisName[]} varied
 */
export function labelOf(arm, varied) {
  return [nameOf(arm), describeVaried(arm, varied)].filter(Boolean).join(', ')
}

/** Reads `name`, `name:profile`, `name@control` or `name=folder`. @param {string} text @returns {PlaneChoice} */
export function parseChoice(text) {
  // A path follows the first "=", and may contain others.
  const [, contender, variant = null] = /** @type {RegExpExecArray} */ (/^([^=]*)(?:=(.*))?$/s.exec(text))
  const [named, control] = contender.split('@', 2)
  const [plane, profile = null] = named.split(':', 2)
  return { plane, variant, profile, ...(control !== undefined && { control }) }
}

/** Says whether rules redirect the connections of an arm's services. @param {Pick<Conditions, 'interception'>} conditions */
export function isRedirected({ interception }) {
  return interception === 'redirect'
}

/**
 * Says whether a process of an arm shares the quota of a pod. @param {Pick<Arm, 'conditions'>} arm
 * @param {import('./types.ts').ProcessSpec['role']} role
 */
export function isInPod({ conditions }, role) {
  return conditions.podCpuCores !== undefined && (role === 'sidecar' || role === 'application')
}

/** Picks the choice from an object that has more. @param {PlaneChoice} choice @returns {PlaneChoice} */
export function choiceOf({ plane, variant, profile, control }) {
  return { plane, variant, profile, ...(control !== undefined && { control }) }
}
