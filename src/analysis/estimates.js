import { quantityOf } from '../judge/quantity.js'
import { summariseRatios, summariseSequence, summariseValues } from '../lib/stats.js'
import { choiceOf, nameOf } from '../model/arms.js'
import { AXIS_NAMES, isAlike } from '../model/axes.js'

/**
 * Estimated capacities, held against what the same run measured. Pure.
 * @import { EstimateCheck, SummaryArm, TrialRecord } from '../model/types.ts'
 */

/** An estimate that was off by more is not offered. */
const ESTIMATE_OFF_MOST = 0.05

// Small caps have fewer users by default.
const SHARED_AXES = AXIS_NAMES.filter(name => name !== 'capCores' && name !== 'users')

/**
 * The arms without the estimates that are not offered: where a sidecar bound a round, where nothing in the run checks
 * the estimate, and where a check failed.
 * @param {{ arms: SummaryArm[], records: TrialRecord[], seed: number, isSequence: boolean }} options seed: of the
 *   resampling; isSequence: what the rounds showed decided how many there are
 * @returns {{ arms: SummaryArm[], checks: EstimateCheck[] }}
 */
export function offerEstimates({ arms, records, seed, isSequence }) {
  // Not by the capacities: a gate may have spoiled those.
  const bound = records.filter(r => r.boundBy === 'sidecar').map(r => keyOf(r.trial.arm))
  const unbound = withhold(arms, bound)
  const checks = checkEstimates({ arms: unbound, seed, isSequence })
  const unkept = unbound.map(keyOf).filter(id => {
    const own = checks.filter(({ armId }) => armId === id)
    return own.length === 0 || own.some(({ isKept }) => !isKept)
  })
  return { arms: withhold(unbound, unkept), checks }
}

/**
 * Each estimate at the smaller caps at which the same plane was bound by its sidecar, in most rounds: by the CPU per request that the estimate
 * is of, over the capacity that was measured.
 * @param {{ arms: SummaryArm[], seed: number, isSequence: boolean }} options
 * @returns {EstimateCheck[]}
 */
function checkEstimates({ arms, seed, isSequence }) {
  const own = arms.filter(arm => arm.repeatOf === null && arm.capCores !== null)
  return own.flatMap(arm =>
    own
      .filter(bound => bound.boundBy === 'sidecar' && Number(bound.capCores) < Number(arm.capCores))
      .filter(bound => nameOf(bound) === nameOf(arm) && isAlike(bound, arm, SHARED_AXES))
      .flatMap(bound => {
        const capacities = quantityOf(bound, 'capacity').values
        const scale = Number(bound.capCores) / Number(arm.capCores)
        const ratios = quantityOf(arm, 'estimatedCapacity').values.map((estimate, i) =>
          estimate && capacities[i] ? (scale * estimate) / Number(capacities[i]) : null,
        )
        const ratio = isSequence ? summariseSequence(ratios) : summariseRatios(ratios, seed)
        if (ratio.median === null) return []
        const isKept = Math.abs(ratio.median - 1) <= ESTIMATE_OFF_MOST
        return [{ ...choiceOf(arm), armId: arm.id, boundArmId: bound.id, capCores: bound.capCores, ratio, isKept }]
      }),
  )
}

/**
 * @param {SummaryArm[]} arms
 * @param {string[]} keys of those that lose their estimate
 */
function withhold(arms, keys) {
  return arms.map(arm => {
    if (!keys.includes(keyOf(arm))) return arm
    const { values } = arm.estimatedCapacityPerSecond
    return { ...arm, estimatedCapacityPerSecond: summariseValues(values.map(() => null)) }
  })
}

/** An arm and its repetition have one. @param {Pick<SummaryArm, 'id' | 'repeatOf'>} arm */
function keyOf({ id, repeatOf }) {
  return repeatOf ?? id
}
