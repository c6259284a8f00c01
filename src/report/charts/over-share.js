import { colourOf } from './palette.js'
import { createLinesChart, shorten } from './style.js'

/**
 * The share of the real sidecars that have a configuration, over the time since the first was to have it. Pure.
 * @import { Chart } from './style.js'
 * @import { Table } from '../../lib/text-table.js'
 */

/** curve: [seconds, share] @typedef {{ label: string, colour: number, curve: [number, number][] }} ShareLine */

const SHARES = [0.25, 0.5, 0.75, 0.95, 1]

/** @param {{ title: string, lines: ShareLine[] }} given @returns {Chart} */
export function drawOverShare({ title, lines }) {
  return createLinesChart({
    title,
    lines,
    say: ({ label, curve }) => `${label}: ${sayEnd(curve)}`,
    x: { min: 0, name: 'seconds' },
    y: { min: 0, max: 100, name: '% of the real sidecars' },
    series: lines.map(({ label, colour, curve }, i) => ({
      type: 'line',
      name: label,
      symbol: 'none',
      color: colourOf(colour),
      step: 'end',
      lineStyle: { width: 1.5, type: ['solid', 'dashed', 'dotted'][i % 3] },
      data: [[0, 0], ...curve.map(([seconds, share]) => [shorten(seconds), shorten(100 * share)])],
    })),
  })
}

/** When so many of the real sidecars had it. @param {string} caption @param {ShareLine[]} lines @returns {Table} */
export function tabulateShares(caption, lines) {
  return {
    caption: `${caption}, seconds`,
    columns: [['', 'left'], ...SHARES.map(share => /** @type {[string, 'right']} */ ([`${100 * share} %`, 'right']))],
    rows: lines.map(({ label, curve }) => [
      label,
      ...SHARES.map(share => curve.find(([, reached]) => reached >= share)?.[0].toFixed(2) ?? '-'),
    ]),
  }
}

/** @param {[number, number][]} curve */
function sayEnd(curve) {
  const last = curve.at(-1)
  return last ? `${shorten(100 * last[1])} % after ${shorten(last[0])} s` : 'none'
}
