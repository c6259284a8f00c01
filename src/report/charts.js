import { ratePerSecond } from '../judge/measures.js'
import { QUANTITIES } from '../judge/quantities.js'
import { quantityOf } from '../judge/quantity.js'
import { isCoarse, isMeasured, timesOf } from '../judge/rollout.js'
import { groupBy } from '../lib/group-by.js'
import { labelOf, nameOf } from '../model/arms.js'
import { describeAxes, findVaried, groupOf } from '../model/axes.js'
import { createColours } from './charts/colours.js'
import { drawOverLimit } from './charts/over-limit.js'
import { drawOverRate } from './charts/over-rate.js'
import { drawOverShare } from './charts/over-share.js'
import { drawOverSidecars } from './charts/over-sidecars.js'
import { drawOverTime } from './charts/over-time.js'
import { drawRounds } from './charts/rounds.js'
import {
  tabulateLimits,
  tabulateMemory,
  tabulateRates,
  tabulateRounds,
  tabulateSeries,
  tabulateShares,
} from './charts/tables.js'
import { nameGrowth } from './growths.js'
import { drawPercentiles } from './percentiles.js'
import { isSearch } from './searches.js'

/**
 * The charts of a run, each with the table of what is drawn. Pure.
 * @import { CpuLine, Quantity, SizeResult, Summary, SummaryArm, TrialRecord } from '../model/types.ts'
 * @import { Colourable } from './charts/colours.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 */

/** The number of charts of rounds that show the answer. */
export const FIRST = 2

/** @typedef {ReturnType<typeof drawCharts>} Charts */
/** @typedef {{ summary: Summary, records: TrialRecord[], seriesOf: (trialId: string) => SidecarSeries[] }} Run */
/**
 * A run to draw; arms: those that were measured.
 * @typedef {Run & { arms: SummaryArm[], recordsOf: (arm: SummaryArm) => TrialRecord[],
 *   colourFor: (arm: Colourable) => number }} DrawnRun
 */

/** Draws the charts of a run; a search has only those without rounds. @param {Run} run */
export function drawCharts(run) {
  const byArm = groupBy(run.records, record => record.trial.arm.id)
  const recordsOf = (/** @type {SummaryArm} */ arm) => byArm.get(arm.id) ?? []
  const arms = run.summary.arms.filter(arm => arm.trials.completed + arm.trials.invalid > 0)
  const drawn = { ...run, arms, recordsOf, colourFor: createColours(arms) }
  return {
    rounds: isSearch(run.summary) ? [] : drawQuantities(drawn),
    distributions: isSearch(run.summary) ? [] : drawPercentiles(drawn),
    overRate: drawRates(drawn),
    overLimit: drawLimits(drawn),
    overShare: drawRollouts(drawn),
    overSidecars: drawGrowths(run.summary),
    overTime: drawTrials(drawn),
  }
}

/** Draws every quantity that the load shows, round by round. @param {DrawnRun} run @returns {ReportChart[]} */
function drawQuantities({ arms, colourFor }) {
  if (arms.length === 0) return []
  const varied = findVaried(arms)
  const { kind } = arms[0].load
  const drawn = Object.values(QUANTITIES).filter(({ chart }) => chart?.kinds.includes(kind))
  return drawn.flatMap(({ name, chart, unit, scale = 1, ...row }) => {
    const { digits = row.digits, ...given } = /** @type {NonNullable<typeof chart>} */ (chart)
    const title = name === 'throughput' && kind === 'closed' ? nameThroughput(arms) : given.title
    const rows = arms.flatMap(arm => {
      const quantity = quantityOf(arm, name)
      if (quantity.median === null) return []
      const label = labelOf(arm, varied)
      const isControl = arm.repeatOf !== null
      return [{ label, colour: colourFor(arm), isControl, quantity: scaleQuantity(quantity, 1 / scale) }]
    })
    if (rows.length === 0) return []
    const shown = { title, unit, digits, rows }
    return [{ ...drawRounds(shown), id: `rounds-${name}`, table: tabulateRounds(shown) }]
  })
}

/** Names the rates of a closed loop: capacity only where a sidecar was the limit. @param {SummaryArm[]} arms */
function nameThroughput(arms) {
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null)
  const bound = sidecars.filter(arm => quantityOf(arm, 'capacity').median !== null)
  if (bound.length === 0) return 'Throughput'
  if (bound.length === sidecars.length) return 'Capacity at the cap (without sidecars: throughput)'
  return `Capacity of ${[...new Set(bound.map(nameOf))].join(', ')}; throughput of the others`
}

/** @param {Quantity} quantity @param {number} factor @returns {Quantity} */
function scaleQuantity({ median, low, high, values }, factor) {
  const times = (/** @type {number | null} */ value) => (value === null ? null : value * factor)
  return { median: times(median), low: times(low), high: times(high), values: values.map(times) }
}

/** Draws one trial of every arm over time. @param {DrawnRun} run @returns {ReportChart[]} */
function drawTrials({ arms, recordsOf, seriesOf }) {
  const varied = findVaried(arms)
  // One chart cannot show hundreds of sidecars; their rollout has a chart of its own.
  const drawn = arms.filter(arm => arm.conditions.sidecars === undefined)
  return drawn.flatMap((arm, i) => {
    const trialId = chooseTypical(arm, recordsOf(arm))?.trial.id
    const sidecars = trialId === undefined ? [] : seriesOf(trialId)
    if (trialId === undefined || !sidecars.some(s => s.cores.length > 0)) return []
    const given = { title: `${labelOf(arm, varied)}: CPU and memory over trial ${trialId}`, sidecars }
    return [{ ...drawOverTime(given), id: `over-time-${i + 1}`, table: tabulateSeries(given) }]
  })
}

/**
 * Chooses the trial whose CPU per request is nearest to the arm's median; the last one where there is no median.
 * @param {SummaryArm} arm
 * @param {TrialRecord[]} records of the arm
 */
function chooseTypical(arm, records) {
  const { median, values } = quantityOf(arm, 'cpuPerRequest')
  const whole = records.filter(r => r.window !== null)
  if (median === null) return whole.at(-1)
  const distances = values.map(value => (value === null ? Number.POSITIVE_INFINITY : Math.abs(value - median)))
  const round = distances.indexOf(Math.min(...distances)) + 1
  return whole.find(r => r.trial.round === round && r.outcome === 'completed') ?? whole.at(-1)
}

/** Draws CPU over the rate, a chart for every set of the other axes. @param {DrawnRun} run @returns {ReportChart[]} */
function drawRates({ summary, arms, colourFor }) {
  const open = arms.filter(arm => arm.load.kind === 'open' && arm.sidecars.length > 0 && arm.repeatOf === null)
  const varied = findVaried(arms).filter(name => name !== 'ratePerSecond')
  return [...groupBy(open, arm => groupOf(arm, 'ratePerSecond')).values()].flatMap((own, i) => {
    const lines = [...groupBy(own, nameOf)].map(([label, same]) => {
      const points = same.flatMap(findPoint)
      return { label, colour: colourFor(same[0]), points, fit: findLine(summary, label, points) }
    })
    if (Math.max(...lines.map(line => line.points.length)) < 2) return []
    const title = ['CPU over the rate', describeAxes(own[0], varied)].filter(Boolean).join(': ')
    const given = { title, lines }
    return [{ ...drawOverRate(given), id: `over-rate-${i + 1}`, table: tabulateRates(given) }]
  })
}

/** Draws the share of configured sidecars in each arm's last round. @param {DrawnRun} run @returns {ReportChart[]} */
function drawRollouts({ arms, recordsOf }) {
  const varied = findVaried(arms)
  const own = arms.flatMap(arm => {
    const rollout = recordsOf(arm).findLast(record => record.rollout && record.outcome !== 'failed')?.rollout
    return rollout ? [{ label: labelOf(arm, varied), rollout }] : []
  })
  if (own.length === 0) return []
  const phases = /** @type {const} */ ([
    ['first', 'Sidecars that have their first configuration'],
    ['change', 'Sidecars that have a change of it'],
    ['removal', 'Sidecars that moved and have the configuration of their new shard'],
  ])
  return phases.flatMap(([phase, title]) => {
    const lines = own.flatMap(({ label, rollout }, i) => {
      const numbers = rollout[phase]
      return numbers && isMeasured(rollout, phase) && !timesOf(numbers).every(isCoarse)
        ? [{ label, colour: i + 1, curve: numbers.curve }]
        : []
    })
    if (lines.length === 0) return []
    const given = { title, lines }
    return [{ ...drawOverShare(given), id: `over-share-${phase}`, table: tabulateShares(given) }]
  })
}

/** Draws the memory of growing control planes. @param {Summary} summary @returns {ReportChart[]} */
function drawGrowths({ arms, growths = [] }) {
  const lines = growths.flatMap((growth, i) => {
    const { memory } = growth
    return memory ? [{ label: nameGrowth(arms, growth), colour: i + 1, memory }] : []
  })
  if (lines.length === 0) return []
  const given = { title: 'Memory of the control plane over the number of sidecars', lines }
  return [{ ...drawOverSidecars(given), id: 'over-sidecars', table: tabulateMemory(given) }]
}

/** Draws the answered rate over the CPU limit of a sizing. @param {DrawnRun} run @returns {ReportChart[]} */
function drawLimits({ summary: { sizes }, records, colourFor }) {
  const lines = [...groupBy(sizes, nameOf)].map(([label, own]) => {
    const held = new Set(own.flatMap(size => listSteps(size, true)))
    const failed = new Set(own.flatMap(size => listSteps(size, false)))
    const points = records.flatMap(record => {
      const { id, arm } = record.trial
      const rate = ratePerSecond(record)
      if (rate === null || arm.capCores === null || !(held.has(id) || failed.has(id))) return []
      return [{ cores: arm.capCores, ratePerSecond: rate, isHeld: held.has(id) }]
    })
    const answers = own.flatMap(({ cpu, ratePerSecond: rate, p99Ms }) =>
      cpu.isFound && cpu.held !== null ? [{ cores: cpu.held, ratePerSecond: rate, p99Ms }] : [],
    )
    return { label, colour: colourFor({ ...own[0], hasSidecars: true }), points, answers }
  })
  if (!lines.some(line => line.points.length > 0)) return []
  const given = { title: 'Rate over the CPU limit of each sidecar', lines }
  return [{ ...drawOverLimit(given), id: 'over-limit', table: tabulateLimits(given) }]
}

/** Lists the trials of the CPU's steps that held, or failed. @param {SizeResult} size @param {boolean} isHeld */
function listSteps({ cpu, checks }, isHeld) {
  return [...cpu.steps, ...checks].filter(step => step.held === isHeld).flatMap(step => step.trials)
}

/** Finds the point of an arm whose CPU is known. @param {SummaryArm} arm */
function findPoint(arm) {
  const cores = quantityOf(arm, 'cpuCores').median
  return cores === null ? [] : [{ ratePerSecond: Number(arm.load.ratePerSecond), millicores: 1000 * cores }]
}

/**
 * Finds the line through just these points, over all sidecars.
 * @param {Pick<Summary, 'lines'>} summary
 * @param {string} name of the plane
 * @param {ReturnType<typeof findPoint>} points
 */
function findLine({ lines }, name, points) {
  const isThrough = (/** @type {CpuLine} */ line) =>
    line.points.length === points.length &&
    line.points.every((p, i) => p.ratePerSecond === points[i].ratePerSecond && p.millicores === points[i].millicores)
  return lines.find(line => line.service === null && nameOf(line) === name && isThrough(line)) ?? null
}

/** Lists all charts in the order in which they are shown. @param {Charts} charts */
export function listCharts(charts) {
  return Object.values(charts).flat()
}
