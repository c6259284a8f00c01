import { colourOf } from './palette.js'
import { createFittedLine, createLinesChart, shorten } from './style.js'

/**
 * CPU of all sidecars over the rate: the measured points, and the line through them where there is one. Pure.
 * @import { Chart } from './style.js'
 */

/**
 * @param {{ title: string, lines: { label: string, colour: number, points: { ratePerSecond: number, millicores: number }[],
 *   fit: { baseMillicores: number, slopeMillicoresPerRequestPerSecond: number } | null }[] }} given
 * @returns {Chart}
 */
export function drawOverRate({ title, lines }) {
  return createLinesChart({
    title,
    lines,
    say: sayLine,
    x: { min: 0, name: 'requests/s' },
    y: { min: 0, name: 'millicores of all sidecars' },
    series: lines.flatMap(({ label, colour, points, fit }) => [
      {
        type: 'scatter',
        name: label,
        color: colourOf(colour),
        symbolSize: 9,
        data: points.map(({ ratePerSecond, millicores }) => ({
          value: [ratePerSecond, shorten(millicores)],
          name: `${label} at ${ratePerSecond}/s: ${millicores.toFixed(0)} millicores`,
        })),
      },
      ...(fit ? [drawFit({ label, colour, points, fit })] : []),
    ]),
  })
}

/** @param {Omit<Parameters<typeof drawOverRate>[0]['lines'][0], 'fit'> & { fit: { baseMillicores: number, slopeMillicoresPerRequestPerSecond: number } }} line */
function drawFit({ label, colour, points, fit }) {
  const rates = points.map(p => p.ratePerSecond)
  const at = (/** @type {number} */ rate) => shorten(fit.baseMillicores + fit.slopeMillicoresPerRequestPerSecond * rate)
  const ends = [Math.min(...rates), Math.max(...rates)]
  return createFittedLine({ label, colour: colourOf(colour), ends: ends.map(rate => [rate, at(rate)]) })
}

/** @param {Parameters<typeof drawOverRate>[0]['lines'][0]} line */
function sayLine({ label, points }) {
  return `${label}: ${points.map(p => `${p.millicores.toFixed(0)} millicores at ${p.ratePerSecond}/s`).join(', ')}`
}
