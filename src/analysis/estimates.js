import { quantityOf } from '../judge/quantity.js'
import { summariseRatios, summariseValues } from '../lib/stats.js'
import { choiceOf, nameOf } from '../model/arms.js'
import { AXIS_NAMES, isAlike } from '../model/axes.js'

/**
 * Estimated capacities, held against what the same run measured. Pure.
 * @import { EstimateCheck, SummaryArm } from '../model/types.ts'
 */

/** Beyond this an estimate is not offered. */
export const ESTIMATE_OFF_MOST = 0.05

// By default small caps have fewer users.
const SHARED_AXES = AXIS_NAMES.filter(name => name !== 'capCores' && name !== 'users')

/**
 * Each estimate at the caps at which the same plane was bound by its sidecar: by the CPU per request that the estimate
 * is of, over the capacity that was measured.
 * @param {SummaryArm[]} arms
 * @param {number} seed of the resampling
 * @returns {EstimateCheck[]}
 */
export function checkEstimates(arms, seed) {
  const own = arms.filter(arm => arm.repeatOf === null && arm.capCores !== null)
  return own.flatMap(arm =>
    own
      .filter(bound => bound !== arm && nameOf(bound) === nameOf(arm) && isAlike(bound, arm, SHARED_AXES))
      .flatMap(bound => {
        const capacities = quantityOf(bound, 'capacity').values
        const scale = Number(bound.capCores) / Number(arm.capCores)
        const ratios = quantityOf(arm, 'estimatedCapacity').values.map((estimate, i) =>
          estimate && capacities[i] ? (scale * estimate) / Number(capacities[i]) : null,
        )
        const ratio = summariseRatios(ratios, seed)
        if (ratio.median === null) return []
        const isKept = Math.abs(ratio.median - 1) <= ESTIMATE_OFF_MOST
        return [{ ...choiceOf(arm), armId: arm.id, boundArmId: bound.id, capCores: bound.capCores, ratio, isKept }]
      }),
  )
}

/**
 * The arms without the estimates that are not offered: beside a measured capacity, and those whose check failed.
 * @param {SummaryArm[]} arms
 * @param {EstimateCheck[]} checks
 * @returns {SummaryArm[]}
 */
export function withholdEstimates(arms, checks) {
  const failed = checks.filter(({ isKept }) => !isKept).map(({ armId }) => armId)
  return arms.map(arm => {
    const isOffered = arm.capacityPerSecond.median === null && !failed.includes(arm.repeatOf ?? arm.id)
    if (isOffered) return arm
    const { values } = arm.estimatedCapacityPerSecond
    return { ...arm, estimatedCapacityPerSecond: summariseValues(values.map(() => null)) }
  })
}
