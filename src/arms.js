/**
 * How arms are named and which belong together. Pure.
 * @import { Arm, Comparison, PlaneChoice } from './types.ts'
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
 * Whether a comparison is of an arm with itself.
 * @param {Pick<Comparison, 'b'>} comparison
 */
export function isControl({ b }) {
  return b.endsWith(CONTROL)
}

/**
 * What arms must share to be compared: link, cap and load.
 * @param {Pick<Arm, 'link' | 'capCores' | 'load'>} arm
 */
export function groupOf({ link, capCores, load: { kind, users, ratePerSecond, payloadBytes } }) {
  return JSON.stringify({ link, capCores, kind, users, ratePerSecond, payloadBytes })
}
