import { MIB } from '../../lib/units.js'
import {
  chooseColour,
  chooseDash,
  createAxis,
  createLegend,
  createOption,
  createSeries,
  LIMIT,
  roundToFourDigits,
} from './style.js'

/**
 * Draws CPU and memory of each sidecar over one trial, with the CPU limit and the times when the quota was used up. Also runs in
 * browsers. Pure.
 * @import { SidecarSeries } from '../../judge/sidecars.js'
 * @import { Chart } from './style.js'
 */

// The axis ends at the first and last sample, which are no round numbers: they have no labels.
const ENDS = { showMinLabel: false, showMaxLabel: false }

/**
 * Draws CPU, and below it anonymous memory, with a line for each sidecar.
 * @param {{ title: string, sidecars: SidecarSeries[] }} options
 * @returns {Chart}
 */
export function drawOverTime({ title, sidecars }) {
  const caps = [...new Set(sidecars.flatMap(({ cpuLimitCores }) => cpuLimitCores ?? []))]
  const names = sidecars.map(({ service }) => service)
  // The axis must include a limit that no sidecar reached.
  const largestCores = Math.max(...caps, ...sidecars.flatMap(({ cores }) => cores.map(([, v]) => v)))
  const isUnreached = caps.includes(largestCores)
  const wholeRange = { min: 'dataMin', max: 'dataMax' }
  const scalePoints = (/** @type {[number, number][]} */ series, scale = 1) =>
    series.map(([seconds, value]) => [roundToFourDigits(seconds), roundToFourDigits(value / scale)])
  return {
    title,
    description: `${title}. ${sidecars.map(renderPeaks).join('; ')}.`,
    height: 420,
    option: createOption({
      legend: createLegend(names),
      grid: [
        { left: 58, right: 24, top: 34, height: 180 },
        { left: 58, right: 24, top: 262, height: 110 },
      ],
      axisPointer: { link: [{ xAxisIndex: 'all' }] },
      tooltip: { trigger: 'axis', confine: true },
      xAxis: [
        createAxis({ gridIndex: 0, ...wholeRange, axisLabel: { show: false } }),
        createAxis({
          gridIndex: 1,
          ...wholeRange,
          axisLabel: ENDS,
          name: 'seconds from the start of the window',
          nameGap: 26,
        }),
      ],
      yAxis: [
        createAxis({
          gridIndex: 0,
          min: 0,
          name: 'CPU cores',
          nameGap: 42,
          ...(isUnreached && { max: roundToFourDigits(1.1 * largestCores) }),
        }),
        createAxis({ gridIndex: 1, min: 0, name: 'anonymous MiB', nameGap: 42, splitNumber: 3 }),
      ],
      series: sidecars.flatMap(({ service, cores, anonBytes, throttled }, i) => {
        const lineStyle = { width: 1.5, type: chooseDash(i) }
        const line = { label: service, colour: i + 1, symbol: 'none', lineStyle }
        const markArea = {
          silent: true,
          itemStyle: { color: chooseColour(i + 1), opacity: 0.12 },
          data: throttled.map(([from, to]) => [{ xAxis: roundToFourDigits(from) }, { xAxis: roundToFourDigits(to) }]),
        }
        const marks = i === 0 && caps.length > 0 ? { markArea, markLine: drawCaps(caps) } : { markArea }
        return [
          createSeries('line', { ...line, data: scalePoints(cores), ...marks }),
          createSeries('line', { ...line, xAxisIndex: 1, yAxisIndex: 1, data: scalePoints(anonBytes, MIB) }),
        ]
      }),
    }),
  }
}

/** Draws a dashed line with a label at each CPU limit. @param {number[]} caps cores @returns {object} a markLine of ECharts */
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

/** Sums stretches of time. @param {SidecarSeries['throttled']} stretches @returns {number} seconds */
export function sumSeconds(stretches) {
  return stretches.reduce((sum, [from, to]) => sum + to - from, 0)
}

/**
 * Renders the largest CPU use and memory of a sidecar, its CPU limit, and the time without quota.
 * @param {SidecarSeries} sidecar
 * @returns {string}
 */
function renderPeaks({ service, cpuLimitCores, cores, anonBytes, throttled }) {
  const findMost = (/** @type {[number, number][]} */ points) => points.reduce((high, [, v]) => Math.max(high, v), 0)
  return [
    `${service}: at most ${roundToFourDigits(findMost(cores))} cores`,
    cpuLimitCores === null ? 'no cap' : `cap ${cpuLimitCores}`,
    `in ${roundToFourDigits(sumSeconds(throttled))} s its quota was used up`,
    `at most ${roundToFourDigits(findMost(anonBytes) / MIB)} MiB anonymous`,
  ].join(', ')
}
