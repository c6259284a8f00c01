import { nameOf } from '../arms.js'
import { BASELINE_AXES, describeAxes, findVaried, groupOf } from '../axes.js'
import { quantileMs, valueOfRound } from '../measures.js'
import { MIB, QUANTITIES } from '../quantities.js'
import { summariseValues } from '../stats.js'
import { drawDistributions } from './charts/distributions.js'
import { drawOverRate } from './charts/over-rate.js'
import { drawOverTime } from './charts/over-time.js'
import { drawRounds } from './charts/rounds.js'
import { tabulateLines, tabulateRates, tabulateRounds, tabulateSeries } from './charts/tables.js'
import { labelOf } from './label.js'

/**
 * The charts of a run, each with the table of what is drawn. Pure.
 * @import { Quantity, Summary, SummaryArm, TrialRecord } from '../types.ts'
 * @import { Chart } from './charts/style.js'
 * @import { SidecarSeries } from './charts/over-time.js'
 * @import { Table } from './text-table.js'
 */

/** @typedef {Chart & { id: string, table: Table }} ReportChart */

/** What is drawn of each kind of load, and in which unit and size. @type {Record<string, [string, string, string, number, number][]>} */
const DRAWN = {
  closed: [
    ['throughput', 'Throughput', 'requests/s', 0, 1],
    ['cpuPerRequest', 'CPU per request, all sidecars', 'µs', 0, 1],
  ],
  open: [
    ['cpuPerRequest', 'CPU per request, all sidecars', 'µs', 0, 1],
    ['p99', 'p99 latency', 'ms', 1, 1],
    ['throughput', 'Throughput', 'requests/s', 0, 1],
  ],
  idle: [
    ['cpuCores', 'CPU of idle sidecars', 'cores', 4, 1],
    ['rss', 'Resident memory of idle sidecars', 'MiB', 1, 1 / MIB],
  ],
}
// A quantile needs ten times as many requests as one in its tail.
const TAIL_REQUESTS = 10

/**
 * @param {{ summary: Summary, records: TrialRecord[], seriesOf: (trialId: string) => SidecarSeries[] }} run
 * @returns {{ rounds: ReportChart[], distributions: ReportChart[], overTime: (ReportChart & { trialId: string })[], overRate: ReportChart[] }}
 */
export function drawCharts({ summary, records, seriesOf }) {
  const byArm = groupByArm(records)
  const arms = summary.arms.filter(arm => arm.trials.completed + arm.trials.invalid > 0)
  const colourFor = assignColours(arms)
  const isSearch = summary.searches.length + summary.sizes.length > 0
  return {
    rounds: isSearch ? [] : drawQuantities(arms, colourFor),
    distributions: isSearch ? [] : drawLatencies({ arms, byArm, colourFor }),
    overTime: arms.flatMap((arm, i) => {
      const record = chooseTypical(arm, byArm.get(arm.id) ?? [])
      const sidecars = record ? seriesOf(record.trial.id) : []
      if (!record || !sidecars.some(s => s.cores.length > 0)) return []
      const title = `${labelOf(arm, arms)}: CPU and memory over trial ${record.trial.id}`
      const chart = drawOverTime({ title, sidecars })
      return [{ ...chart, id: `over-time-${i + 1}`, table: tabulateSeries(title, sidecars), trialId: record.trial.id }]
    }),
    overRate: drawRates({ summary, arms, colourFor }),
  }
}

/**
 * 0 for no mesh, the others as they come; what repeats an arm has its colour.
 * @param {SummaryArm[]} arms
 * @returns {(arm: SummaryArm) => number}
 */
function assignColours(arms) {
  const nameFor = (/** @type {SummaryArm} */ arm) => nameOf({ ...arm, repeatOf: null })
  const names = [...new Set(arms.filter(arm => arm.plane !== 'none').map(nameFor))]
  return arm => (arm.plane === 'none' ? 0 : names.indexOf(nameFor(arm)) + 1)
}

/**
 * @param {SummaryArm[]} arms
 * @param {(arm: SummaryArm) => number} colourFor
 * @returns {ReportChart[]}
 */
function drawQuantities(arms, colourFor) {
  if (arms.length === 0) return []
  return DRAWN[arms[0].load.kind].flatMap(([name, title, unit, digits, scale]) => {
    const rows = arms.flatMap(arm => {
      const quantity = QUANTITIES[name].of(arm, null)
      if (quantity === null || quantity.median === null) return []
      return [{ label: labelOf(arm, arms), colour: colourFor(arm), quantity: times(quantity, scale) }]
    })
    if (rows.length === 0) return []
    const chart = drawRounds({ title, unit, digits, rows })
    return [{ ...chart, id: `rounds-${name}`, table: tabulateRounds(title, unit, digits, rows) }]
  })
}

/**
 * One chart for every link, cap and load: the medians over the rounds of every percentile.
 * @param {{ arms: SummaryArm[], byArm: Map<string, TrialRecord[]>, colourFor: (arm: SummaryArm) => number }} given
 * @returns {ReportChart[]}
 */
function drawLatencies({ arms, byArm, colourFor }) {
  const loaded = arms.filter(arm => arm.load.kind !== 'idle')
  const sidecars = loaded.filter(arm => arm.plane !== 'none')
  const keys = [...new Set((sidecars.length > 0 ? sidecars : loaded).map(arm => groupOf(arm)))]
  return keys.flatMap((key, i) => {
    const own = loaded.filter(arm => groupOf(arm) === key)
    const [first] = own
    const baselines = loaded.filter(
      arm =>
        arm.plane === 'none' &&
        !own.includes(arm) &&
        arm.load.kind === first.load.kind &&
        describeAxes(arm, BASELINE_AXES) === describeAxes(first, BASELINE_AXES),
    )
    const lines = [...baselines, ...own].flatMap(arm => {
      const grid = poolGrid(byArm.get(arm.id) ?? [], arm)
      return grid.length > 0 ? [{ label: nameOf(arm), colour: colourFor(arm), grid }] : []
    })
    if (lines.length === 0) return []
    const isOpen = first.load.kind === 'open'
    const where = describeAxes(first, findVaried(arms))
    const name = isOpen ? 'latency' : `response time at saturation (${first.load.users} users)`
    const title = `${isOpen ? 'Latency' : 'Response time at saturation'} by percentile${where ? `: ${where}` : ''}`
    const chart = drawDistributions({ title, name, lines })
    return [{ ...chart, id: `distribution-${i + 1}`, table: tabulateLines(title, lines) }]
  })
}

/**
 * The median over the rounds of every percentile that the requests are enough for.
 * @param {TrialRecord[]} records of one arm
 * @param {SummaryArm} arm
 * @returns {[number, number][]} [quantile, milliseconds]
 */
function poolGrid(records, { load }) {
  const use = load.kind === 'open' ? 'latency' : 'throughput'
  const rounds = [...new Set(records.map(r => r.trial.round))].map(round =>
    records.filter(r => r.trial.round === round),
  )
  const pooled = records.reduce((sum, r) => sum + (r.load?.verified ?? 0), 0)
  const quantiles = records.find(r => r.load?.distribution)?.load?.distribution?.grid.map(([q]) => q) ?? []
  return quantiles.flatMap(q => {
    if (q >= 1 || pooled < TAIL_REQUESTS / (1 - q)) return []
    const { median } = summariseValues(rounds.map(trials => valueOfRound(trials, use, r => quantileMs(r, q))))
    return median === null ? [] : [/** @type {[number, number]} */ ([q, median])]
  })
}

/**
 * CPU over the rate, where arms differ in it: a chart for everything else that they differ in.
 * @param {{ summary: Summary, arms: SummaryArm[], colourFor: (arm: SummaryArm) => number }} given
 * @returns {ReportChart[]}
 */
function drawRates({ summary, arms, colourFor }) {
  const open = arms.filter(arm => arm.load.kind === 'open' && arm.sidecars.length > 0 && arm.repeatOf === null)
  const keys = [...new Set(open.map(arm => groupOf(arm, 'ratePerSecond')))]
  return keys.flatMap((key, i) => {
    const own = open.filter(arm => groupOf(arm, 'ratePerSecond') === key)
    const lines = [...new Set(own.map(nameOf))].map(label => {
      const same = own.filter(arm => nameOf(arm) === label)
      const points = same.flatMap(arm => {
        const cores = QUANTITIES.cpuCores.of(arm, null)?.median ?? null
        return cores === null ? [] : [{ ratePerSecond: Number(arm.load.ratePerSecond), millicores: 1000 * cores }]
      })
      const [{ link, conditions }] = same
      const fit = summary.lines.find(
        line =>
          nameOf(line) === label &&
          line.link === link &&
          line.services === conditions.services &&
          line.service === null,
      )
      return { label, colour: colourFor(same[0]), points, fit: fit ?? null }
    })
    if (Math.max(...lines.map(line => line.points.length)) < 2) return []
    const varied = findVaried(arms).filter(name => name !== 'ratePerSecond')
    const where = describeAxes(own[0], varied)
    const title = `CPU over the rate${where ? `: ${where}` : ''}`
    const chart = drawOverRate({ title, lines })
    return [{ ...chart, id: `over-rate-${i + 1}`, table: tabulateRates(title, lines) }]
  })
}

/**
 * The trial of an arm whose CPU per request is nearest to the arm's median; the last one where it has none.
 * @param {SummaryArm} arm
 * @param {TrialRecord[]} records of the arm
 */
function chooseTypical({ cpuPerRequestMicros: { median, values } }, records) {
  const whole = records.filter(r => r.window !== null)
  if (median === null) return whole.at(-1)
  const distances = values.map(value => (value === null ? Number.POSITIVE_INFINITY : Math.abs(value - median)))
  const round = distances.indexOf(Math.min(...distances)) + 1
  return whole.find(r => r.trial.round === round && r.outcome === 'completed') ?? whole.at(-1)
}

/** @param {TrialRecord[]} records */
function groupByArm(records) {
  /** @type {Map<string, TrialRecord[]>} */
  const byArm = new Map()
  for (const record of records) {
    const own = byArm.get(record.trial.arm.id)
    if (own) own.push(record)
    else byArm.set(record.trial.arm.id, [record])
  }
  return byArm
}

/**
 * @param {Quantity} quantity
 * @param {number} scale
 * @returns {Quantity}
 */
function times({ median, low, high, values }, scale) {
  const scaled = (/** @type {number | null} */ value) => (value === null ? null : value * scale)
  return { median: scaled(median), low: scaled(low), high: scaled(high), values: values.map(scaled) }
}
