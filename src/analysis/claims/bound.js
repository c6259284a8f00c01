import { quantityOf } from '../../judge/quantity.js'
import { BOUND_LEAST } from '../../kinds/rollout/numbers.js'
import { AXES } from '../../model/axes.js'

/** Whether the control plane was the limit of a rollout or of a change, as a claim on its knobs supposes. Pure. */
/** @import { AxisName, SummaryArm } from '../../model/types.ts' */

/** Times of each phase, and the share of it in which the control plane was at its limit. @type {[RegExp, string][]} */
const PHASES = [
  [/^(rolloutSeconds|startingSeconds|firstConfig)/, 'controlAtLimitRollout'],
  [/^change(All|P|Max)/, 'controlAtLimitChange'],
]

/** Tells why the kit may have bound, or null. @param {{ arm: SummaryArm, quantity: string, over: AxisName }} options */
export function explainUnbound({ arm, quantity, over }) {
  const phase = PHASES.find(([times]) => times.test(quantity))
  if (!phase) return null
  const share = quantityOf(arm, phase[1]).median
  if (share !== null && share >= BOUND_LEAST) return null
  const at = AXES[over].show(AXES[over].of(arm))
  return share === null
    ? `whether the control plane bound is not known (${at})`
    : `the control plane did not bind (${at}: at its limit for ${Math.round(100 * share)} % of the time)`
}
