import { findQuantity, PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { renderNounCount } from '../lib/units.js'
import { createGroupKey, renderArmName } from '../model/arms.js'
import { countRatios } from './pair.js'

/**
 * Sentences that say how sure the verdicts of a kind are. Pure.
 * @import { Comparison, Result, SummaryArm } from '../model/types.ts'
 */

/** Ratios of a picture and its verdict that differ by less differ by rounding alone. */
const APART_LEAST = 0.01

/**
 * Renders how sure the verdicts of a kind are: the noise floor, if A/A pairs have a ratio, and the number of repeats of the pair
 * that has most or, without pairs, of the arm that has most.
 * @param {Pick<Result, 'comparisons' | 'arms'>} result
 * @param {{ primary?: string, repeats: string, drawn: string[] }} options primary: the quantity of the verdicts; repeats: the
 *   noun to count, in the singular; drawn: quantities of the picture
 * @returns {{ basis: string[], notes: string[] }} sentences; basis: []: nothing was measured; notes: one if the primary quantity
 *   is drawn, and the ratio of two medians differs from that of the verdict, else []
 */
export function renderSureness({ comparisons, arms }, { primary = PRIMARY.name, repeats: noun, drawn }) {
  const primaryComparisons = comparisons.filter(c => c.quantity === primary && c.service === null)
  const controls = primaryComparisons.filter(c => c.isControl && c.ratio.median !== null)
  const pairs = primaryComparisons.filter(c => !c.isControl)
  const { header } = QUANTITIES[primary]
  const valueCounts = arms.map(arm => /** @type {any} */ (arm)[header]?.values?.length ?? 0)
  const repeats = Math.max(0, ...(pairs.length > 0 ? pairs.map(countRatios) : valueCounts))
  return {
    basis: [
      ...(controls.length > 0 ? [renderAaNoiseFloor(controls)] : []),
      ...(repeats > 0 ? [`${renderNounCount(repeats, noun)}.`] : []),
    ],
    notes:
      drawn.includes(primary) && pairs.some(pair => hasOtherDrawnRatio(pair, arms))
        ? ['Quote the verdict, whose ratios are taken repeat by repeat, and not the ratio of two rows.']
        : [],
  }
}

/**
 * Renders the noise floor: the largest distance of an A/A ratio from 1, in percent.
 * @param {Comparison[]} controls A/A pairs with a ratio, at least one
 * @returns {string} a sentence, which says so if each has one repeat alone
 */
function renderAaNoiseFloor(controls) {
  const floor = Math.max(...controls.map(({ ratio }) => Math.abs(Number(ratio.median) - 1)))
  const hasSingleRepeat = controls.every(control => countRatios(control) === 1)
  return `Noise floor (A/A): ${(100 * floor).toFixed(1)} %${hasSingleRepeat ? ', from one repeat' : ''}.`
}

/**
 * Says whether the ratio of a pair's two medians, as drawn, differs by APART_LEAST or more from that of the verdict, the median
 * of the repeats' ratios.
 * @param {Comparison} pair
 * @param {SummaryArm[]} arms with the medians
 * @returns {boolean} false also: a median or the ratio is not known, the verdict is invalid, or the pair is a contrast
 */
function hasOtherDrawnRatio(pair, arms) {
  const { a, b, contrast, quantity, ratio, verdict } = pair
  if (contrast !== null || ratio.median === null || verdict === 'invalid') return false
  const findMedian = (/** @type {string} */ name) => {
    const arm = arms.find(
      candidate => renderArmName(candidate) === name && createGroupKey(candidate) === createGroupKey(pair),
    )
    return arm ? findQuantity(arm, quantity).median : null
  }
  const [over, under] = [findMedian(a), findMedian(b)]
  return over !== null && under !== null && Math.abs(over / under - ratio.median) >= APART_LEAST
}
