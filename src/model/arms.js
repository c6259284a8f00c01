import { AXES, describeAxes } from './axes.js'

/** The names of arms. Pure. @import { Arm, AxisName, Conditions, PlaneChoice } from './types.ts' */

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
 * @param {Pick<Arm, 'hasSidecars' | 'link' | 'capCores' | 'load' | 'conditions'>} arm @param {AxisName[]} varied
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

/** Names an arm where a plane is compared with itself on an axis. @param {Arm} arm @param {AxisName | null} contrast */
export function nameOnAxis(arm, contrast) {
  return contrast === null ? nameOf(arm) : `${nameOf(arm)} with ${AXES[contrast].show(AXES[contrast].of(arm))}`
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

/** Picks the choice from an object that has more. @param {PlaneChoice} choice @returns {PlaneChoice} */
export function choiceOf({ plane, variant, profile, control }) {
  return { plane, variant, profile, ...(control !== undefined && { control }) }
}
