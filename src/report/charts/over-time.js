import { MIB } from '../../lib/units.js'
import { colourOf, LIMIT } from './palette.js'
import { createAxis, createLegend, createOption, shorten } from './style.js'

/**
 * CPU and memory of each sidecar over one trial, with the cap and the times at which its quota was used up. Runs in
 * browsers, too. Pure.
 * @import { SidecarSeries } from '../../judge/sidecars.js'
 * @import { Chart } from './style.js'
 */

// Its ends are no round numbers.
const ENDS = { showMinLabel: false, showMaxLabel: false }

/** @param {{ title: string, sidecars: SidecarSeries[] }} given @returns {Chart} */
export function drawOverTime({ title, sidecars }) {
  const caps = [...new Set(sidecars.flatMap(({ capCores }) => capCores ?? []))]
  const names = sidecars.map(({ service }) => service)
  // A cap that nobody reached is to be seen, too.
  const most = Math.max(...caps, ...sidecars.flatMap(({ cores }) => cores.map(([, v]) => v)))
  const isUnreached = caps.includes(most)
  const points = (/** @type {[number, number][]} */ series, scale = 1) =>
    series.map(([seconds, value]) => [shorten(seconds), shorten(value / scale)])
  return {
    title,
    description: `${title}. ${sidecars.map(saySidecar).join('; ')}.`,
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
        createAxis({ type: 'value', gridIndex: 0, min: 'dataMin', max: 'dataMax', axisLabel: { show: false } }),
        createAxis({
          type: 'value',
          gridIndex: 1,
          min: 'dataMin',
          max: 'dataMax',
          axisLabel: ENDS,
          name: 'seconds from the start of the window',
          nameGap: 26,
        }),
      ],
      yAxis: [
        createAxis({
          type: 'value',
          gridIndex: 0,
          min: 0,
          name: 'CPU cores',
          nameGap: 42,
          ...(isUnreached ? { max: shorten(1.1 * most) } : {}),
        }),
        createAxis({ type: 'value', gridIndex: 1, min: 0, name: 'anonymous MiB', nameGap: 42, splitNumber: 3 }),
      ],
      series: sidecars.flatMap(({ service, cores, anonBytes, throttled }, i) => [
        {
          type: 'line',
          name: service,
          symbol: 'none',
          color: colourOf(i + 1),
          lineStyle: { width: 1.5, type: ['solid', 'dashed', 'dotted'][i % 3] },
          data: points(cores),
          markArea: {
            silent: true,
            itemStyle: { color: colourOf(i + 1), opacity: 0.12 },
            data: throttled.map(([from, to]) => [{ xAxis: shorten(from) }, { xAxis: shorten(to) }]),
          },
          ...(i === 0 && caps.length > 0 ? { markLine: drawCaps(caps) } : {}),
        },
        {
          type: 'line',
          name: service,
          symbol: 'none',
          color: colourOf(i + 1),
          xAxisIndex: 1,
          yAxisIndex: 1,
          lineStyle: { width: 1.5, type: ['solid', 'dashed', 'dotted'][i % 3] },
          data: points(anonBytes, MIB),
        },
      ]),
    }),
  }
}

/** @param {number[]} caps */
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

/** @param {SidecarSeries} sidecar */
function saySidecar({ service, capCores, cores, anonBytes, throttled }) {
  const most = (/** @type {[number, number][]} */ points) => points.reduce((high, [, v]) => Math.max(high, v), 0)
  const stopped = throttled.reduce((sum, [from, to]) => sum + to - from, 0)
  return [
    `${service}: at most ${shorten(most(cores))} cores`,
    capCores === null ? 'no cap' : `cap ${capCores}`,
    `in ${shorten(stopped)} s its quota was used up`,
    `at most ${shorten(most(anonBytes) / MIB)} MiB anonymous`,
  ].join(', ')
}
