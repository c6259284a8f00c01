import { QUANTILES } from '../../judge/record/measures.js'
import { alignLeft, alignRight } from '../../lib/text-table.js'
import { MIB } from '../../lib/units.js'
import { findTimeMs } from './distributions.js'
import { sumSeconds } from './over-time.js'
import { roundToFourDigits } from './style.js'

/**
 * The values of each chart as a table. Pure.
 * @import { Chart } from './style.js'
 * @import { Rounds } from './rounds.js'
 * @import { Table } from '../../lib/text-table.js'
 * @import { SidecarSeries } from '../../judge/sidecars.js'
 * @import { TimesLine } from './distributions.js'
 * @import { AxisLine, LimitLine, MemoryLine, RateLine, ShareLine } from './over-axes.js'
 */

/**
 * A chart with the table of its values.
 * @typedef {Chart & { id: string, table: Table, resultIndex?: number }} ReportChart resultIndex: of its result, if the run has
 *   several
 */

const SHARES = [0.25, 0.5, 0.75, 0.95, 1]

/**
 * Tabulates the median, the interval and every round of each arm.
 * @param {Rounds} options
 * @returns {Table} a missing median or interval is `-`, and so is a round without a value
 */
export function tabulateRounds({ title, unit, digits, rows }) {
  const formatOrDash = (/** @type {number | null} */ value) => (value === null ? '-' : value.toFixed(digits))
  return {
    caption: `${title}, ${unit}`,
    columns: [...alignLeft(''), ...alignRight('median', '95 % interval'), ...alignLeft('every round')],
    rows: rows.map(({ label, quantity: { median, low, high, values } }) => {
      const interval = low === null ? '-' : `[${formatOrDash(low)}, ${formatOrDash(high)}]`
      return [label, formatOrDash(median), interval, values.map(formatOrDash).join(' ')]
    }),
  }
}

/**
 * Tabulates the times of each line, in ms, at each of QUANTILES.
 * @param {{ title: string, lines: TimesLine[] }} options
 * @returns {Table} a percentile that the grid lacks is `-`
 */
export function tabulateTimes({ title, lines }) {
  const quantiles = Object.values(QUANTILES)
  return {
    caption: `${title}, ms`,
    columns: [...alignLeft(''), ...alignRight(...quantiles.map(q => `p${100 * q}`))],
    rows: lines.map(({ label, grid }) => [label, ...quantiles.map(q => findTimeMs(grid, q)?.toFixed(2) ?? '-')]),
  }
}

/**
 * Tabulates the least and most of each sidecar's series, and for how many seconds its quota was used up.
 * @param {{ title: string, sidecars: SidecarSeries[] }} options
 * @returns {Table} `-` for a series without samples, and without a CPU limit
 */
export function tabulateSeries({ title, sidecars }) {
  const ranges = ['least cores', 'most cores', 'least anon MiB', 'most anon MiB']
  return {
    caption: title,
    columns: [...alignLeft('sidecar'), ...alignRight('cap', ...ranges, 'seconds with quota used up')],
    rows: sidecars.map(({ service, cpuLimitCores, cores, anonBytes, throttled }) => {
      const throttledSeconds = `${roundToFourDigits(sumSeconds(throttled))}`
      const cap = `${cpuLimitCores ?? '-'}`
      return [service, cap, ...renderRange(cores), ...renderRange(anonBytes, MIB), throttledSeconds]
    }),
  }
}

/**
 * Renders the least and the most of a series.
 * @param {[number, number][]} points seconds and value
 * @param {number} [unit] in which it is shown; 1 by default
 * @returns {string[]} two numbers, `-` without points
 */
function renderRange(points, unit = 1) {
  if (points.length === 0) return ['-', '-']
  const values = points.map(([, value]) => value / unit)
  return [Math.min(...values), Math.max(...values)].map(value => `${roundToFourDigits(value)}`)
}

/**
 * Tabulates the millicores of each line at each rate.
 * @param {{ title: string, lines: RateLine[] }} options
 * @returns {Table} a rate that a line lacks is `-`
 */
export function tabulateRates({ title, lines }) {
  const renderedLines = lines.map(({ label, points }) => ({
    label,
    points: points.map(({ ratePerSecond, millicores }) => ({ at: ratePerSecond, value: millicores.toFixed(0) })),
  }))
  return tabulatePoints({ caption: `${title}, millicores of all sidecars`, name: 'requests/s', lines: renderedLines })
}

/**
 * Tabulates the MiB of each line at each number of sidecars.
 * @param {{ title: string, lines: MemoryLine[] }} options
 * @returns {Table} a number of sidecars that a line lacks is `-`
 */
export function tabulateMemory({ title, lines }) {
  const renderedLines = lines.map(({ label, memory }) => ({
    label,
    points: memory.points.map(({ sidecars, bytes }) => ({ at: sidecars, value: (bytes / MIB).toFixed(1) })),
  }))
  return tabulatePoints({ caption: `${title}, MiB`, name: 'sidecars', lines: renderedLines })
}

/**
 * Tabulates the values of each line at each value of an axis.
 * @param {{ title: string, axes: [string, string], lines: AxisLine[] }} options axes: the first
 *   is the heading of the rows
 * @returns {Table} a value of the axis that a line lacks is `-`
 */
export function tabulateOverAxis({ title, axes: [name], lines }) {
  const renderedLines = lines.map(({ label, points }) => ({
    label,
    points: points.map(({ at, value }) => ({ at, value: `${roundToFourDigits(value)}` })),
  }))
  return tabulatePoints({ caption: title, name, lines: renderedLines })
}

/**
 * Creates a table with a row for each position on an axis, in rising order, and a column for each line.
 * @param {{ caption: string, name: string, lines: { label: string, points: { at: number, value: string }[] }[] }}
 *   options name: of the axis; at: the position
 * @returns {Table} a position at which a line has no point is `-`
 */
function tabulatePoints({ caption, name, lines }) {
  const positions = [...new Set(lines.flatMap(({ points }) => points.map(({ at }) => at)))].sort((a, b) => a - b)
  return {
    caption,
    columns: alignRight(name, ...lines.map(({ label }) => label)),
    rows: positions.map(at => [`${at}`, ...lines.map(({ points }) => points.find(p => p.at === at)?.value ?? '-')]),
  }
}

/**
 * Tabulates the seconds after which each line reached the shares of SHARES.
 * @param {{ title: string, lines: ShareLine[] }} options
 * @returns {Table} a share that a line did not reach is `-`
 */
export function tabulateShares({ title, lines }) {
  return {
    caption: `${title}, seconds`,
    columns: [...alignLeft(''), ...alignRight(...SHARES.map(share => `${100 * share} %`))],
    rows: lines.map(({ label, curve }) => [
      label,
      ...SHARES.map(least => curve.find(([, share]) => share >= least)?.[0].toFixed(2) ?? '-'),
    ]),
  }
}

/**
 * Tabulates the trials of each line by rising CPU limit, then its answers, with their p99 if one was measured.
 * @param {{ title: string, lines: LimitLine[] }} options
 * @returns {Table} without rows if no line has trials
 */
export function tabulateLimits({ title, lines }) {
  return {
    caption: title,
    columns: [...alignLeft('plane'), ...alignRight('CPU limit', 'requests/s'), ...alignLeft('outcome')],
    rows: lines.flatMap(({ label, points, answers }) => [
      ...points
        .toSorted((a, b) => a.cores - b.cores)
        .map(point => [label, `${point.cores}`, point.ratePerSecond.toFixed(0), point.isHeld ? 'held' : 'failed']),
      ...answers.map(({ cores, ratePerSecond, p99Ms }) => {
        const p99 = p99Ms === null ? '' : `, p99 ${p99Ms.toFixed(1)} ms`
        return [label, `${cores}`, `${ratePerSecond}`, `answer${p99}`]
      }),
    ]),
  }
}
