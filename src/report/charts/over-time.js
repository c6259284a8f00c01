import { MIB } from '../../lib/units.js'
import {
  chooseColour,
  chooseDash,
  createAxis,
  createChartOption,
  createChartSeries,
  createLegend,
  LIMIT,
  roundToFourDigits,
} from './style.js'

/**
 * Draws CPU and memory of each sidecar over one trial, with the CPU limit and the times when the quota was used up. Also runs in
 * browsers. Pure.
 * @import { SidecarSeries } from '../../judge/sidecars.js'
 * @import { Chart } from './style.js'
 */

// The axis ends at the first and the last sample. Their times are no round numbers, so the ends have no labels.
const WITHOUT_END_LABELS = { showMinLabel: false, showMaxLabel: false }

/**
 * Draws CPU, and below it anonymous memory, with a line for each sidecar.
 * @param {{ title: string, sidecars: SidecarSeries[] }} options
 * @returns {Chart}
 */
export function drawOverTime({ title, sidecars }) {
  const caps = [...new Set(sidecars.flatMap(({ cpuLimitCores }) => cpuLimitCores ?? []))]
  return {
    title,
    description: `${title}. ${sidecars.map(renderPeaks).join('; ')}.`,
    height: 420,
    option: createChartOption({
      legend: createLegend(sidecars.map(({ service }) => service)),
      grid: [
        { left: 58, right: 24, top: 34, height: 180 },
        { left: 58, right: 24, top: 262, height: 110 },
      ],
      axisPointer: { link: [{ xAxisIndex: 'all' }] },
      tooltip: { trigger: 'axis', confine: true },
      xAxis: createTimeAxes(),
      yAxis: [
        createCoresAxis(sidecars, caps),
        createAxis({ gridIndex: 1, min: 0, name: 'anonymous MiB', nameGap: 42, splitNumber: 3 }),
      ],
      series: sidecars.flatMap((sidecar, i) => drawSidecar(sidecar, { index: i, caps: i === 0 ? caps : [] })),
    }),
  }
}

/** Creates the axes of time below CPU and memory. @returns {Record<string, any>[]} */
function createTimeAxes() {
  const range = { min: 'dataMin', max: 'dataMax' }
  const name = 'seconds from the start of the window'
  return [
    createAxis({ gridIndex: 0, ...range, axisLabel: { show: false } }),
    createAxis({ gridIndex: 1, ...range, axisLabel: WITHOUT_END_LABELS, name, nameGap: 26 }),
  ]
}

/**
 * Creates the axis of CPU, which also includes a CPU limit that no sidecar reached.
 * @param {SidecarSeries[]} sidecars
 * @param {number[]} caps cores
 * @returns {Record<string, any>}
 */
function createCoresAxis(sidecars, caps) {
  const largest = Math.max(...caps, ...sidecars.flatMap(({ cores }) => cores.map(([, value]) => value)))
  const end = caps.includes(largest) ? { max: roundToFourDigits(1.1 * largest) } : {}
  return createAxis({ gridIndex: 0, min: 0, name: 'CPU cores', nameGap: 42, ...end })
}

/**
 * Draws the CPU of a sidecar, with the stretches in which its quota was used up, and its memory.
 * @param {SidecarSeries} sidecar
 * @param {{ index: number, caps: number[] }} options index: of the sidecar; caps: CPU limits to draw as lines, in cores
 * @returns {Record<string, any>[]} two series of ECharts
 */
function drawSidecar({ service, cores, anonBytes, throttled }, { index, caps }) {
  const lineStyle = { width: 1.5, type: chooseDash(index) }
  const line = { label: service, colour: index + 1, symbol: 'none', lineStyle }
  const markArea = {
    silent: true,
    itemStyle: { color: chooseColour(index + 1), opacity: 0.12 },
    data: throttled.map(([from, to]) => [{ xAxis: roundToFourDigits(from) }, { xAxis: roundToFourDigits(to) }]),
  }
  const marks = caps.length > 0 ? { markArea, markLine: drawCaps(caps) } : { markArea }
  return [
    createChartSeries('line', { ...line, data: scalePoints(cores), ...marks }),
    createChartSeries('line', { ...line, xAxisIndex: 1, yAxisIndex: 1, data: scalePoints(anonBytes, MIB) }),
  ]
}

/**
 * Rounds points to four digits, after dividing their values by a unit.
 * @param {[number, number][]} points seconds and value
 * @param {number} [unit] 1 by default
 * @returns {number[][]}
 */
function scalePoints(points, unit = 1) {
  return points.map(([seconds, value]) => [roundToFourDigits(seconds), roundToFourDigits(value / unit)])
}

/** Draws a dashed line with a label at each CPU limit. @param {number[]} caps cores @returns {object} a `markLine` of ECharts */
function drawCaps(caps) {
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { color: LIMIT, type: 'dashed', width: 1.5 },
    data: caps.map(cap => ({
      yAxis: cap,
      label: { formatter: `cap ${cap}`, position: 'insideEndTop', color: LIMIT },
    })),
  }
}

/** Sums the lengths of stretches of time. @param {SidecarSeries['throttled']} stretches @returns {number} seconds */
export function sumSeconds(stretches) {
  return stretches.reduce((sum, [from, to]) => sum + to - from, 0)
}

/**
 * Renders the largest CPU use and memory of a sidecar (0 without samples), its CPU limit, and the time without quota.
 * @param {SidecarSeries} sidecar
 * @returns {string}
 */
function renderPeaks({ service, cpuLimitCores, cores, anonBytes, throttled }) {
  const findLargest = (/** @type {[number, number][]} */ points) =>
    points.reduce((largest, [, value]) => Math.max(largest, value), 0)
  return [
    `${service}: at most ${roundToFourDigits(findLargest(cores))} cores`,
    cpuLimitCores === null ? 'no cap' : `cap ${cpuLimitCores}`,
    `in ${roundToFourDigits(sumSeconds(throttled))} s its quota was used up`,
    `at most ${roundToFourDigits(findLargest(anonBytes) / MIB)} MiB anonymous`,
  ].join(', ')
}
