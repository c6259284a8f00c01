import { chooseRequiredUse, findQuantity, QUANTITIES } from '../judge/quantities.js'
import { findQuantileMs, findRoundValue, hasTail } from '../judge/record/measures.js'
import { findSections, hasResultWith, listResults } from '../kinds/sections.js'
import { groupBy } from '../lib/group-by.js'
import { lowerFirstLetter } from '../lib/letters.js'
import { summariseValues } from '../lib/stats.js'
import {
  createGroupKey,
  isBaselineOf,
  listVariedAxes,
  renderArmLabel,
  renderArmName,
  renderAxes,
} from '../model/arms.js'
import { listArms } from '../model/results.js'
import { createColourChooser } from './charts/colours.js'
import { drawDistributions } from './charts/distributions.js'
import {
  drawOverLimit,
  drawOverRate,
  drawOverSidecars,
  drawQuantityOverAxis,
  drawShareOverTime,
} from './charts/over-axes.js'
import { drawOverTime } from './charts/over-time.js'
import { drawRounds } from './charts/rounds.js'
import * as tables from './charts/tables.js'

/**
 * The charts of a run, each with the table of what is drawn. Pure.
 * @import { CpuLine, Quantity, Summary, SummaryArm, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { ColourFor, KindChart } from '../kinds/sections.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { Section } from './section.js'
 */

/**
 * The input of charts: arms with their colours, and the records and series of their trials.
 * @typedef {object} ChartInput
 * @property {Summary} summary
 * @property {SummaryArm[]} arms with a completed or invalid trial
 * @property {(arm: SummaryArm) => TrialRecord[]} listRecords gives those of an arm; []: it has none
 * @property {(trialId: string) => SidecarSeries[]} listSeries gives [] for a trial without samples
 * @property {ColourFor} colourFor
 */

/** Forms of charts that only some kinds of trials have: the functions that draw each and tabulate its values. */
const FORMS = {
  overShare: { draw: drawShareOverTime, tabulate: tables.tabulateShares },
  overSidecars: { draw: drawOverSidecars, tabulate: tables.tabulateMemory },
  overLimit: { draw: drawOverLimit, tabulate: tables.tabulateLimits },
  overAxis: { draw: drawQuantityOverAxis, tabulate: tables.tabulateOverAxis },
}

/**
 * Draws all charts of a run, in groups. Arms without a completed or invalid trial are left out.
 * @typedef {'rounds' | 'distributions' | 'overTime' | 'overRate' | keyof typeof FORMS} ChartGroup
 * @param {{ summary: Summary, records: TrialRecord[] } & Pick<ChartInput, 'listSeries'>} run
 * @returns {Record<ChartGroup, ReportChart[]>} [] if the run has nothing for the group
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
export function drawCharts({ summary, records, listSeries }) {
  const recordsByArm = groupBy(records, record => record.trial.arm.id)
  const listRecords = (/** @type {SummaryArm} */ arm) => recordsByArm.get(arm.id) ?? []
  const arms = listArms(summary).filter(arm => arm.trials.completed + arm.trials.invalid > 0)
  const colourFor = createColourChooser(arms)
  const hasRounds = hasResultWith(summary, 'hasRounds')
  const aloneArms = hasRounds ? arms.filter(arm => arm.load.kind !== 'interleaved') : []
  const armsWithSeries = arms.filter(arm => findSections(arm).hasSeries !== false)
  const kindCharts = listResults(summary).flatMap(
    ({ sections, result }) => sections.drawCharts?.({ result, summary, arms, records, colourFor }) ?? [],
  )
  return {
    rounds: hasRounds ? drawRoundsOfResults({ summary, arms, colourFor }) : [],
    distributions: drawPercentiles({ arms: aloneArms, listRecords, colourFor }),
    overRate: drawCpuOverRate({ summary, arms, colourFor }),
    overLimit: drawForm(kindCharts, 'overLimit'),
    overAxis: drawForm(kindCharts, 'overAxis'),
    overShare: drawForm(kindCharts, 'overShare'),
    overSidecars: drawForm(kindCharts, 'overSidecars'),
    overTime: drawTypicalTrials({ arms: armsWithSeries, listRecords, listSeries }),
  }
}

/**
 * Draws the charts of one form, and leaves the others out.
 * @param {KindChart[]} charts of all kinds
 * @param {keyof typeof FORMS} name of the form
 * @returns {ReportChart[]} []: no chart has this form
 */
function drawForm(charts, name) {
  const { draw, tabulate } = FORMS[name]
  return charts.flatMap(({ form, id, ...chart }) => {
    if (form !== name) return []
    // Each form has its own type of lines and axes.
    const input = /** @type {any} */ (chart)
    return [{ ...draw(input), id, table: tabulate(input) }]
  })
}

/** The section of each group, in the order of the page. @type {[ChartGroup, id: string, name: string, legend?: string][]} */
const CHART_SECTIONS = [
  ['distributions', 'latency', 'Latency'],
  ['overRate', 'over-rate', 'CPU over the rate'],
  [
    'overLimit',
    'over-limit',
    'Rate over the CPU limit',
    'Each point is a trial of a CPU limit: filled where the step met the limit, hollow where it did not. A diamond is an answer.',
  ],
  ['overShare', 'over-share', 'Convergence'],
  ['overSidecars', 'over-sidecars', 'Memory over the sidecars'],
  ['overAxis', 'over-axis', 'Where lines cross'],
  [
    'overTime',
    'over-time',
    'Memory and CPU over time',
    'Of each arm the trial whose CPU per request is nearest to the median. Dashed red: the CPU limit. Shaded: the quota of a period was used up.',
  ],
]

/**
 * Creates a section for each group of charts, except rounds, which are beside their table.
 * @param {ReturnType<typeof drawCharts>} groups
 * @returns {Section[]} a section without blocks for a group without charts
 */
export function createChartSections(groups) {
  return CHART_SECTIONS.map(([group, id, name, legend]) => ({
    id,
    name,
    blocks:
      groups[group].length === 0
        ? []
        : [
            { type: 'sentences', on: 'page', lines: legend === undefined ? [] : [legend] },
            { type: 'charts', on: 'page', form: group === 'overTime' ? 'trials' : undefined, charts: groups[group] },
          ],
  }))
}

/**
 * Draws the rounds of each result.
 * @param {Pick<ChartInput, 'summary' | 'arms' | 'colourFor'>} options arms: those that are drawn
 * @returns {ReportChart[]} beside other results, a chart has its `resultIndex`, and the heading of its result in the title
 * @throws {BenchError} if a result is of a kind that this version of the kit does not have
 */
function drawRoundsOfResults({ summary, arms, colourFor }) {
  return listResults(summary).flatMap(({ result, heading }, i) => {
    const resultArms = arms.filter(arm => result.arms.includes(arm))
    const charts = drawQuantityRounds(resultArms, colourFor)
    if (heading === undefined) return charts
    return charts.map(chart => ({
      ...chart,
      resultIndex: i,
      id: `${chart.id}-${i + 1}`,
      title: `${chart.title}: ${lowerFirstLetter(heading)}`,
    }))
  })
}

/**
 * Draws the rounds of each quantity that has a value, if QUANTITIES has a chart of it for the load of the first arm.
 * @param {SummaryArm[]} arms of one result, A/A arms too
 * @param {ColourFor} colourFor
 * @returns {ReportChart[]} [] without arms or values, or if no quantity is drawn under the load
 */
function drawQuantityRounds(arms, colourFor) {
  if (arms.length === 0) return []
  const variedAxes = listVariedAxes(arms)
  const { kind } = arms[0].load
  return Object.values(QUANTITIES).flatMap(({ name, chart, unit, scale = 1, digits }) => {
    if (!chart?.kinds.includes(kind)) return []
    const rows = arms.flatMap(arm => {
      const quantity = findQuantity(arm, name)
      if (quantity.median === null) return []
      const label = renderArmLabel(arm, variedAxes)
      const isControl = arm.repeatOf !== null
      return [{ label, colour: colourFor(arm), isControl, quantity: scaleQuantity(quantity, 1 / scale) }]
    })
    if (rows.length === 0) return []
    const title = name === 'throughput' && kind === 'closed' ? renderThroughputTitle(arms) : chart.title
    const input = { title, unit, digits: chart.digits ?? digits, rows }
    return [{ ...drawRounds(input), id: `rounds-${name}`, table: tables.tabulateRounds(input) }]
  })
}

/**
 * Renders the title of the rates of a closed loop. A rate is a capacity only if the sidecar was the limit.
 * @param {SummaryArm[]} arms that are drawn
 * @returns {string} `Throughput` if no arm reached its capacity
 */
function renderThroughputTitle(arms) {
  const withSidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null)
  const boundArms = withSidecars.filter(arm => findQuantity(arm, 'capacity').median !== null)
  if (boundArms.length === 0) return 'Throughput'
  if (boundArms.length === withSidecars.length) return 'Capacity at the cap (without sidecars: throughput)'
  return `Capacity of ${[...new Set(boundArms.map(renderArmName))].join(', ')}; throughput of the others`
}

/**
 * Multiplies a quantity by a factor; null stays null.
 * @param {Quantity} quantity
 * @param {number} factor
 * @returns {Quantity}
 */
function scaleQuantity({ median, low, high, values }, factor) {
  const scale = (/** @type {number | null} */ value) => (value === null ? null : value * factor)
  return { median: scale(median), low: scale(low), high: scale(high), values: values.map(scale) }
}

/**
 * Draws the typical trial of each arm over time.
 * @param {Pick<ChartInput, 'arms' | 'listRecords' | 'listSeries'>} options
 * @returns {ReportChart[]} without arms that have no trial with a window, or no CPU samples of it
 */
function drawTypicalTrials({ arms, listRecords, listSeries }) {
  const variedAxes = listVariedAxes(arms)
  return arms.flatMap((arm, i) => {
    const trialId = chooseTypicalTrial(arm, listRecords(arm))?.trial.id
    if (trialId === undefined) return []
    const sidecars = listSeries(trialId)
    if (!sidecars.some(({ cores }) => cores.length > 0)) return []
    const title = `${renderArmLabel(arm, variedAxes)}: CPU and memory over trial ${trialId}`
    const chart = { title, sidecars }
    return [{ ...drawOverTime(chart), id: `over-time-${i + 1}`, table: tables.tabulateSeries(chart) }]
  })
}

/**
 * Chooses the completed trial with a window of the round whose CPU per request is nearest to the median. If there is no median or
 * no such trial, it chooses the last trial with a window.
 * @param {SummaryArm} arm
 * @param {TrialRecord[]} records of the arm
 * @returns {TrialRecord | undefined} undefined if no trial has a window
 */
function chooseTypicalTrial(arm, records) {
  const { median, values } = findQuantity(arm, 'cpuPerRequest')
  const withWindow = records.filter(record => record.window !== null)
  if (median === null) return withWindow.at(-1)
  const distances = values.map(value => (value === null ? Number.POSITIVE_INFINITY : Math.abs(value - median)))
  const round = distances.indexOf(Math.min(...distances)) + 1
  const typicalTrial = withWindow.find(({ trial, outcome }) => trial.round === round && outcome === 'completed')
  return typicalTrial ?? withWindow.at(-1)
}

/**
 * Draws CPU over the rate of the open loop: a chart for each combination of the other axes in which a plane has at least two
 * rates. Arms without sidecars and A/A arms are left out.
 * @param {Pick<ChartInput, 'summary' | 'arms' | 'colourFor'>} options
 * @returns {ReportChart[]} [] if no plane has two rates whose CPU is known
 */
function drawCpuOverRate({ summary, arms, colourFor }) {
  const openLoopArms = arms.filter(arm => arm.load.kind === 'open' && arm.sidecars.length > 0 && arm.repeatOf === null)
  const variedAxes = listVariedAxes(arms).filter(name => name !== 'ratePerSecond')
  return [...groupBy(openLoopArms, arm => createGroupKey(arm, 'ratePerSecond')).values()].flatMap((group, i) => {
    const lines = [...groupBy(group, renderArmName)].map(([label, planeArms]) => {
      const points = listRatePoints(planeArms)
      return { label, colour: colourFor(planeArms[0]), points, fit: findFittedLine(summary, label, points) }
    })
    if (Math.max(...lines.map(line => line.points.length)) < 2) return []
    const title = ['CPU over the rate', renderAxes(group[0], variedAxes)].filter(Boolean).join(': ')
    const chart = { title, lines }
    return [{ ...drawOverRate(chart), id: `over-rate-${i + 1}`, table: tables.tabulateRates(chart) }]
  })
}

/**
 * Lists the rates of arms with the CPU of all sidecars at each.
 * @param {SummaryArm[]} arms
 * @returns {{ ratePerSecond: number, millicores: number }[]} without arms whose CPU is not known
 */
function listRatePoints(arms) {
  return arms.flatMap(arm => {
    const cores = findQuantity(arm, 'cpuCores').median
    return cores === null ? [] : [{ ratePerSecond: Number(arm.load.ratePerSecond), millicores: 1000 * cores }]
  })
}

/**
 * Finds the line that was fitted to points of all sidecars of a plane.
 * @param {Pick<Summary, 'results'>} summary
 * @param {string} name of the plane
 * @param {ReturnType<typeof listRatePoints>} points
 * @returns {CpuLine | null} null if none was fitted to just these points
 */
function findFittedLine({ results }, name, points) {
  const lines = results.flatMap(result => result.lines)
  const isThrough = (/** @type {CpuLine} */ line) =>
    line.points.length === points.length &&
    line.points.every((p, i) => p.ratePerSecond === points[i].ratePerSecond && p.millicores === points[i].millicores)
  return lines.find(line => line.service === null && renderArmName(line) === name && isThrough(line)) ?? null
}

/**
 * Draws times by percentile: a chart for each group of arms with sidecars that differ only in the plane, with their baselines. If no
 * arm has sidecars, each group of the others has a chart. Idle arms are left out.
 * @param {Pick<ChartInput, 'arms' | 'listRecords' | 'colourFor'>} options
 * @returns {ReportChart[]} without groups of which no percentile was recorded
 */
function drawPercentiles({ arms, listRecords, colourFor }) {
  const variedAxes = listVariedAxes(arms)
  const loadedArms = arms.filter(arm => arm.load.kind !== 'idle')
  const withSidecars = loadedArms.filter(arm => arm.hasSidecars)
  const groups = groupBy(withSidecars.length > 0 ? withSidecars : loadedArms, arm => createGroupKey(arm))
  return [...groups.values()].flatMap((group, i) => {
    const [first] = group
    const baselines = loadedArms.filter(arm => !group.includes(arm) && isBaselineOf(arm, first))
    const lines = [...baselines, ...group].flatMap(arm => {
      const grid = computeMedianTimes(arm, listRecords(arm))
      return grid.length > 0 ? [{ label: renderArmName(arm), colour: colourFor(arm), grid }] : []
    })
    if (lines.length === 0) return []
    const isOpen = first.load.kind === 'open'
    const name = isOpen ? 'latency' : `response time at saturation (${first.load.users} users)`
    const subject = `${isOpen ? 'Latency' : 'Response time at saturation'} by percentile`
    const title = [subject, renderAxes(first, variedAxes)].filter(Boolean).join(': ')
    const chart = { title, name, lines }
    return [{ ...drawDistributions(chart), id: `distribution-${i + 1}`, table: tables.tabulateTimes(chart) }]
  })
}

/**
 * Computes, for each recorded quantile, the median of its values in the rounds.
 * @param {SummaryArm} arm
 * @param {TrialRecord[]} records of the arm
 * @returns {[number, number][]} quantile (0 to 1) and ms; without quantiles that have no value, or beyond which all rounds
 *   together have too few requests
 */
function computeMedianTimes({ load }, records) {
  const use = chooseRequiredUse(QUANTITIES.p99, load)
  const rounds = [...groupBy(records, record => record.trial.round).values()]
  const requests = records.reduce((sum, record) => sum + (record.load?.verified ?? 0), 0)
  // The quantiles are those of the first trial that has a distribution.
  const [grid = []] = records.flatMap(record => (record.load?.distribution ? [record.load.distribution.grid] : []))
  return grid.flatMap(([q]) => {
    if (!hasTail(requests, q)) return []
    const { median } = summariseValues(rounds.map(trials => findRoundValue(trials, use, r => findQuantileMs(r, q))))
    return median === null ? [] : [/** @type {[number, number]} */ ([q, median])]
  })
}
