import { findPlateau } from '../plateaus.js'
import { CLAIM_QUANTITIES, formatRatio, NOT_TESTABLE, valuesOf } from './answers.js'
import { describeConditions, findSeries, valueOn } from './arms.js'
import { explainUnbound } from './bound.js'

/** The answer of a run to a published plateau: from a value of an axis on, more of it gains nothing. Pure. */
/** @import { AxisName, Summary } from '../../model/types.ts' */
/** @import { Answer } from './answers.js' */
/** @import { Selector } from './arms.js' */

/** @typedef {{ quantity: string, over: string, among: Selector, before: number, from: number }} PlateauClaim before: the published value before `from` */

/**
 * Reproduced: it begins at the same value. Direction only: at another. Contradicted: the quantity falls up to the last.
 * @param {PlateauClaim} relation
 * @param {Summary} summary
 * @returns {Answer}
 */
export function testPlateau({ quantity, over, among, before, from }, summary) {
  const across = /** @type {AxisName} */ (over)
  const valuesOfArm = (/** @type {Summary['arms'][number]} */ arm) => valuesOf(arm, quantity, among.service)
  const found = findSeries({ arms: summary.arms, among, over: across, valuesOf: valuesOfArm })
  /** @returns {Answer} */
  const untested = (/** @type {string} */ reason) => ({ status: NOT_TESTABLE, ours: null, reason })
  if ('why' in found) return untested(found.why)
  const [plateau] = findPlateau({ group: found.series, across, quantity, seed: summary.run.seed })
  if (!plateau) return untested('fewer than three values were measured')
  const { ratio, isSure, last } = plateau
  const where = describeConditions(found.series, { hasCap: found.isAtCap })
  const { label } = CLAIM_QUANTITIES[quantity]
  const ours = `${label} from ${plateau.from} on, ${formatRatio(ratio)} of the least (${where})`
  if (!isSure) {
    const why = ratio.low === null ? 'indicative only: too few rounds for an interval' : 'not clear'
    return { status: NOT_TESTABLE, ours, reason: why }
  }
  const measured = found.series.filter(arm => valuesOfArm(arm).some(value => value !== null))
  const missing = [before, from].filter(at => !measured.some(arm => valueOn(arm, across) === at))
  if (missing.length > 0) return { status: NOT_TESTABLE, ours, reason: `no value at ${missing.join(' and ')}` }
  const unbound = explainUnbound({ arm: measured[0], quantity, over: across })
  if (unbound !== null) return { status: NOT_TESTABLE, ours, reason: unbound }
  if (plateau.from === last) return { status: 'contradicted', ours, reason: `no plateau up to ${last}` }
  return plateau.from === from
    ? { status: 'reproduced', ours, reason: '' }
    : { status: 'direction only', ours, reason: 'a plateau, from another value on' }
}
