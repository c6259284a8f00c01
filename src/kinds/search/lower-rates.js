import { fitLine } from '../../lib/stats.js'
import { withRate } from './step.js'
import { listOutcomesWithAllCpu, tryWithAllCpu } from './whole.js'

/**
 * The CPU of a rate that this machine cannot serve, extrapolated by a line through lower rates. Pure.
 * @import { Arm, SizeResult } from '../../model/types.ts'
 * @import { Tried, Trials } from './whole.js'
 */

// Rates through which the line is drawn; none is far below a fiftieth of the rate.
const POINTS = { most: 5, least: 3 }
const REACH = 50

/**
 * Tries lower rates with all the CPU, until five were met or the rates are below a fiftieth of the template's.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options
 * @returns {Trials}
 */
export function* tryLowerRates({ template, cpus, tried }) {
  for (const rate of listRates(template)) {
    yield* tryWithAllCpu({ template: withRate(template, rate), cpus, tried })
    if (findPoints({ template, cpus, tried }).length === POINTS.most) return
  }
}

/**
 * Extrapolates the CPU of the template's rate from lower rates.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options
 * @returns {SizeResult['extrapolated']} null: fewer than three lower rates were met
 */
export function extrapolateCpu({ template, cpus, tried }) {
  return fitCpu(findPoints({ template, cpus, tried }), findTemplateRate(template))
}

/**
 * Fits the CPU of a rate by a line through measured rates.
 * @param {[number, number][]} measured a rate, and millicores of the busiest sidecar
 * @param {number} rate
 * @returns {SizeResult['extrapolated']} null: fewer than three rates were measured
 */
export function fitCpu(measured, rate) {
  if (measured.length < POINTS.least) return null
  const { base, slope } = fitLine(measured)
  const extrapolateTo = (/** @type {number} */ other) => base + slope * other
  return {
    cores: extrapolateTo(rate) / 1000,
    baseMillicores: base,
    slopeMillicoresPerRequestPerSecond: slope,
    points: measured.map(([ratePerSecond, millicores]) => ({
      ratePerSecond,
      millicores,
      residualMillicores: millicores - extrapolateTo(ratePerSecond),
    })),
  }
}

/** @param {Arm} template */
const findTemplateRate = template => template.load.ratePerSecond ?? 0

/**
 * Lists rates that fall: half the rate first, then two thirds of the one before, down to one below a fiftieth, or to 1/s.
 * @param {Arm} template
 */
function listRates(template) {
  const rates = []
  for (let rate = Math.floor(findTemplateRate(template) / 2); rate >= 1; rate = Math.floor(rate / 1.5)) {
    rates.push(rate)
    if (rate < findTemplateRate(template) / REACH) break
  }
  return [...new Set(rates)]
}

/**
 * Lists the lower rates that were met.
 * @param {{ template: Arm, cpus: number, tried: Tried[] }} options
 * @returns {[number, number][]} a rate, and millicores
 */
function findPoints({ template, cpus, tried }) {
  return listRates(template).flatMap(rate => {
    const met = listOutcomesWithAllCpu({ template: withRate(template, rate), cpus, tried }).filter(o => o.held)
    return met.length === 0
      ? []
      : [/** @type {[number, number]} */ ([rate, 1000 * Math.max(...met.map(o => o.coresMost))])]
  })
}
