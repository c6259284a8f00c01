import { AXES, describeAxes } from './axes.js'

/**
 * How arms are named. Pure.
 * @import { Arm, AxisName, Comparison, PlaneChoice } from './types.ts'
 */

const CONTROL = ' (A/A)'

/**
 * The name of a plane or variant, as in `--planes`, with the last part of the variant's path.
 * @param {PlaneChoice & { repeatOf?: string | null }} arm
 */
export function nameOf({ plane, variant, repeatOf }) {
  const name = variant ? `${plane}=${variant.split('/').filter(Boolean).at(-1)}` : plane
  return repeatOf ? `${name}${CONTROL}` : name
}

/**
 * What an arm has on the axes that vary; what it does not have at all is left out, such as the cap of no sidecars.
 * @param {Pick<Arm, 'plane' | 'link' | 'capCores' | 'load' | 'conditions'>} arm
 * @param {AxisName[]} varied
 */
export function describeVaried(arm, varied) {
  const has = (/** @type {AxisName} */ name) => {
    if (name === 'ratePerSecond' || name === 'burstSeconds') return AXES[name].of(arm) !== null
    return arm.plane !== 'none' || !AXES[name].isOfSidecars
  }
  return describeAxes(arm, varied.filter(has))
}

/**
 * An arm's name with what varies.
 * @param {Parameters<typeof describeVaried>[0] & PlaneChoice & { repeatOf?: string | null }} arm
 * @param {AxisName[]} varied
 */
export function labelOf(arm, varied) {
  return [nameOf(arm), describeVaried(arm, varied)].filter(Boolean).join(', ')
}

/**
 * The name of an arm where the same plane is compared with itself on an axis.
 * @param {Arm} arm
 * @param {AxisName | null} contrast
 */
export function nameOnAxis(arm, contrast) {
  return contrast === null ? nameOf(arm) : `${nameOf(arm)} with ${AXES[contrast].show(AXES[contrast].of(arm))}`
}

/**
 * Whether a comparison is of an arm with itself.
 * @param {Pick<Comparison, 'b'>} comparison
 */
export function isControl({ b }) {
  return b.endsWith(CONTROL)
}
