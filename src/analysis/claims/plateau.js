import { listArms } from '../../model/results.js'
import { findPlateau } from '../fits.js'
import {
  CLAIM_QUANTITIES,
  createUntestableAnswer,
  listRoundValues,
  renderRatioWithInterval,
  renderUnboundPhase,
} from './answers.js'
import { findSeries, readAxisOrPlane, renderArmConditions } from './arms.js'

/**
 * Judges a published plateau over an axis by a run. Pure.
 * @import { Summary, SummaryArm } from '../../model/types.ts'
 * @import { ClaimAnswer } from './answers.js'
 * @import { Plateau } from './schema.js'
 */

/**
 * Tests a plateau. Reproduced: it begins at the published value. Direction only: at another value. Contradicted: the quantity
 * falls up to the last value. Not testable: fewer than three values were measured, or a published one was not; the least value
 * is 0; intervals are missing or too wide; or the control plane was seldom at its limit (`renderUnboundPhase`).
 * @param {Plateau} relation
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if the run lacks such arms, fewer than three values were measured, or the least one is 0
 */
export function testPlateau({ quantity, over, among, before, from }, summary) {
  const listValues = (/** @type {SummaryArm} */ arm) => listRoundValues(arm, quantity, among.service)
  const selection = findSeries({ arms: listArms(summary), among, over, listValues })
  if ('why' in selection) return createUntestableAnswer(selection.why)
  const { series, isAtCap } = selection
  const plateau = findPlateau({ group: series, across: over, quantity, seed: summary.run.seed })
  const measuredArms = series.filter(arm => listValues(arm).some(value => value !== null))
  if (!plateau)
    return createUntestableAnswer(
      measuredArms.length >= 3 ? 'nothing has a ratio to 0' : 'fewer than three values were measured',
    )
  const { ratio, isSure, last } = plateau
  const conditions = renderArmConditions(series, { hasCap: isAtCap })
  const { label } = CLAIM_QUANTITIES[quantity]
  const ours = `${label} from ${plateau.from} on, ${renderRatioWithInterval(ratio)} of the least (${conditions})`
  if (!isSure) {
    const why = ratio.low === null ? 'indicative only: too few rounds for an interval' : 'not clear'
    return createUntestableAnswer(why, ours)
  }
  const missingPoints = [before, from].filter(at => !measuredArms.some(arm => readAxisOrPlane(arm, over) === at))
  if (missingPoints.length > 0) return createUntestableAnswer(`no value at ${missingPoints.join(' and ')}`, ours)
  const unboundReason = renderUnboundPhase({ arm: measuredArms[0], quantity, over })
  if (unboundReason !== null) return createUntestableAnswer(unboundReason, ours)
  if (plateau.from === last) return { status: 'contradicted', ours, reason: `no plateau up to ${last}` }
  return plateau.from === from
    ? { status: 'reproduced', ours, reason: '' }
    : { status: 'direction only', ours, reason: 'a plateau, from another value on' }
}
