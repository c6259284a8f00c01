import { chooseRequiredUse, findQuantity, QUANTITIES } from '../judge/quantities.js'
import { findQuantileMs, findRoundValue, hasTail } from '../judge/record/measures.js'
import { findSections, hasAny, listResults } from '../kinds/sections.js'
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
import { drawDistributions } from './charts/distributions.js'
import { drawOverAxis, drawOverLimit, drawOverRate, drawOverShare, drawOverSidecars } from './charts/forms.js'
import { drawOverTime } from './charts/over-time.js'
import { drawRounds } from './charts/rounds.js'
import * as tables from './charts/tables.js'

/**
 * The charts of a run, each with the table of what is drawn. Pure.
 * @import { CpuLine, Quantity, Summary, SummaryArm, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { ColourFor } from '../kinds/sections.js'
 * @import { Section } from './section.js'
 */

/**
 * @typedef {object} ChartInput
 * @property {Summary} summary
 * @property {SummaryArm[]} arms
 * @property {(arm: SummaryArm) => TrialRecord[]} recordsOf
 * @property {(trialId: string) => SidecarSeries[]} seriesOf returns [] for a trial without samples
 * @property {ColourFor} colourFor
 */

/** Forms of charts that only some kinds of trials have: the functions that draw each and make its table. */
const FORMS = {
  overShare: { draw: drawOverShare, tabulate: tables.tabulateShares },
  overSidecars: { draw: drawOverSidecars, tabulate: tables.tabulateMemory },
  overLimit: { draw: drawOverLimit, tabulate: tables.tabulateLimits },
  overAxis: { draw: drawOverAxis, tabulate: tables.tabulateOverAxis },
}

/**
 * Draws all charts of a run, in groups. Arms without a completed or invalid trial are left out.
 * @typedef {'rounds' | 'distributions' | 'overTime' | 'overRate' | keyof typeof FORMS} ChartGroup
 * @param {{ summary: Summary, records: TrialRecord[], seriesOf: (trialId: string) => SidecarSeries[] }} run seriesOf:
 *   gives the series of a trial's sidecars; []: it has no samples
 * @returns {Record<ChartGroup, import('./charts/tables.js').ReportChart[]>} []: the run has nothing for the group
 */
export function drawCharts({ summary, records, seriesOf }) {
  const byArm = groupBy(records, record => record.trial.arm.id)
  const listArmRecords = (/** @type {SummaryArm} */ arm) => byArm.get(arm.id) ?? []
  const arms = listArms(summary).filter(arm => arm.trials.completed + arm.trials.invalid > 0)
  const chooseArmColour = createColours(arms)
  const hasRounds = hasAny(summary, 'hasRounds')
  const kindCharts = listResults(summary).flatMap(
    ({ sections, result }) => sections.charts?.({ result, summary, arms, records, colourFor: chooseArmColour }) ?? [],
  )
  const drawForm = (/** @type {keyof typeof FORMS} */ name) =>
    kindCharts.flatMap(({ form, id, ...chart }) => {
      // Each form has its own type of lines and axes.
      const input = /** @type {any} */ (chart)
      return form === name ? [{ ...FORMS[name].draw(input), id, table: FORMS[name].tabulate(input) }] : []
    })
  const armsWithSeries = arms.filter(arm => findSections(arm).hasSeries !== false)
  const aloneArms = hasRounds ? arms.filter(arm => arm.load.kind !== 'interleaved') : []
  return {
    rounds: hasRounds ? drawRoundsOfResults(summary, { arms, colourFor: chooseArmColour }) : [],
    distributions: drawPercentiles({ arms: aloneArms, recordsOf: listArmRecords, colourFor: chooseArmColour }),
    overRate: drawRates({ summary, arms, colourFor: chooseArmColour }),
    overLimit: drawForm('overLimit'),
    overAxis: drawForm('overAxis'),
    overShare: drawForm('overShare'),
    overSidecars: drawForm('overSidecars'),
    overTime: drawTrials({ arms: armsWithSeries, recordsOf: listArmRecords, seriesOf }),
  }
}

/** Sections of charts, in the order of the page. @type {[ChartGroup, id: string, name: string, legend?: string][]} */
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
 * @returns {Section[]} without charts, a section has no blocks
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
 * @param {Summary} summary
 * @param {Pick<ChartInput, 'arms' | 'colourFor'>} options
 * @returns {import('./charts/tables.js').ReportChart[]} with several results, `part` is the index of the chart's
 */
function drawRoundsOfResults(summary, { arms, colourFor }) {
  return listResults(summary).flatMap(({ result, heading: name }, i) => {
    const resultArms = arms.filter(arm => result.arms.includes(arm))
    const charts = drawQuantities(resultArms, colourFor)
    if (name === undefined) return charts
    return charts.map(chart => ({
      ...chart,
      part: i,
      id: `${chart.id}-${i + 1}`,
      title: `${chart.title}: ${lowerFirstLetter(name)}`,
    }))
  })
}

/**
 * Draws the rounds of each quantity that has a value and, under the load of the arms, a chart.
 * @param {SummaryArm[]} arms
 * @param {ColourFor} colourFor
 * @returns {import('./charts/tables.js').ReportChart[]} []: there are no arms, or no values
 */
function drawQuantities(arms, colourFor) {
  if (arms.length === 0) return []
  const varied = listVariedAxes(arms)
  const { kind } = arms[0].load
  const drawn = Object.values(QUANTITIES).filter(({ chart }) => chart?.kinds.includes(kind))
  return drawn.flatMap(({ name, chart, unit, scale = 1, ...row }) => {
    const { digits = row.digits, ...form } = /** @type {NonNullable<typeof chart>} */ (chart)
    const title = name === 'throughput' && kind === 'closed' ? renderThroughputTitle(arms) : form.title
    const rows = arms.flatMap(arm => {
      const quantity = findQuantity(arm, name)
      if (quantity.median === null) return []
      const label = renderArmLabel(arm, varied)
      const isControl = arm.repeatOf !== null
      return [{ label, colour: colourFor(arm), isControl, quantity: scaleQuantity(quantity, 1 / scale) }]
    })
    const rounds = { title, unit, digits, rows }
    return rows.length === 0
      ? []
      : [{ ...drawRounds(rounds), id: `rounds-${name}`, table: tables.tabulateRounds(rounds) }]
  })
}

/**
 * Renders the title of the rates of a closed loop. A rate is a capacity only if the sidecar was the limit.
 * @param {SummaryArm[]} arms that are drawn
 * @returns {string}
 */
function renderThroughputTitle(arms) {
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null)
  const bound = sidecars.filter(arm => findQuantity(arm, 'capacity').median !== null)
  if (bound.length === 0) return 'Throughput'
  if (bound.length === sidecars.length) return 'Capacity at the cap (without sidecars: throughput)'
  return `Capacity of ${[...new Set(bound.map(renderArmName))].join(', ')}; throughput of the others`
}

/**
 * Multiplies a quantity by a factor.
 * @param {Quantity} quantity
 * @param {number} factor
 * @returns {Quantity}
 */
function scaleQuantity({ median, low, high, values }, factor) {
  const scaleByFactor = (/** @type {number | null} */ value) => (value === null ? null : value * factor)
  return {
    median: scaleByFactor(median),
    low: scaleByFactor(low),
    high: scaleByFactor(high),
    values: values.map(scaleByFactor),
  }
}

/**
 * Draws a typical trial of each arm over time, if it has samples.
 * @param {Pick<ChartInput, 'arms' | 'recordsOf' | 'seriesOf'>} options
 * @returns {import('./charts/tables.js').ReportChart[]}
 */
function drawTrials({ arms, recordsOf, seriesOf }) {
  const varied = listVariedAxes(arms)
  return arms.flatMap((arm, i) => {
    const trialId = chooseTypicalTrial(arm, recordsOf(arm))?.trial.id
    const sidecars = trialId === undefined ? [] : seriesOf(trialId)
    if (trialId === undefined || !sidecars.some(s => s.cores.length > 0)) return []
    const title = `${renderArmLabel(arm, varied)}: CPU and memory over trial ${trialId}`
    const chart = { title, sidecars }
    return [{ ...drawOverTime(chart), id: `over-time-${i + 1}`, table: tables.tabulateSeries(chart) }]
  })
}

/**
 * Chooses the trial whose CPU per request is nearest to the median, else the last with a window.
 * @param {SummaryArm} arm
 * @param {TrialRecord[]} records of the arm
 * @returns {TrialRecord | undefined} undefined: no trial has a window
 */
function chooseTypicalTrial(arm, records) {
  const { median, values } = findQuantity(arm, 'cpuPerRequest')
  const withWindow = records.filter(r => r.window !== null)
  if (median === null) return withWindow.at(-1)
  const distances = values.map(value => (value === null ? Number.POSITIVE_INFINITY : Math.abs(value - median)))
  const round = distances.indexOf(Math.min(...distances)) + 1
  return withWindow.find(r => r.trial.round === round && r.outcome === 'completed') ?? withWindow.at(-1)
}

/**
 * Draws CPU over the rate, if there are two rates: a chart for each combination of the other axes.
 * @param {Pick<ChartInput, 'summary' | 'arms' | 'colourFor'>} options
 * @returns {import('./charts/tables.js').ReportChart[]}
 */
function drawRates({ summary, arms, colourFor }) {
  const open = arms.filter(arm => arm.load.kind === 'open' && arm.sidecars.length > 0 && arm.repeatOf === null)
  const varied = listVariedAxes(arms).filter(name => name !== 'ratePerSecond')
  return [...groupBy(open, arm => createGroupKey(arm, 'ratePerSecond')).values()].flatMap((sameRates, i) => {
    const lines = [...groupBy(sameRates, renderArmName)].map(([label, planeArms]) => {
      const points = planeArms.flatMap(findPoint)
      return { label, colour: colourFor(planeArms[0]), points, fit: findLine(summary, label, points) }
    })
    if (Math.max(...lines.map(line => line.points.length)) < 2) return []
    const title = ['CPU over the rate', renderAxes(sameRates[0], varied)].filter(Boolean).join(': ')
    const chart = { title, lines }
    return [{ ...drawOverRate(chart), id: `over-rate-${i + 1}`, table: tables.tabulateRates(chart) }]
  })
}

/**
 * Finds the point of an arm: its rate and CPU.
 * @param {SummaryArm} arm
 * @returns {{ ratePerSecond: number, millicores: number }[]} one; []: the CPU is unknown
 */
function findPoint(arm) {
  const cores = findQuantity(arm, 'cpuCores').median
  return cores === null ? [] : [{ ratePerSecond: Number(arm.load.ratePerSecond), millicores: 1000 * cores }]
}

/**
 * Finds the line that was fitted to points.
 * @param {Pick<Summary, 'results'>} summary
 * @param {string} name of the plane
 * @param {ReturnType<typeof findPoint>} points
 * @returns {CpuLine | null} null: none was
 */
function findLine({ results }, name, points) {
  const lines = results.flatMap(result => result.lines)
  const isThrough = (/** @type {CpuLine} */ line) =>
    line.points.length === points.length &&
    line.points.every((p, i) => p.ratePerSecond === points[i].ratePerSecond && p.millicores === points[i].millicores)
  return lines.find(line => line.service === null && renderArmName(line) === name && isThrough(line)) ?? null
}

/**
 * Draws one chart of percentiles for each group of arms that differ in the plane alone, with their baselines.
 * @param {Pick<ChartInput, 'arms' | 'recordsOf' | 'colourFor'>} options
 * @returns {import('./charts/tables.js').ReportChart[]} []: no distribution was recorded
 */
function drawPercentiles({ arms, recordsOf, colourFor }) {
  const loaded = arms.filter(arm => arm.load.kind !== 'idle')
  const sidecars = loaded.filter(arm => arm.hasSidecars)
  const groups = groupBy(sidecars.length > 0 ? sidecars : loaded, arm => createGroupKey(arm))
  return [...groups.values()].flatMap((group, i) => {
    const [first] = group
    const baselines = loaded.filter(arm => !group.includes(arm) && isBaselineOf(arm, first))
    const lines = [...baselines, ...group].flatMap(arm => {
      const grid = computeMedianTimes(recordsOf(arm), arm)
      return grid.length > 0 ? [{ label: renderArmName(arm), colour: colourFor(arm), grid }] : []
    })
    if (lines.length === 0) return []
    const isOpen = first.load.kind === 'open'
    const name = isOpen ? 'latency' : `response time at saturation (${first.load.users} users)`
    const subject = `${isOpen ? 'Latency' : 'Response time at saturation'} by percentile`
    const title = [subject, renderAxes(first, listVariedAxes(arms))].filter(Boolean).join(': ')
    const chart = { title, name, lines }
    return [{ ...drawDistributions(chart), id: `distribution-${i + 1}`, table: tables.tabulateLines(chart) }]
  })
}

/**
 * Computes, for each quantile, the median of its values in the rounds. Quantiles for which all rounds together have
 * too few requests are left out.
 * @param {TrialRecord[]} records of one arm
 * @param {SummaryArm} arm
 * @returns {[number, number][]} quantile (0 to 1), ms
 */
function computeMedianTimes(records, { load }) {
  const use = chooseRequiredUse(QUANTITIES.p99, load)
  const rounds = [...groupBy(records, r => r.trial.round).values()]
  const requests = records.reduce((sum, r) => sum + (r.load?.verified ?? 0), 0)
  const quantiles = records.find(r => r.load?.distribution)?.load?.distribution?.grid.map(([q]) => q) ?? []
  return quantiles.flatMap(q => {
    if (!hasTail(requests, q)) return []
    const { median } = summariseValues(rounds.map(trials => findRoundValue(trials, use, r => findQuantileMs(r, q))))
    return median === null ? [] : [/** @type {[number, number]} */ ([q, median])]
  })
}

/**
 * Creates the function that gives each arm the index of its colour: 0 without sidecars, else from 1; arms of one name
 * share a colour.
 * @param {Parameters<ColourFor>[0][]} [arms] that take the first colours; further ones take the next as they come
 * @returns {ColourFor}
 */
export function createColours(arms = []) {
  /** @type {Map<string, number>} */
  const colours = new Map()
  /** @type {ColourFor} */
  const chooseArmColour = arm => {
    if (!arm.hasSidecars) return 0
    const name = renderArmName({ ...arm, repeatOf: null })
    const colour = colours.get(name) ?? colours.size + 1
    colours.set(name, colour)
    return colour
  }
  for (const arm of arms) chooseArmColour(arm)
  return chooseArmColour
}
