import { fitLine } from '../../lib/stats.js'
import { listOutcomesWithAllCpu, tryLoadWithAllCpu } from './all-cpu.js'
import { withRate } from './step.js'

/**
 * The CPU of a rate that this machine cannot serve, extrapolated by a line through lower rates. Pure.
 * @import { Arm, SizeResult } from '../../model/types.ts'
 * @import { Tried, Trials } from './all-cpu.js'
 */

// The met rates through which the line is fitted: the search ends at `most`, and fewer than `least` give no line.
const POINTS = { most: 5, least: 3 }
// Lower rates end at the first below the rate divided by this.
const REACH = 50

/**
 * Tries lower rates with all the CPU (`listLowerRates`) until POINTS.most were met.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options tried: the caller adds each trial that it measured before it
 *   continues
 * @returns {Trials} it yields the arms to measure
 */
export function* tryLowerRates({ template, cpus, tried }) {
  for (const rate of listLowerRates(template)) {
    yield* tryLoadWithAllCpu({ template: withRate(template, rate), cpus, tried })
    if (listMetRates({ template, cpus, tried }).length === POINTS.most) return
  }
}

/**
 * Extrapolates the CPU of the template's rate from lower rates.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options
 * @returns {SizeResult['extrapolated']} null: fewer than POINTS.least lower rates were met
 */
export function extrapolateCpu({ template, cpus, tried }) {
  return extrapolateToRate(listMetRates({ template, cpus, tried }), readTemplateRate(template))
}

/**
 * Extrapolates the CPU that the busiest sidecar would use at a rate, by a line through measured rates (`fitLine`).
 * @param {[number, number][]} measured rates, and millicores of the busiest sidecar
 * @param {number} rate
 * @returns {SizeResult['extrapolated']} null: fewer than POINTS.least rates were measured
 */
export function extrapolateToRate(measured, rate) {
  if (measured.length < POINTS.least) return null
  const { base, slope } = fitLine(measured)
  const computeMillicores = (/** @type {number} */ ratePerSecond) => base + slope * ratePerSecond
  return {
    cores: computeMillicores(rate) / 1000,
    baseMillicores: base,
    slopeMillicoresPerRequestPerSecond: slope,
    points: measured.map(([ratePerSecond, millicores]) => ({
      ratePerSecond,
      millicores,
      residualMillicores: millicores - computeMillicores(ratePerSecond),
    })),
  }
}

/**
 * Reads the rate of a template.
 * @param {Arm} template
 * @returns {number} requests per second; 0: it has none
 */
const readTemplateRate = template => template.load.ratePerSecond ?? 0

/**
 * Lists the lower rates, falling: half the rate first, then two thirds of the one before. It ends with the first below
 * the rate divided by REACH, or before 1/s.
 * @param {Arm} template
 * @returns {number[]} []: the rate is below 2/s
 */
function listLowerRates(template) {
  const rates = []
  for (let rate = Math.floor(readTemplateRate(template) / 2); rate >= 1; rate = Math.floor(rate / 1.5)) {
    rates.push(rate)
    if (rate < readTemplateRate(template) / REACH) break
  }
  return [...new Set(rates)]
}

/**
 * Lists the lower rates that were met.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options
 * @returns {[number, number][]} a rate, and millicores of the busiest sidecar; []: none was met
 */
function listMetRates({ template, cpus, tried }) {
  return listLowerRates(template).flatMap(rate => {
    const met = listOutcomesWithAllCpu({ template: withRate(template, rate), cpus, tried }).filter(o => o.held)
    return met.length === 0
      ? []
      : [/** @type {[number, number]} */ ([rate, 1000 * Math.max(...met.map(o => o.coresMost))])]
  })
}
