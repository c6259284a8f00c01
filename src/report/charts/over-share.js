import { createAxisBelow, createAxisBeside, createSeries, dashOf, drawLines, shorten } from './style.js'

/** Draws the share of the real sidecars that have a configuration, over time. Pure. */

/** @typedef {{ label: string, colour: number, curve: [number, number][] }} ShareLine curve: [seconds, share] */

/** Draws the chart. @param {{ title: string, lines: ShareLine[] }} given */
export function drawOverShare({ title, lines }) {
  return drawLines(
    { title, lines, say: ({ label, curve }) => `${label}: ${sayEnd(curve)}` },
    {
      xAxis: createAxisBelow('seconds'),
      yAxis: createAxisBeside('% of the real sidecars', { max: 100 }),
      series: lines.map(({ label, colour, curve }, i) =>
        createSeries('line', {
          label,
          colour,
          symbol: 'none',
          step: 'end',
          lineStyle: { width: 1.5, type: dashOf(i) },
          data: [[0, 0], ...curve.map(([seconds, share]) => [shorten(seconds), shorten(100 * share)])],
        }),
      ),
    },
  )
}

/** @param {ShareLine['curve']} curve */
function sayEnd(curve) {
  const last = curve.at(-1)
  return last ? `${shorten(100 * last[1])} % after ${shorten(last[0])} s` : 'none'
}
