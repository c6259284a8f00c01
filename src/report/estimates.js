import { QUANTITIES } from '../judge/quantities.js'
import { formatValue, quantityOf } from '../judge/quantity.js'
import { groupBy } from '../lib/group-by.js'
import { nameOf } from '../model/arms.js'
import { describeAxes, findVaried } from '../model/axes.js'

/**
 * Capacities that were estimated, and what the run says to them. Pure.
 * @import { Summary, SummaryArm } from '../model/types.ts'
 */

const TOLD_MOST = 4
const ROW = QUANTITIES.estimatedCapacity

/** @param {Pick<Summary, 'arms'>} summary */
function listEstimated({ arms }) {
  return arms.filter(arm => arm.repeatOf === null && quantityOf(arm, ROW.name).median !== null)
}

/**
 * The estimates in the answer; empty where there are none, or more than a sentence takes.
 * @param {Pick<Summary, 'arms'>} summary
 */
export function tellEstimates(summary) {
  const arms = listEstimated(summary)
  if (arms.length === 0 || arms.length > TOLD_MOST) return ''
  const varied = findVaried(summary.arms)
  const told = arms.map(
    arm => `${nameOf(arm)}${varied.length > 0 ? ` (${describeAxes(arm, varied)})` : ''} ${show(arm)}`,
  )
  return `capacity, an estimate only (cap / CPU per request): ${told.join(', ')} requests/s`
}

/**
 * How estimates compare with what the same run measured.
 * @param {Pick<Summary, 'arms' | 'estimateChecks'>} summary
 * @returns {string[]}
 */
export function renderChecks({ arms, estimateChecks }) {
  return [...groupBy(estimateChecks, ({ armId }) => armId)].map(([armId, checks]) => {
    const arm = /** @type {SummaryArm} */ (arms.find(({ id }) => id === armId))
    const ratios = checks.map(({ capCores, ratio }) => `${ratio.median?.toFixed(2)} at ${capCores}`)
    const end = checks.every(({ isKept }) => isKept) ? '' : ': more than 5 % off, so no capacity is estimated'
    return `Estimate / capacity where sidecars bound, by the CPU per request of ${nameOf(arm)} at ${arm.capCores} cores: ${ratios.join(', ')}${end}`
  })
}

/** @param {SummaryArm} arm */
function show(arm) {
  const { median, low, high } = quantityOf(arm, ROW.name)
  const of = (/** @type {number | null} */ value) => formatValue(ROW, Number(value))
  return low === null ? of(median) : `${of(median)} [${of(low)}, ${of(high)}]`
}
