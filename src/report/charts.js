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
 * Draws all charts of a run, in groups; groups that the run has nothing for are empty. Arms without a trial that ended are left out.
 * @typedef {'rounds' | 'distributions' | 'overTime' | 'overRate' | keyof typeof FORMS} ChartGroup
 * @param {{ summary: Summary, records: TrialRecord[], seriesOf: (trialId: string) => SidecarSeries[] }} run
 * @returns {Record<ChartGroup, import('./charts/tables.js').ReportChart[]>}
 */
export function drawCharts({ summary, records, seriesOf }) {
  const byArm = groupBy(records, record => record.trial.arm.id)
  const listArmRecords = (/** @type {SummaryArm} */ arm) => byArm.get(arm.id) ?? []
  const arms = listArms(summary).filter(arm => arm.trials.completed + arm.trials.invalid > 0)
  const chooseArmColour = createColours(arms)
  const hasRounds = hasAny(summary, 'hasRounds')
  const ofKinds = listResults(summary).flatMap(
    ({ sections, result }) => sections.charts?.({ result, summary, arms, records, colourFor: chooseArmColour }) ?? [],
  )
  const drawForm = (/** @type {keyof typeof FORMS} */ name) =>
    ofKinds.flatMap(({ form, id, ...chart }) => {
      // Each form has its own type of lines and axes.
      const input = /** @type {any} */ (chart)
      return form === name ? [{ ...FORMS[name].draw(input), id, table: FORMS[name].tabulate(input) }] : []
    })
  const inTime = arms.filter(arm => findSections(arm).hasSeries !== false)
  const atOnce = hasRounds ? arms.filter(arm => arm.load.kind !== 'interleaved') : []
  return {
    rounds: hasRounds ? drawKinds(summary, { arms, colourFor: chooseArmColour }) : [],
    distributions: drawPercentiles({ arms: atOnce, recordsOf: listArmRecords, colourFor: chooseArmColour }),
    overRate: drawRates({ summary, arms, colourFor: chooseArmColour }),
    overLimit: drawForm('overLimit'),
    overAxis: drawForm('overAxis'),
    overShare: drawForm('overShare'),
    overSidecars: drawForm('overSidecars'),
    overTime: drawTrials({ arms: inTime, recordsOf: listArmRecords, seriesOf }),
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
 * Makes a section for each group of charts but the rounds, which stand beside their table.
 * @param {ReturnType<typeof drawCharts>} groups
 * @returns {Section[]} those without charts have no blocks
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
 * Draws the rounds of each result; with several results, `part` is the index of the chart's.
 * @param {Summary} summary
 * @param {Pick<ChartInput, 'arms' | 'colourFor'>} options
 */
function drawKinds(summary, { arms, colourFor }) {
  return listResults(summary).flatMap(({ result: { arms: all }, heading: name }, i) => {
    const ofLoad = arms.filter(arm => all.includes(arm))
    const charts = drawQuantities(ofLoad, colourFor)
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
 * Renders the title of the rates of a closed loop: a rate is a capacity only if the sidecar was the limit.
 * @param {SummaryArm[]} arms
 */
function renderThroughputTitle(arms) {
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.repeatOf === null)
  const bound = sidecars.filter(arm => findQuantity(arm, 'capacity').median !== null)
  if (bound.length === 0) return 'Throughput'
  if (bound.length === sidecars.length) return 'Capacity at the cap (without sidecars: throughput)'
  return `Capacity of ${[...new Set(bound.map(renderArmName))].join(', ')}; throughput of the others`
}

/**
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
 * Chooses the trial whose CPU per request is nearest to the median, else the last with a window; undefined: none has.
 * @param {SummaryArm} arm
 * @param {TrialRecord[]} records
 */
function chooseTypicalTrial(arm, records) {
  const { median, values } = findQuantity(arm, 'cpuPerRequest')
  const whole = records.filter(r => r.window !== null)
  if (median === null) return whole.at(-1)
  const distances = values.map(value => (value === null ? Number.POSITIVE_INFINITY : Math.abs(value - median)))
  const round = distances.indexOf(Math.min(...distances)) + 1
  return whole.find(r => r.trial.round === round && r.outcome === 'completed') ?? whole.at(-1)
}

/**
 * Draws CPU over the rate, if there are two rates: a chart for each combination of the other axes.
 * @param {Pick<ChartInput, 'summary' | 'arms' | 'colourFor'>} options
 */
function drawRates({ summary, arms, colourFor }) {
  const open = arms.filter(arm => arm.load.kind === 'open' && arm.sidecars.length > 0 && arm.repeatOf === null)
  const varied = listVariedAxes(arms).filter(name => name !== 'ratePerSecond')
  return [...groupBy(open, arm => createGroupKey(arm, 'ratePerSecond')).values()].flatMap((sameRates, i) => {
    const lines = [...groupBy(sameRates, renderArmName)].map(([label, same]) => {
      const points = same.flatMap(findPoint)
      return { label, colour: colourFor(same[0]), points, fit: findLine(summary, label, points) }
    })
    if (Math.max(...lines.map(line => line.points.length)) < 2) return []
    const title = ['CPU over the rate', renderAxes(sameRates[0], varied)].filter(Boolean).join(': ')
    const chart = { title, lines }
    return [{ ...drawOverRate(chart), id: `over-rate-${i + 1}`, table: tables.tabulateRates(chart) }]
  })
}

/**
 * Finds the point of an arm: its rate and CPU; empty: the CPU is not known.
 * @param {SummaryArm} arm
 */
function findPoint(arm) {
  const cores = findQuantity(arm, 'cpuCores').median
  return cores === null ? [] : [{ ratePerSecond: Number(arm.load.ratePerSecond), millicores: 1000 * cores }]
}

/**
 * Finds the line that was fitted to these points; null: none was.
 * @param {Pick<Summary, 'results'>} summary
 * @param {string} name of the plane
 * @param {ReturnType<typeof findPoint>} points
 */
function findLine({ results }, name, points) {
  const lines = results.flatMap(result => result.lines)
  const isThrough = (/** @type {CpuLine} */ line) =>
    line.points.length === points.length &&
    line.points.every((p, i) => p.ratePerSecond === points[i].ratePerSecond && p.millicores === points[i].millicores)
  return lines.find(line => line.service === null && renderArmName(line) === name && isThrough(line)) ?? null
}

/**
 * Draws the percentiles of each link, cap and load: of the sidecars and their baseline, if there are sidecars.
 * @param {Pick<ChartInput, 'arms' | 'recordsOf' | 'colourFor'>} options
 */
function drawPercentiles({ arms, recordsOf, colourFor }) {
  const loaded = arms.filter(arm => arm.load.kind !== 'idle')
  const sidecars = loaded.filter(arm => arm.hasSidecars)
  const groups = groupBy(sidecars.length > 0 ? sidecars : loaded, arm => createGroupKey(arm))
  return [...groups.values()].flatMap((group, i) => {
    const [first] = group
    const baselines = loaded.filter(arm => !group.includes(arm) && isBaselineOf(arm, first))
    const lines = [...baselines, ...group].flatMap(arm => {
      const grid = findMedianTimes(recordsOf(arm), arm)
      return grid.length > 0 ? [{ label: renderArmName(arm), colour: colourFor(arm), grid }] : []
    })
    if (lines.length === 0) return []
    const isOpen = first.load.kind === 'open'
    const name = isOpen ? 'latency' : `response time at saturation (${first.load.users} users)`
    const what = `${isOpen ? 'Latency' : 'Response time at saturation'} by percentile`
    const title = [what, renderAxes(first, listVariedAxes(arms))].filter(Boolean).join(': ')
    const chart = { title, name, lines }
    return [{ ...drawDistributions(chart), id: `distribution-${i + 1}`, table: tables.tabulateLines(chart) }]
  })
}

/**
 * Finds, for each percentile, the median of its values in the rounds. Percentiles for which all rounds together have too
 * few requests are left out.
 * @param {TrialRecord[]} records of one arm
 * @param {SummaryArm} arm
 * @returns {[number, number][]} [quantile, ms]
 */
function findMedianTimes(records, { load }) {
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
 * Makes the function that gives each arm the index of its colour: 0 without sidecars, else from 1, the same for arms of one name.
 * @param {Parameters<ColourFor>[0][]} [arms] that take the first colours; later ones take the next as they come
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
