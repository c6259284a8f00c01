import { colourOf } from './palette.js'
import { createLinesChart, shorten } from './style.js'

/**
 * The rate that sidecars answered at each CPU limit that a sizing tried: a point is a trial, filled where it held; a diamond is an
 * answer. Pure.
 * @import { Chart } from './style.js'
 */

/**
 * @typedef {object} LimitLine of a plane
 * @property {string} label
 * @property {number} colour
 * @property {{ cores: number, ratePerSecond: number, isHeld: boolean }[]} points
 * @property {{ cores: number, ratePerSecond: number, p99Ms: number | null }[]} answers
 */

/** @param {{ title: string, lines: LimitLine[] }} given @returns {Chart} */
export function drawOverLimit({ title, lines }) {
  return createLinesChart({
    title,
    lines,
    say: sayLine,
    x: { type: 'log', name: 'CPU limit of each sidecar, cores' },
    y: { min: 0, name: 'requests/s' },
    series: lines.flatMap(({ label, colour, points, answers }) => [
      {
        type: 'scatter',
        name: label,
        color: colourOf(colour),
        symbolSize: 9,
        data: points.map(({ cores, ratePerSecond, isHeld }) => ({
          value: [shorten(cores), shorten(ratePerSecond)],
          name: `${label} at ${cores} cores: ${ratePerSecond.toFixed(0)} requests/s, ${isHeld ? 'held' : 'failed'}`,
          ...(isHeld ? {} : { symbol: 'emptyCircle' }),
        })),
      },
      {
        type: 'scatter',
        name: label,
        color: colourOf(colour),
        symbol: 'diamond',
        symbolSize: 18,
        data: answers.map(answer => ({
          value: [shorten(answer.cores), shorten(answer.ratePerSecond)],
          name: `${label}: ${sayAnswer(answer)}`,
        })),
      },
    ]),
  })
}

/** @param {LimitLine} line */
function sayLine({ label, points, answers }) {
  const told = answers.map(sayAnswer).join(', ')
  return `${label}: ${points.length} trials, ${told || 'no answer'}`
}

/** @param {LimitLine['answers'][0]} answer */
function sayAnswer({ cores, ratePerSecond, p99Ms }) {
  const p99 = p99Ms === null ? '' : ` with a p99 of ${p99Ms.toFixed(1)} ms`
  return `${cores} cores hold ${ratePerSecond} requests/s${p99}`
}
