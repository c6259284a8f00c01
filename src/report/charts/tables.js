import { QUANTILES } from '../../judge/record/measures.js'
import { alignLeft, alignRight } from '../../lib/text-table.js'
import { MIB } from '../../lib/units.js'
import { findMs } from './distributions.js'
import { sumSeconds } from './over-time.js'
import { roundToFourDigits } from './style.js'

/**
 * The values of each chart as a table. Pure.
 * @import { Table } from '../../lib/text-table.js'
 * @import { SidecarSeries } from '../../judge/sidecars.js'
 * @import { TimesLine } from './distributions.js'
 * @import { LimitLine, MemoryLine, ShareLine } from './forms.js'
 */

/**
 * A chart with the table of its values. `part` is the index of its result, if the run has several.
 * @typedef {import('./style.js').Chart & { id: string, table: Table, part?: number }} ReportChart
 */

const SHARES = [0.25, 0.5, 0.75, 0.95, 1]

/**
 * Tabulates the median, the interval and every round of each arm.
 * @param {import('./rounds.js').Rounds} options
 * @returns {Table} `-`: no value
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
 * Tabulates the times of each line, in ms, at the usual percentiles.
 * @param {{ title: string, lines: TimesLine[] }} options
 * @returns {Table} `-`: the grid lacks the percentile
 */
export function tabulateLines({ title, lines }) {
  const quantiles = Object.values(QUANTILES)
  return {
    caption: `${title}, ms`,
    columns: [...alignLeft(''), ...alignRight(...quantiles.map(q => `p${100 * q}`))],
    rows: lines.map(({ label, grid }) => [label, ...quantiles.map(q => findMs(grid, q)?.toFixed(2) ?? '-')]),
  }
}

/**
 * Tabulates the least and most of each sidecar's series, and for how many seconds its quota was used up.
 * @param {{ title: string, sidecars: SidecarSeries[] }} options
 * @returns {Table} `-`: no samples, or no CPU limit
 */
export function tabulateSeries({ title, sidecars }) {
  const range = (/** @type {[number, number][]} */ points, scale = 1) => {
    const values = points.map(([, value]) => value / scale)
    if (values.length === 0) return ['-', '-']
    return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))].map(
      v => `${roundToFourDigits(v)}`,
    )
  }
  const ranges = ['least cores', 'most cores', 'least anon MiB', 'most anon MiB']
  return {
    caption: title,
    columns: [...alignLeft('sidecar'), ...alignRight('cap', ...ranges, 'seconds with quota used up')],
    rows: sidecars.map(({ service, cpuLimitCores, cores, anonBytes, throttled }) => {
      const throttledSeconds = `${roundToFourDigits(sumSeconds(throttled))}`
      return [service, `${cpuLimitCores ?? '-'}`, ...range(cores), ...range(anonBytes, MIB), throttledSeconds]
    }),
  }
}

/**
 * Tabulates the millicores of each line at each rate.
 * @param {{ title: string, lines: import('./forms.js').RateLine[] }} options
 * @returns {Table}
 */
export function tabulateRates({ title, lines }) {
  const points = lines.map(({ label, points }) => ({
    label,
    points: points.map(p => ({ at: p.ratePerSecond, value: p.millicores.toFixed(0) })),
  }))
  return tabulatePoints({ caption: `${title}, millicores of all sidecars`, name: 'requests/s', lines: points })
}

/**
 * Tabulates the MiB of each line at each number of sidecars.
 * @param {{ title: string, lines: MemoryLine[] }} options
 * @returns {Table}
 */
export function tabulateMemory({ title, lines }) {
  const points = lines.map(({ label, memory }) => ({
    label,
    points: memory.points.map(p => ({ at: p.sidecars, value: (p.bytes / MIB).toFixed(1) })),
  }))
  return tabulatePoints({ caption: `${title}, MiB`, name: 'sidecars', lines: points })
}

/**
 * Tabulates the values of each line at each value of an axis.
 * @param {{ title: string, axes: [string, string], lines: import('./forms.js').AxisLine[] }} options axes: the first
 *   is the heading of the rows
 * @returns {Table}
 */
export function tabulateOverAxis({ title, axes: [name], lines }) {
  const renderedLines = lines.map(({ label, points }) => ({
    label,
    points: points.map(({ at, value }) => ({ at, value: `${roundToFourDigits(value)}` })),
  }))
  return tabulatePoints({ caption: title, name, lines: renderedLines })
}

/**
 * Creates a row for each place, and a column for each line.
 * @param {{ caption: string, name: string, lines: { label: string, points: { at: number, value: string }[] }[] }}
 *   options name: of the places
 * @returns {Table} `-`: the line has no point there
 */
function tabulatePoints({ caption, name, lines }) {
  const places = [...new Set(lines.flatMap(({ points }) => points.map(({ at }) => at)))].sort((a, b) => a - b)
  return {
    caption,
    columns: alignRight(name, ...lines.map(({ label }) => label)),
    rows: places.map(at => [`${at}`, ...lines.map(({ points }) => points.find(p => p.at === at)?.value ?? '-')]),
  }
}

/**
 * Tabulates the seconds after which each line reached the shares of SHARES.
 * @param {{ title: string, lines: ShareLine[] }} options
 * @returns {Table} `-`: it did not reach the share
 */
export function tabulateShares({ title, lines }) {
  return {
    caption: `${title}, seconds`,
    columns: [...alignLeft(''), ...alignRight(...SHARES.map(share => `${100 * share} %`))],
    rows: lines.map(({ label, curve }) => [
      label,
      ...SHARES.map(share => curve.find(([, reached]) => reached >= share)?.[0].toFixed(2) ?? '-'),
    ]),
  }
}

/**
 * Tabulates the trials of each line by rising CPU limit, then its answers, with their p99 if one was measured.
 * @param {{ title: string, lines: LimitLine[] }} options
 * @returns {Table}
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
