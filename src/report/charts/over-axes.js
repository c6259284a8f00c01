import { MIB } from '../../lib/units.js'
import {
  chooseDash,
  createAxis,
  createAxisBelow,
  createAxisBeside,
  createChartSeries,
  createLineChart,
  roundToFourDigits,
} from './style.js'

/** Draws lines of planes over CPU limits, rates, sidecars and other axes. Pure. @import { Chart } from './style.js' */

/**
 * The sizing of a plane: its trials, and its answers.
 * @typedef {object} LimitLine
 * @property {string} label
 * @property {number} colour
 * @property {{ cores: number, ratePerSecond: number, isHeld: boolean }[]} points one for each trial
 * @property {{ cores: number, ratePerSecond: number, p99Ms: number | null }[]} answers p99Ms: null: not measured
 */
/**
 * The CPU of an arm's sidecars at each rate.
 * @typedef {object} RateLine
 * @property {string} label
 * @property {number} colour
 * @property {{ ratePerSecond: number, millicores: number }[]} points
 * @property {{ baseMillicores: number, slopeMillicoresPerRequestPerSecond: number } | null} fit null: no line was fitted
 */
/**
 * The share of sidecars that have a configuration. curve: pairs of seconds and fraction; []: no sidecar has it.
 * @typedef {{ label: string, colour: number, curve: [number, number][] }} ShareLine
 */
/** @typedef {{ label: string, colour: number, points: { at: number, value: number }[] }} AxisLine at: the position on the axis below */
/**
 * @typedef {{ label: string, colour: number,
 *   memory: NonNullable<import('../../model/types.ts').GrowthFit['memory']> }} MemoryLine memory of a control plane, with at least one
 *   point
 */

/**
 * Draws the rate that sidecars answered at each CPU limit of a sizing. A point is a trial, filled if it held; a
 * diamond is an answer.
 * @param {{ title: string, lines: LimitLine[] }} options
 * @returns {Chart}
 */
export function drawOverLimit({ title, lines }) {
  const renderHeldRate = (/** @type {LimitLine['answers'][0]} */ { cores, ratePerSecond, p99Ms }) =>
    `${cores} cores hold ${ratePerSecond} requests/s${p99Ms === null ? '' : ` with a p99 of ${p99Ms.toFixed(1)} ms`}`
  const renderLine = (/** @type {LimitLine} */ { label, points, answers }) =>
    `${label}: ${points.length} trials, ${answers.map(renderHeldRate).join(', ') || 'no answer'}`
  return createLineChart(
    { title, lines, renderLine },
    {
      xAxis: createAxis({ type: 'log', name: 'CPU limit of each sidecar, cores', nameGap: 26 }),
      yAxis: createAxisBeside('requests/s'),
      series: lines.flatMap(({ label, colour, points, answers }) => {
        const trials = points.map(({ cores, ratePerSecond, isHeld }) => ({
          value: [roundToFourDigits(cores), roundToFourDigits(ratePerSecond)],
          name: `${label} at ${cores} cores: ${ratePerSecond.toFixed(0)} requests/s, ${isHeld ? 'held' : 'failed'}`,
          ...(isHeld ? {} : { symbol: 'emptyCircle' }),
        }))
        const diamonds = answers.map(answer => ({
          value: [roundToFourDigits(answer.cores), roundToFourDigits(answer.ratePerSecond)],
          name: `${label}: ${renderHeldRate(answer)}`,
        }))
        return [
          createChartSeries('scatter', { label, colour, symbolSize: 9, data: trials }),
          createChartSeries('scatter', { label, colour, symbol: 'diamond', symbolSize: 18, data: diamonds }),
        ]
      }),
    },
  )
}

/**
 * Draws the CPU of all sidecars over the rate, with the lines that were fitted.
 * @param {{ title: string, lines: RateLine[] }} options
 * @returns {Chart}
 */
export function drawOverRate({ title, lines }) {
  const fittedLines = lines.map(({ label, colour, points, fit }) => ({
    label,
    colour,
    summary: points.map(p => `${p.millicores.toFixed(0)} millicores at ${p.ratePerSecond}/s`).join(', '),
    points: points.map(({ ratePerSecond: at, millicores: value }) => {
      return { at, value, name: `${label} at ${at}/s: ${value.toFixed(0)} millicores` }
    }),
    computeFitted:
      fit && ((/** @type {number} */ at) => fit.baseMillicores + fit.slopeMillicoresPerRequestPerSecond * at),
  }))
  return drawFittedLines({
    title,
    axes: ['requests/s', 'millicores of all sidecars'],
    symbolSize: 9,
    lines: fittedLines,
  })
}

/**
 * Draws the memory of a control plane over the number of its sidecars, with the fitted lines.
 * @param {{ title: string, lines: MemoryLine[] }} options
 * @returns {Chart}
 */
export function drawOverSidecars({ title, lines }) {
  const fittedLines = lines.map(({ label, colour, memory: { points, baseBytes, bytesPerSidecar } }) => {
    const last = points[points.length - 1]
    const slope = `${(baseBytes / MIB).toFixed(1)} MiB and ${(bytesPerSidecar / 1000).toFixed(1)} kB a sidecar`
    return {
      label,
      colour,
      summary: `${slope}, ${(last.bytes / MIB).toFixed(1)} MiB at ${last.sidecars}`,
      points: points.map(({ sidecars: at, bytes }) => {
        return { at, value: bytes / MIB, name: `${label}, ${at} sidecars: ${(bytes / MIB).toFixed(1)} MiB` }
      }),
      computeFitted: (/** @type {number} */ at) => (baseBytes + bytesPerSidecar * at) / MIB,
    }
  })
  return drawFittedLines({
    title,
    axes: ['sidecars', 'MiB of the control plane'],
    symbolSize: 7,
    lines: fittedLines,
  })
}

/**
 * Draws a quantity over an axis, with lines between the points.
 * @param {{ title: string, axes: [string, string], lines: AxisLine[] }} options axes: the name of the axis below, and
 *   the unit beside
 * @returns {Chart}
 */
export function drawQuantityOverAxis({ title, axes: [below, beside], lines }) {
  const renderLine = (/** @type {AxisLine} */ { label, points }) =>
    `${label}: ${points.map(({ at, value }) => `${roundToFourDigits(value)} at ${at}`).join(', ')}`
  return createLineChart(
    { title, lines, renderLine },
    {
      xAxis: createAxisBelow(below),
      yAxis: createAxisBeside(beside),
      series: lines.map(({ label, colour, points }) => {
        const data = points.map(({ at, value }) => ({
          value: [at, roundToFourDigits(value)],
          name: `${label}, ${at} ${below}: ${roundToFourDigits(value)} ${beside}`,
        }))
        return createChartSeries('line', { label, colour, symbolSize: 7, data })
      }),
    },
  )
}

/**
 * Points, and the line that was fitted to them.
 * @typedef {object} FittedLine
 * @property {string} label
 * @property {number} colour
 * @property {string} summary the line in words
 * @property {{ at: number, value: number, name: string }[]} points
 * @property {((at: number) => number) | null} computeFitted computes the value of the fitted line; null: there is no line
 */

/**
 * Draws points, and the fitted line, if there is one, from the first to the last of them.
 * @param {{ title: string, axes: [string, string], symbolSize: number, lines: FittedLine[] }} options axes: the names
 *   below and beside
 * @returns {Chart}
 */
function drawFittedLines({ title, axes: [below, beside], symbolSize, lines }) {
  const style = { symbol: 'none', silent: true, lineStyle: { type: 'dashed', width: 1.5 } }
  return createLineChart(
    { title, lines, renderLine: ({ label, summary }) => `${label}: ${summary}` },
    {
      xAxis: createAxisBelow(below),
      yAxis: createAxisBeside(beside),
      series: lines.flatMap(({ label, colour, points, computeFitted }) => {
        const data = points.map(({ at, value, name }) => ({ value: [at, roundToFourDigits(value)], name }))
        const pointSeries = createChartSeries('scatter', { label, colour, symbolSize, data })
        if (computeFitted === null) return [pointSeries]
        const positions = points.map(({ at }) => at)
        const [first, last] = [Math.min(...positions), Math.max(...positions)]
        const ends = [first, last].map(at => [at, roundToFourDigits(computeFitted(at))])
        return [pointSeries, createChartSeries('line', { label, colour, data: ends, ...style })]
      }),
    },
  )
}

/**
 * Draws, over seconds, the share of the real sidecars that have a configuration, as steps from 0 on.
 * @param {{ title: string, lines: ShareLine[] }} options
 * @returns {Chart}
 */
export function drawShareOverTime({ title, lines }) {
  const renderLine = (/** @type {ShareLine} */ { label, curve }) => {
    const last = curve.at(-1)
    return `${label}: ${last ? `${roundToFourDigits(100 * last[1])} % after ${roundToFourDigits(last[0])} s` : 'none'}`
  }
  return createLineChart(
    { title, lines, renderLine },
    {
      xAxis: createAxisBelow('seconds'),
      yAxis: createAxisBeside('% of the real sidecars', { max: 100 }),
      series: lines.map(({ label, colour, curve }, i) => {
        const data = [
          [0, 0],
          ...curve.map(([seconds, share]) => [roundToFourDigits(seconds), roundToFourDigits(100 * share)]),
        ]
        const lineStyle = { width: 1.5, type: chooseDash(i) }
        return createChartSeries('line', { label, colour, symbol: 'none', step: 'end', lineStyle, data })
      }),
    },
  )
}
