import { fitLine } from '../../lib/stats.js'
import { computeSidecarNeed, listOutcomesWithAllCpu, tryLoadWithAllCpu } from './all-cpu.js'
import { listDistinctLoads, listEndRates } from './distinct-loads.js'
import { tryLimits } from './size.js'
import { createSizeResult } from './size-result.js'
import { withRate } from './step.js'

/** Limits for services by a line through the CPU at the lowest and the highest rate, each tried. Pure. */
/**
 * @import { Arm, SearchSpec, SizeResult } from '../../model/types.ts'
 * @import { Need, Tried, Trials } from './all-cpu.js'
 */
/**
 * @import { DistinctLoad } from './distinct-loads.js'
 * @typedef {Extract<SearchSpec, { kind: 'services' }>} ServicesSpec
 */
/** @typedef {{ ratePerSecond: number, need: Need }} EndNeed what sidecars take at the lowest or the highest rate */

/**
 * Tries the lowest and the highest rate with all the CPU, then each rate at limits that these suggest. A rate is left out if no need
 * can be estimated, or its own trials with all the CPU show none.
 * @param {{ template: Arm, spec: ServicesSpec, cpus: number, tried: Tried[] }} options template: of a plane and a payload; cpus: of
 *   the machine; tried: the caller adds each trial that it measured
 * @returns {Trials} it yields the arms to measure
 */
export function* tryServiceLoads({ template, spec, cpus, tried }) {
  const loads = listDistinctLoads(spec, template)
  for (const ratePerSecond of listEndRates(loads))
    yield* tryLoadWithAllCpu({ template: withRate(template, ratePerSecond), cpus, tried })
  for (const { ratePerSecond, p99Ms } of loads) {
    const need = estimateNeed({ ends: computeEndNeeds({ template, loads, cpus, tried }), ratePerSecond })
    const arm = withRate(template, ratePerSecond)
    if (need && !isOutOfReach({ arm, cpus, tried }))
      yield* tryLimits({ template: arm, cpus, p99Ms, tried, need, isSmallest: false })
  }
}

/**
 * Says whether trials of a rate with all the CPU were made and show no need, since they missed it or were spoiled.
 * @param {{ arm: Arm, cpus: number, tried: Tried[] }} options arm: with the rate
 * @returns {boolean} false also: there are no such trials
 */
function isOutOfReach({ arm, cpus, tried }) {
  const outcomesWithAllCpu = listOutcomesWithAllCpu({ template: arm, cpus, tried })
  return outcomesWithAllCpu.length > 0 && computeSidecarNeed(outcomesWithAllCpu) === null
}

/**
 * Creates a result for each distinct load (`listDistinctLoads`), by rising rate.
 * @param {{ template: Arm, spec: ServicesSpec, cpus: number, tried: Tried[], isOver: boolean }} options isOver: the search has ended
 * @returns {SizeResult[]} at least one
 */
export function createServicesResults({ template, spec, cpus, tried, isOver }) {
  const loads = listDistinctLoads(spec, template)
  const ends = computeEndNeeds({ template, loads, cpus, tried })
  const line = ends.length === 2 ? fitCpuOverRate(ends) : null
  return loads.map(({ ratePerSecond, p99Ms, names: services }) =>
    createSizeResult({
      template: withRate(template, ratePerSecond),
      cpus,
      p99Ms,
      isOver,
      services,
      line,
      tried: tried.filter(({ arm }) => arm.load.ratePerSecond === ratePerSecond),
    }),
  )
}

/**
 * Finds the p99 limit of a trial: the lowest of the services with its rate.
 * @param {ServicesSpec} spec
 * @param {Arm} arm
 * @returns {number | null} null: none of the services that count has this rate (`listDistinctLoads`)
 */
export function findP99LimitMs(spec, arm) {
  return listDistinctLoads(spec, arm).find(load => load.ratePerSecond === arm.load.ratePerSecond)?.p99Ms ?? null
}

/**
 * Computes what the lowest and the highest rate took.
 * @param {{ template: Arm, loads: DistinctLoad[], cpus: number, tried: Tried[] }} options
 * @returns {EndNeed[]} at most two; a rate whose trials show no need is left out
 */
function computeEndNeeds({ template, loads, cpus, tried }) {
  return listEndRates(loads).flatMap(ratePerSecond => {
    const outcomes = listOutcomesWithAllCpu({ template: withRate(template, ratePerSecond), cpus, tried })
    const need = computeSidecarNeed(outcomes)
    return need ? [{ ratePerSecond, need }] : []
  })
}

/**
 * Fits the CPU of the busiest sidecar as a line over the rate.
 * @param {EndNeed[]} ends exactly two, of different rates
 * @returns {NonNullable<SizeResult['line']>}
 */
export function fitCpuOverRate(ends) {
  const { base, slope } = fitLine(ends.map(({ ratePerSecond, need }) => [ratePerSecond, 1000 * need.cores]))
  return { baseMillicores: base, slopeMillicoresPerRequestPerSecond: slope }
}

/**
 * Estimates what a rate takes: CPU by the line, or in proportion to the only end; memory as the end with more.
 * @param {{ ends: EndNeed[], ratePerSecond: number }} options
 * @returns {Need | null} null: there is no end
 */
export function estimateNeed({ ends, ratePerSecond }) {
  if (ends.length === 0) return null
  const bytes = Math.max(...ends.map(({ need }) => need.bytes))
  if (ends.length === 1) return { cores: (ends[0].need.cores * ratePerSecond) / ends[0].ratePerSecond, bytes }
  const { baseMillicores, slopeMillicoresPerRequestPerSecond } = fitCpuOverRate(ends)
  return { cores: (baseMillicores + slopeMillicoresPerRequestPerSecond * ratePerSecond) / 1000, bytes }
}
