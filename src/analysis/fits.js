import { valueOfRound } from '../judge/measures.js'
import { findSlopeInterval, fitLine } from '../lib/stats.js'
import { choiceOf, nameOf } from '../model/arms.js'
import { groupOf } from '../model/axes.js'
import { QUANTITIES } from '../model/quantities.js'

/**
 * Lines through what was measured: CPU over the rate, and quantities over the time of a run. Pure.
 * @import { Arm, CpuLine, Slope, SummaryArm, TrialRecord } from '../model/types.ts'
 */

const RATES_LEAST = 5
const MS_PER_HOUR = 3600 * 1000
/** What is followed over the time of a run. @type {Record<string, 'memory' | 'latency'>} */
const FOLLOWED = { rss: 'memory', anon: 'memory', p99: 'latency' }

/**
 * The CPU line of every plane, link and number of services, for all sidecars together and for each that is no copy.
 * @param {SummaryArm[]} arms
 * @returns {CpuLine[]}
 */
export function fitCpuLines(arms) {
  const open = arms.filter(a => a.load.kind === 'open' && a.sidecars.length > 0 && a.repeatOf === null)
  const keyOf = (/** @type {SummaryArm} */ arm) => `${nameOf(arm)} ${groupOf(arm, 'ratePerSecond')}`
  return [...new Set(open.map(keyOf))].flatMap(key => {
    const group = open.filter(arm => keyOf(arm) === key)
    const services = group[0].sidecars.filter(s => s.copyOf === null).map(s => s.service)
    return [null, ...services].flatMap(service => fitCpuLine(group, service))
  })
}

/**
 * @param {SummaryArm[]} arms at different rates
 * @param {string | null} service null: all sidecars
 * @returns {CpuLine[]} none below five rates
 */
function fitCpuLine(arms, service) {
  const points = arms.flatMap(arm => {
    const cores = QUANTITIES.cpuCores.of(arm, service)?.median ?? null
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

/**
 * How memory (bytes) and p99 (ms) of every arm move in an hour of the run.
 * @param {{ arms: SummaryArm[], records: TrialRecord[] }} run
 * @returns {Slope[]}
 */
export function fitSlopes({ arms, records }) {
  return arms
    .filter(arm => arm.sidecars.length > 0)
    .flatMap(arm =>
      Object.entries(FOLLOWED).flatMap(([quantity, use]) => {
        const values = QUANTITIES[quantity].of(arm, null)?.values ?? []
        const own = records.filter(r => r.trial.arm.id === arm.id)
        const points = values.flatMap((value, i) => {
          const startMs = valueOfRound(
            own.filter(r => r.trial.round === i + 1),
            use,
            r => r.window?.startMs ?? null,
          )
          return value === null || startMs === null
            ? []
            : [/** @type {[number, number]} */ ([startMs / MS_PER_HOUR, value])]
        })
        if (points.length < 2) return []
        const { slope } = fitLine(points)
        return [
          {
            ...choiceOf(arm),
            armId: arm.id,
            quantity,
            perHour: slope,
            ...findSlopeInterval(points),
            rounds: points.length,
          },
        ]
      }),
    )
}
