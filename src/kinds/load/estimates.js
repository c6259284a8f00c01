import { medianSorted } from 'simple-statistics'
import { estimatedCapacityPerSecond, ratePerSecond } from '../../judge/measures.js'
import { QUANTITIES } from '../../judge/quantities.js'
import { formatValue, quantityOf } from '../../judge/quantity.js'
import { groupBy } from '../../lib/group-by.js'
import { summariseRatios, summariseSequence, summariseValues } from '../../lib/stats.js'
import { choiceOf, nameOf } from '../../model/arms.js'
import { AXIS_NAMES, describeAxes, findVaried, isAlike } from '../../model/axes.js'

/**
 * Capacities that were estimated, and what the run says to them. Pure.
 * @import { EstimateCheck, Summary, SummaryArm, TrialRecord } from '../../model/types.ts'
 */

const TOLD_MOST = 4
const ROW = QUANTITIES.estimatedCapacity
/** An estimate that was off by more is not offered. */
const ESTIMATE_OFF_MOST = 0.05

// Small caps have fewer users by default.
const SHARED_AXES = AXIS_NAMES.filter(name => name !== 'capCores' && name !== 'users')

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
  return `estimated capacity (cap / CPU per request; within 5 % where this run measured it): ${told.join(', ')} requests/s`
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

/**
 * The arithmetic behind a capacity that was not shown: the CPUs that all processes together would use at the estimate, each
 * at its CPU per request.
 * @param {{ summary: Pick<Summary, 'arms' | 'machine'>, records: TrialRecord[] }} run
 * @returns {string[]}
 */
export function tellNeeds({ summary, records }) {
  return listEstimated(summary).flatMap(arm => {
    const own = records.filter(r => r.trial.arm.id === arm.id && r.outcome === 'completed')
    const scaled = own.flatMap(record => {
      const scale = Number(estimatedCapacityPerSecond(record)) / Number(ratePerSecond(record))
      return scale > 0 ? [record.processes.map(p => scale * p.cpuCores)] : []
    })
    if (scaled.length === 0) return []
    const needs = own[0].processes.map(({ service, role }, i) => {
      const cores = medianSorted(scaled.map(values => values[i]).sort((a, b) => a - b))
      return { cores, label: role === 'generator' ? service : `${service}'s ${role}` }
    })
    const sum = needs.reduce((total, { cores }) => total + cores, 0)
    const parts = needs.map(({ cores, label }) => `${label} ${cores.toFixed(2)}`)
    return [
      `At its estimated capacity ${nameOf(arm)} at ${arm.capCores} cores would take ${sum.toFixed(1)} CPUs (${parts.join(', ')}); this machine has ${summary.machine.cpus}.`,
    ]
  })
}

/** @param {SummaryArm} arm */
function show(arm) {
  const { median, low, high } = quantityOf(arm, ROW.name)
  const of = (/** @type {number | null} */ value) => formatValue(ROW, Number(value))
  return low === null ? of(median) : `${of(median)} [${of(low)}, ${of(high)}]`
}

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
