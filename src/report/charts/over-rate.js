import { createAxisBelow, createAxisBeside, createFittedLine, createSeries, drawLines, shorten } from './style.js'

/** Draws the CPU of all sidecars over the rate: the points, and the line through them where there is one. Pure. */

/**
 * @typedef {{ label: string, colour: number, points: { ratePerSecond: number, millicores: number }[],
 *   fit: { baseMillicores: number, slopeMillicoresPerRequestPerSecond: number } | null }} RateLine
 */

/** Draws the chart. @param {{ title: string, lines: RateLine[] }} given */
export function drawOverRate({ title, lines }) {
  return drawLines(
    { title, lines, say: sayLine },
    {
      xAxis: createAxisBelow('requests/s'),
      yAxis: createAxisBeside('millicores of all sidecars'),
      series: lines.flatMap(drawLine),
    },
  )
}

/** @param {RateLine} line */
function drawLine({ label, colour, points, fit }) {
  const data = points.map(({ ratePerSecond, millicores }) => ({
    value: [ratePerSecond, shorten(millicores)],
    name: `${label} at ${ratePerSecond}/s: ${millicores.toFixed(0)} millicores`,
  }))
  const measured = createSeries('scatter', { label, colour, symbolSize: 9, data })
  if (fit === null) return [measured]
  const rates = points.map(p => p.ratePerSecond)
  const at = (/** @type {number} */ rate) => shorten(fit.baseMillicores + fit.slopeMillicoresPerRequestPerSecond * rate)
  const ends = [Math.min(...rates), Math.max(...rates)].map(rate => [rate, at(rate)])
  return [measured, createFittedLine({ label, colour, data: ends })]
}

/** @param {RateLine} line */
function sayLine({ label, points }) {
  return `${label}: ${points.map(p => `${p.millicores.toFixed(0)} millicores at ${p.ratePerSecond}/s`).join(', ')}`
}
