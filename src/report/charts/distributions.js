import {
  chooseDash,
  createAxis,
  createAxisBelow,
  createChartSeries,
  createLineChart,
  GRID,
  MUTED,
  roundToFourDigits,
} from './style.js'

/**
 * Draws latency by percentile. Each step to the right, towards the tail, is ten times as rare. Pure.
 * @import { Chart } from './style.js'
 */

/** @typedef {{ label: string, colour: number, grid: [number, number][] }} TimesLine grid: [quantile, ms], rising */

const PERCENTILES = [0.5, 0.9, 0.99, 0.999]
/** Times that differ by more than this factor get a logarithmic axis: on a linear one, lines of short times coincide. */
const LOGARITHMIC_FROM = 20

/** Computes the nines of a quantile: 2 for 0.99. @param {number} quantile below 1 @returns {number} may be a fraction */
const computeNines = quantile => roundToFourDigits(-Math.log10(1 - quantile))

/** Renders the name of a quantile, such as `p99.9`. @param {number} quantile */
const renderQuantileName = quantile => `p${Number((100 * quantile).toFixed(2))}`

/** Says whether two quantiles are equal; their last bits differ after arithmetic. @type {(a: number, b: number) => boolean} */
const isSameQuantile = (a, b) => Math.abs(a - b) < 1e-9

// Lines at the named percentiles, whose labels replace those of the axis.
const PERCENTILE_LINES = {
  silent: true,
  symbol: 'none',
  lineStyle: { color: GRID, type: 'solid' },
  data: PERCENTILES.map(quantile => ({
    xAxis: computeNines(quantile),
    label: { formatter: renderQuantileName(quantile), position: 'start', distance: 6, color: MUTED },
  })),
}

/**
 * Draws a line for each grid. Quantiles of 0, and above the last of PERCENTILES, are left out. The axis of times is logarithmic if
 * they differ by more than a factor of LOGARITHMIC_FROM.
 * @param {{ title: string, name: string, lines: TimesLine[] }} options name: what the axis of times shows, without the unit
 * @returns {Chart}
 */
export function drawDistributions({ title, name, lines }) {
  const largestQuantile = PERCENTILES[PERCENTILES.length - 1]
  const drawnLines = lines.map(line => ({
    ...line,
    grid: line.grid.filter(([q]) => q > 0 && q <= largestQuantile + 1e-9),
  }))
  const times = drawnLines.flatMap(({ grid }) => grid.map(([, ms]) => ms)).filter(ms => ms > 0)
  const isLogarithmic = Math.max(...times) > LOGARITHMIC_FROM * Math.min(...times)
  return createLineChart(
    { title, lines: drawnLines, renderLine: renderPercentiles },
    {
      bottom: 40,
      tooltip: { trigger: 'item', confine: true, formatter: '{a}: {b}' },
      xAxis: createAxisBelow('percentile', {
        max: computeNines(largestQuantile),
        axisLabel: { show: false },
        splitLine: { show: false },
      }),
      yAxis: createAxis({ type: isLogarithmic ? 'log' : 'value', name: `${name}, ms`, nameGap: 46 }),
      series: drawnLines.map(({ label, colour, grid }, i) =>
        createChartSeries('line', {
          label,
          colour,
          symbolSize: 7,
          showAllSymbol: true,
          lineStyle: { width: 2, type: chooseDash(i) },
          data: grid.map(([quantile, ms]) => ({
            value: [computeNines(quantile), roundToFourDigits(ms)],
            name: `${renderQuantileName(quantile)}, ${roundToFourDigits(ms)} ms`,
            // A mark at each of a hundred points would hide the line.
            ...(PERCENTILES.some(percentile => isSameQuantile(percentile, quantile)) ? {} : { symbol: 'none' }),
          })),
          ...(i === 0 ? { markLine: PERCENTILE_LINES } : {}),
        }),
      ),
    },
  )
}

/**
 * Finds the time of a quantile.
 * @param {TimesLine['grid']} grid
 * @param {number} quantile
 * @returns {number | undefined} milliseconds; undefined if the grid lacks the quantile
 */
export function findTimeMs(grid, quantile) {
  return grid.find(([q]) => isSameQuantile(q, quantile))?.[1]
}

/**
 * Renders the times of a line at the named percentiles that its grid has.
 * @param {TimesLine} line
 * @returns {string} `no values` behind the label if it has none of them
 */
function renderPercentiles({ label, grid }) {
  const times = PERCENTILES.flatMap(quantile => {
    const ms = findTimeMs(grid, quantile)
    return ms === undefined ? [] : [`${renderQuantileName(quantile)} ${roundToFourDigits(ms)} ms`]
  })
  return `${label}: ${times.length > 0 ? times.join(', ') : 'no values'}`
}
