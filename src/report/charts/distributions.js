import { colourOf, GRID, MUTED } from './palette.js'
import { createAxis, createLinesOption, shorten } from './style.js'

/**
 * Latency by percentile, the axis stretched towards the tail: each step to the right is ten times as rare. Pure.
 * @import { Chart } from './style.js'
 */

const PERCENTILES = [0.5, 0.9, 0.99, 0.999]
const LOGARITHMIC_FROM = 20

/** The number of nines of a quantile: 0.99 has two. @param {number} quantile */
const ninesOf = quantile => shorten(-Math.log10(1 - quantile))

/** @param {number} quantile */
const nameOf = quantile => `p${Number((100 * quantile).toFixed(2))}`

/**
 * @param {{ title: string, name: string, lines: { label: string, colour: number, grid: [number, number][] }[] }} given
 *   name: of the times, `latency` or `response time at saturation`; grid: [quantile, milliseconds], rising
 * @returns {Chart}
 */
export function drawDistributions({ title, name, lines }) {
  const most = PERCENTILES.at(-1) ?? 1
  const shown = lines.map(line => ({ ...line, grid: line.grid.filter(([q]) => q > 0 && q <= most + 1e-9) }))
  const times = shown.flatMap(({ grid }) => grid.map(([, ms]) => ms)).filter(ms => ms > 0)
  const isLogarithmic = Math.max(...times) > LOGARITHMIC_FROM * Math.min(...times)
  return {
    title,
    description: `${title}. ${shown.map(sayLine).join('; ')}.`,
    height: 340,
    option: createLinesOption({
      lines: shown,
      bottom: 40,
      tooltip: { trigger: 'item', confine: true, formatter: '{a}: {b}' },
      xAxis: createAxis({
        type: 'value',
        min: 0,
        max: ninesOf(most),
        name: 'percentile',
        nameGap: 26,
        axisLabel: { show: false },
        splitLine: { show: false },
      }),
      yAxis: createAxis({ type: isLogarithmic ? 'log' : 'value', name: `${name}, ms`, nameGap: 46 }),
      series: shown.map(({ label, colour, grid }, i) => ({
        type: 'line',
        name: label,
        symbolSize: 7,
        showAllSymbol: true,
        color: colourOf(colour),
        lineStyle: { width: 2, type: ['solid', 'dashed', 'dotted'][i % 3] },
        data: grid.map(([quantile, ms]) => ({
          value: [ninesOf(quantile), shorten(ms)],
          name: `${nameOf(quantile)}, ${shorten(ms)} ms`,
          // A mark at each of a hundred points would hide the line.
          ...(PERCENTILES.some(q => Math.abs(q - quantile) < 1e-9) ? {} : { symbol: 'none' }),
        })),
        ...(i === 0 ? { markLine: MARKS } : {}),
      })),
    }),
  }
}

// The percentiles that have names, in the place of the axis's own labels.
const MARKS = {
  silent: true,
  symbol: 'none',
  lineStyle: { color: GRID, type: 'solid' },
  data: PERCENTILES.map(quantile => ({
    xAxis: ninesOf(quantile),
    label: { formatter: nameOf(quantile), position: 'start', distance: 6, color: MUTED },
  })),
}

/** @param {{ label: string, grid: [number, number][] }} line */
function sayLine({ label, grid }) {
  const at = (/** @type {number} */ quantile) => grid.find(([q]) => Math.abs(q - quantile) < 1e-9)?.[1]
  const told = PERCENTILES.flatMap(quantile => {
    const ms = at(quantile)
    return ms === undefined ? [] : [`${nameOf(quantile)} ${shorten(ms)} ms`]
  })
  return `${label}: ${told.length > 0 ? told.join(', ') : 'no values'}`
}
