import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { count } from '../lib/units.js'

/** How sure the verdicts of a kind are, in words. Pure. @import { Summary } from '../model/types.ts' */

/**
 * Says the noise floor and the number of repeats. @param {Summary} summary of one kind
 * @param {{ primary?: string, repeats: string }} options repeats: what one is called
 */
export function renderSureness({ comparisons, arms }, { primary = PRIMARY.name, repeats: noun }) {
  const ofPrimary = comparisons.filter(c => c.quantity === primary && c.service === null)
  const floors = ofPrimary.flatMap(c => (c.isControl && c.ratio.median !== null ? [Math.abs(c.ratio.median - 1)] : []))
  const values = ofPrimary.filter(c => !c.isControl).map(c => c.ratio.values.filter(value => value !== null).length)
  const { header } = QUANTITIES[primary]
  const ofArms = arms.map(arm => /** @type {any} */ (arm)[header]?.values?.length ?? 0)
  const repeats = Math.max(0, ...(values.length > 0 ? values : ofArms))
  return [
    ...(floors.length > 0 ? [`Noise floor (A/A): ${(100 * Math.max(...floors)).toFixed(1)} %.`] : []),
    ...(repeats > 0 ? [`${count(repeats, noun)}.`] : []),
  ]
}
