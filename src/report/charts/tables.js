import { QUANTILES } from '../../judge/measures.js'
import { MIB } from '../../lib/units.js'
import { shorten } from './style.js'

/**
 * The values of each chart as a table. Pure.
 * @import { Quantity } from '../../model/types.ts'
 * @import { Table } from '../../lib/text-table.js'
 * @import { SidecarSeries } from '../../judge/sidecars.js'
 */

/**
 * @param {string} caption
 * @param {string} unit
 * @param {number} digits
 * @param {{ label: string, quantity: Quantity }[]} rows
 * @returns {Table}
 */
export function tabulateRounds(caption, unit, digits, rows) {
  const show = (/** @type {number | null} */ value) => (value === null ? '-' : value.toFixed(digits))
  return {
    caption: `${caption}, ${unit}`,
    columns: [
      ['', 'left'],
      ['median', 'right'],
      ['95 % interval', 'right'],
      ['every round', 'left'],
    ],
    rows: rows.map(({ label, quantity: { median, low, high, values } }) => [
      ...[label, show(median), low === null ? '-' : `[${show(low)}, ${show(high)}]`, values.map(show).join(' ')],
    ]),
  }
}

/** @param {string} caption @param {{ label: string, grid: [number, number][] }[]} lines @returns {Table} */
export function tabulateLines(caption, lines) {
  const at = (/** @type {[number, number][]} */ grid, /** @type {number} */ q) =>
    grid.find(([quantile]) => Math.abs(quantile - q) < 1e-9)?.[1]
  return {
    caption: `${caption}, ms`,
    columns: [
      ['', 'left'],
      ...Object.values(QUANTILES).map(q => /** @type {[string, 'right']} */ ([`p${100 * q}`, 'right'])),
    ],
    rows: lines.map(({ label, grid }) => [label, ...Object.values(QUANTILES).map(q => at(grid, q)?.toFixed(2) ?? '-')]),
  }
}

/** @param {string} caption @param {SidecarSeries[]} sidecars @returns {Table} */
export function tabulateSeries(caption, sidecars) {
  const range = (/** @type {[number, number][]} */ points, scale = 1) => {
    const values = points.map(([, value]) => value / scale)
    if (values.length === 0) return ['-', '-']
    return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))].map(v => `${shorten(v)}`)
  }
  return {
    caption,
    columns: [
      ...[
        ['sidecar', 'left'],
        ['cap', 'right'],
        ['least cores', 'right'],
        ['most cores', 'right'],
      ],
      ...[
        ['least anon MiB', 'right'],
        ['most anon MiB', 'right'],
        ['seconds with quota used up', 'right'],
      ],
    ].map(([name, align]) => /** @type {[string, 'left' | 'right']} */ ([name, align])),
    rows: sidecars.map(({ service, capCores, cores, anonBytes, throttled }) => [
      ...[service, `${capCores ?? '-'}`, ...range(cores), ...range(anonBytes, MIB)],
      `${shorten(throttled.reduce((sum, [from, to]) => sum + to - from, 0))}`,
    ]),
  }
}

/**
 * @param {string} caption
 * @param {{ label: string, points: { ratePerSecond: number, millicores: number }[] }[]} lines
 * @returns {Table}
 */
export function tabulateRates(caption, lines) {
  const rates = [...new Set(lines.flatMap(line => line.points.map(p => p.ratePerSecond)))].sort((a, b) => a - b)
  return {
    caption: `${caption}, millicores of all sidecars`,
    columns: [
      ['requests/s', 'right'],
      ...lines.map(({ label }) => /** @type {[string, 'right']} */ ([label, 'right'])),
    ],
    rows: rates.map(rate => [
      `${rate}`,
      ...lines.map(({ points }) => points.find(p => p.ratePerSecond === rate)?.millicores.toFixed(0) ?? '-'),
    ]),
  }
}

/** @param {string} caption @param {import('./over-limit.js').LimitLine[]} lines @returns {Table} */
export function tabulateLimits(caption, lines) {
  /** @type {[string, 'left' | 'right'][]} */
  const columns = [
    ['plane', 'left'],
    ['CPU limit', 'right'],
    ['requests/s', 'right'],
    ['outcome', 'left'],
  ]
  return {
    caption,
    columns,
    rows: lines.flatMap(({ label, points, answers }) => [
      ...points
        .toSorted((a, b) => a.cores - b.cores)
        .map(point => [label, `${point.cores}`, point.ratePerSecond.toFixed(0), point.isHeld ? 'held' : 'failed']),
      ...answers.map(({ cores, ratePerSecond, p99Ms }) => [
        ...[label, `${cores}`, `${ratePerSecond}`, `answer${p99Ms === null ? '' : `, p99 ${p99Ms.toFixed(1)} ms`}`],
      ]),
    ]),
  }
}
