import { medianSorted } from 'simple-statistics'
import { estimatedCapacityPerSecond, ratePerSecond } from '../../judge/measures.js'
import { QUANTITIES } from '../../judge/quantities.js'
import { formatValue, quantityOf } from '../../judge/quantity.js'
import { groupBy } from '../../lib/group-by.js'
import { nameOf } from '../../model/arms.js'
import { describeAxes, findVaried } from '../../model/axes.js'

/**
 * Capacities that were estimated, and what the run says to them. Pure.
 * @import { Summary, SummaryArm, TrialRecord } from '../../model/types.ts'
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
