import { fitLine } from '../../lib/stats.js'
import { listCells, listEndRates } from './cells.js'
import { tryLimits } from './size.js'
import { createSizeResult } from './size-result.js'
import { withRate } from './step.js'
import { findNeed, listOutcomesWithAllCpu, tryWithAllCpu } from './whole.js'

/** Limits for services by a line through the CPU at the lowest and the highest rate, each tried. Pure. */
/**
 * @import { Arm, SearchSpec, SizeResult } from '../../model/types.ts'
 * @import { Need, Tried, Trials } from './whole.js'
 */
/**
 * @import { Cell } from './cells.js'
 * @typedef {Extract<SearchSpec, { kind: 'services' }>} ServicesSpec
 */
/** @typedef {{ ratePerSecond: number, need: Need }} End */

/**
 * Tries the lowest and the highest rate with all the CPU, then each rate at limits that these suggest.
 * @param {{ template: Arm, spec: ServicesSpec, cpus: number, tried: Tried[] }} options template: of a plane and a payload
 * @returns {Trials}
 */
export function* tryServices({ template, spec, cpus, tried }) {
  const cells = listCells(spec, template)
  for (const ratePerSecond of listEndRates(cells))
    yield* tryWithAllCpu({ template: withRate(template, ratePerSecond), cpus, tried })
  for (const { ratePerSecond, p99Ms } of cells) {
    const need = estimateNeed({ ends: computeEndNeeds({ template, cells, cpus, tried }), ratePerSecond })
    const cell = withRate(template, ratePerSecond)
    if (need && !isOutOfReach({ cell, cpus, tried }))
      yield* tryLimits({ template: cell, cpus, p99Ms, tried, need, isSmallest: false })
  }
}

/**
 * Says whether a rate was missed even with all the CPU, so that no limits can hold it.
 * @param {{ cell: Arm, cpus: number, tried: Tried[] }} options cell: the arm with this rate
 */
function isOutOfReach({ cell, cpus, tried }) {
  const outcomesWithAllCpu = listOutcomesWithAllCpu({ template: cell, cpus, tried })
  return outcomesWithAllCpu.length > 0 && findNeed(outcomesWithAllCpu) === null
}

/**
 * Creates a result for each distinct load of the template's payload, by rising rate.
 * @param {{ template: Arm, spec: ServicesSpec, cpus: number, tried: Tried[], isOver: boolean }} options
 * @returns {SizeResult[]} []: no service has the payload
 */
export function createServicesResults({ template, spec, cpus, tried, isOver }) {
  const cells = listCells(spec, template)
  const ends = computeEndNeeds({ template, cells, cpus, tried })
  const line = ends.length === 2 ? fitNeed(ends) : null
  return cells.map(({ ratePerSecond, p99Ms, names: services }) =>
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
 * @returns {number | null} milliseconds; null: no service has this rate
 */
export function findP99Limit(spec, arm) {
  return listCells(spec, arm).find(cell => cell.ratePerSecond === arm.load.ratePerSecond)?.p99Ms ?? null
}

/**
 * Computes what the lowest and the highest rate took.
 * @param {{ template: Arm, cells: Cell[], cpus: number, tried: Tried[] }} options
 * @returns {End[]} without rates that were missed
 */
function computeEndNeeds({ template, cells, cpus, tried }) {
  return listEndRates(cells).flatMap(ratePerSecond => {
    const need = findNeed(listOutcomesWithAllCpu({ template: withRate(template, ratePerSecond), cpus, tried }))
    return need ? [{ ratePerSecond, need }] : []
  })
}

/**
 * Fits the CPU of the busiest sidecar as a line over the rate.
 * @param {End[]} ends exactly two
 * @returns {NonNullable<SizeResult['line']>}
 */
export function fitNeed(ends) {
  const { base, slope } = fitLine(ends.map(({ ratePerSecond, need }) => [ratePerSecond, 1000 * need.cores]))
  return { baseMillicores: base, slopeMillicoresPerRequestPerSecond: slope }
}

/**
 * Estimates what a rate takes: CPU by the line, or in proportion to the only end; memory as the end with more.
 * @param {{ ends: End[], ratePerSecond: number }} options
 * @returns {Need | null} null: there is no end
 */
export function estimateNeed({ ends, ratePerSecond }) {
  if (ends.length === 0) return null
  const bytes = Math.max(...ends.map(({ need }) => need.bytes))
  if (ends.length === 1) return { cores: (ends[0].need.cores * ratePerSecond) / ends[0].ratePerSecond, bytes }
  const { baseMillicores, slopeMillicoresPerRequestPerSecond } = fitNeed(ends)
  return { cores: (baseMillicores + slopeMillicoresPerRequestPerSecond * ratePerSecond) / 1000, bytes }
}
