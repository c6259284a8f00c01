import { findPlateau } from '../plateaus.js'
import { CLAIM_QUANTITIES, explainUnbound, formatRatio, untested, valuesOf } from './answers.js'
import { describeConditions, findSeries, valueOn } from './arms.js'

/** Judges a published plateau by a run: more than a value of an axis gains nothing. Pure. */
/** @import { Summary } from '../../model/types.ts' @import { Answer } from './answers.js' */
/** @import { Plateau } from './schema.js' */

/**
 * Reproduced: it begins at the same value. Direction only: at another. Contradicted: the quantity falls to the end.
 * @param {Plateau} relation @param {Summary} summary @returns {Answer}
 */
export function testPlateau({ quantity, over, among, before, from }, summary) {
  const valuesOfArm = (/** @type {Summary['arms'][number]} */ arm) => valuesOf(arm, quantity, among.service)
  const found = findSeries({ arms: summary.arms, among, over, valuesOf: valuesOfArm })
  if ('why' in found) return untested(found.why)
  const [plateau] = findPlateau({ group: found.series, across: over, quantity, seed: summary.run.seed })
  if (!plateau) return untested('fewer than three values were measured')
  const { ratio, isSure, last } = plateau
  const where = describeConditions(found.series, { hasCap: found.isAtCap })
  const { label } = CLAIM_QUANTITIES[quantity]
  const ours = `${label} from ${plateau.from} on, ${formatRatio(ratio)} of the least (${where})`
  if (!isSure)
    return untested(ratio.low === null ? 'indicative only: too few rounds for an interval' : 'not clear', ours)
  const measured = found.series.filter(arm => valuesOfArm(arm).some(value => value !== null))
  const missing = [before, from].filter(at => !measured.some(arm => valueOn(arm, over) === at))
  if (missing.length > 0) return untested(`no value at ${missing.join(' and ')}`, ours)
  const unbound = explainUnbound({ arm: measured[0], quantity, over })
  if (unbound !== null) return untested(unbound, ours)
  if (plateau.from === last) return { status: 'contradicted', ours, reason: `no plateau up to ${last}` }
  return plateau.from === from
    ? { status: 'reproduced', ours, reason: '' }
    : { status: 'direction only', ours, reason: 'a plateau, from another value on' }
}
