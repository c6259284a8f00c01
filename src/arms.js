import { AXES } from './axes.js'

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
