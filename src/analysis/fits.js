import { splitRounds, valueOfRound } from '../judge/measures.js'
import { QUANTITIES } from '../judge/quantities.js'
import { quantityOf, useOf } from '../judge/quantity.js'
import { findSlopeInterval, fitLine } from '../lib/stats.js'
import { choiceOf, nameOf } from '../model/arms.js'
import { groupOf } from '../model/axes.js'

/** Lines: CPU over the rate, and quantities over the time of a run. Pure. */
/** @import { CpuLine, Slope, SummaryArm, TrialRecord } from '../model/types.ts' */
/** @import { QuantityRow } from '../judge/quantities.js' */

const RATES_LEAST = 5
const MS_PER_HOUR = 3600 * 1000

/** Fits a line for each plane, link and service, and for all sidecars together. @param {SummaryArm[]} arms */
export function fitCpuLines(arms) {
  const open = arms.filter(a => a.load.kind === 'open' && a.sidecars.length > 0 && a.repeatOf === null)
  const keyOf = (/** @type {SummaryArm} */ arm) => `${nameOf(arm)} ${groupOf(arm, 'ratePerSecond')}`
  return [...new Set(open.map(keyOf))].flatMap(key => {
    const group = open.filter(arm => keyOf(arm) === key)
    const services = group[0].sidecars.filter(s => s.copyOf === null).map(s => s.service)
    return [null, ...services].flatMap(service => fitCpuLine(group, service))
  })
}

/** Fits the lines of a service; none below five rates. @param {SummaryArm[]} arms @param {string | null} service @returns {CpuLine[]} */
function fitCpuLine(arms, service) {
  const points = arms.flatMap(arm => {
    const cores = quantityOf(arm, 'cpuCores', service).median
    const { ratePerSecond } = arm.load
    return cores === null || ratePerSecond === undefined ? [] : [{ ratePerSecond, millicores: 1000 * cores }]
  })
  if (points.length < RATES_LEAST) return []
  const { base, slope } = fitLine(points.map(p => [p.ratePerSecond, p.millicores]))
  const [{ link, conditions }] = arms
  return [
    {
      ...choiceOf(arms[0]),
      link,
      service,
      services: conditions.services,
      baseMillicores: base,
      slopeMillicoresPerRequestPerSecond: slope,
      points: points.map(p => ({ ...p, residualMillicores: p.millicores - (base + slope * p.ratePerSecond) })),
    },
  ]
}

/** Fits changes in an hour, in the headers' units. @param {{ arms: SummaryArm[], records: TrialRecord[] }} run */
export function fitSlopes({ arms, records }) {
  const followed = Object.values(QUANTITIES).filter(row => row.isFollowed)
  return arms
    .filter(arm => arm.sidecars.length > 0)
    .flatMap(arm =>
      followed.flatMap(row => fitSlope({ arm, row, own: records.filter(r => r.trial.arm.id === arm.id) })),
    )
}

/** Fits the slopes of an arm with two rounds or more. @param {{ arm: SummaryArm, row: QuantityRow, own: TrialRecord[] }} options @returns {Slope[]} */
function fitSlope({ arm, row, own }) {
  const { values } = quantityOf(arm, row.name)
  const points = splitRounds(own, values.length).flatMap((trials, i) => {
    const startMs = valueOfRound(trials, useOf(row, arm.load), r => r.window?.startMs ?? null)
    const value = values[i]
    return value === null || startMs === null ? [] : [/** @type {[number, number]} */ ([startMs / MS_PER_HOUR, value])]
  })
  if (points.length < 2) return []
  const { slope } = fitLine(points)
  return [
    {
      ...choiceOf(arm),
      armId: arm.id,
      quantity: row.name,
      perHour: slope,
      ...findSlopeInterval(points),
      rounds: points.length,
    },
  ]
}
