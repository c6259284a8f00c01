import { groupBy } from '../lib/group-by.js'
import { alignLeft, alignRight, joinParts, keepColumns, renderTextTable } from '../lib/text-table.js'
import { DEFINITIONS } from './comparison.js'

/**
 * Renders the results of the lab as text. Pure.
 * @import { Breakdown, Part, Row } from './comparison.js'
 * @import { Table } from '../lib/text-table.js'
 */

/** Quantities of which a request has few: they have decimals. @type {Row['quantity'][]} */
const CALLS = ['calls', 'wakeUps']
// Above this spread (a fraction), ratios and counts of calls have one decimal; from it on, the spread itself has none.
const NOISY = 0.05
const COLUMNS = alignRight('old', 'new', 'difference', 'of the old')

/**
 * Formats a number, with blanks between thousands, and never as -0.
 * @param {number} value
 * @param {number} [digits] after the point; 0 by default
 * @returns {string} such as `12 345`
 */
export const formatCount = (value, digits = 0) => {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return (Number(value.toFixed(digits)) || 0).toLocaleString('en-US', options).replaceAll(',', ' ')
}

/**
 * Formats a difference, with its sign.
 * @param {number} value
 * @param {number} [digits] after the point; 0 by default
 * @returns {string} such as `+1 234`, `-5` or `0`
 */
export const formatDifference = (value, digits) =>
  `${Number(value.toFixed(digits)) > 0 ? '+' : ''}${formatCount(value, digits)}`

/**
 * Formats a change in percent, with its sign.
 * @param {number} share a fraction
 * @returns {string} such as `+1.23 %`, with one decimal from 10 % on, in either direction
 */
export const formatChange = share => `${share > 0 ? '+' : ''}${formatPercentage(share)} %`

/** Formats a fraction in percent, without the unit, finer below a tenth: `5.25`, `12.5`. @param {number} share */
export const formatPercentage = share => (100 * share).toFixed(Math.abs(share) < 0.1 ? 2 : 1)

/**
 * Results of the lab.
 * @typedef {object} LabResults
 * @property {Row[]} rows
 * @property {Breakdown[]} breakdowns
 * @property {{ old: string, new: string }} labels
 * @property {string[]} notes limits of the numbers
 * @property {boolean} [isAlone] only one side was counted, and rows have it as old and as new
 */

/**
 * Renders all tables, with their definitions and notes. Those of one side alone lack the columns that compare two.
 * @param {LabResults} results rows: []: a sentence says that nothing was counted
 * @returns {string} lines, with an empty line between the parts
 */
export function renderLabDetails({ rows, breakdowns, labels, notes, isAlone = false }) {
  const tables = [tabulateRows(rows), ...breakdowns.flatMap(tabulateBreakdown)]
  const shownTables = isAlone ? tables.map(dropComparingColumns) : tables
  return joinParts([
    isAlone ? [labels.new] : [`old: ${labels.old}`, `new: ${labels.new}`],
    ...shownTables.map(table => [...(table.caption ? [table.caption] : []), ...renderTextTable(table)]),
    [renderNoise(rows), ...listDefinitions(rows), ...notes],
  ])
}

const COMPARING_COLUMNS = ['old', 'difference', 'of the old', 'new/old']

/**
 * Copies a table without the columns that compare two sides (COMPARING_COLUMNS).
 * @param {Table} table
 * @returns {Table}
 */
function dropComparingColumns(table) {
  return keepColumns(table, i => !COMPARING_COLUMNS.includes(table.columns[i][0]))
}

const SAVES_SHOWN = 5

/**
 * The rows that were counted after a save of the scripts.
 * @typedef {{ at: Date, rows: Row[] }} Save
 */

/**
 * Renders the rows that changed by more than their noise since the save before, and rows that are new. Rows that are gone are left out.
 * @param {Row[]} rows
 * @param {Row[]} earlierRows the rows of the save before
 * @returns {string} a table, or a sentence that no row changed
 */
export function renderChangedRows(rows, earlierRows) {
  const createKey = (/** @type {Row} */ { link, service, quantity }) => JSON.stringify([link, service, quantity])
  const earlierByKey = new Map(earlierRows.map(row => [createKey(row), row]))
  const changed = rows.filter(row => {
    const earlier = earlierByKey.get(createKey(row))
    return !earlier || Math.abs(row.new / earlier.new - 1) > Math.max(row.spread, earlier.spread)
  })
  if (changed.length === 0) return 'No row has changed since the save before.'
  const cells = changed.map(row => [
    `${row.service} of ${row.link}, ${row.quantity}`,
    formatCount(row.old),
    formatCount(row.new),
    formatChange(row.ratio - 1),
    renderSpread(row.spread),
  ])
  return renderTextTable({
    caption: '',
    columns: [...alignLeft('changed'), ...alignRight('old', 'new', 'change', 'apart')],
    rows: cells,
  }).join('\n')
}

/**
 * Renders the instructions of the last SAVES_SHOWN saves: their difference from the old side, and the ratio to it.
 * @param {Save[]} saves at least one; all have the sidecars of the first
 * @returns {string} a table
 */
export function renderSaves(saves) {
  const listInstructionRows = (/** @type {Save} */ { rows }) =>
    rows.filter(({ quantity }) => quantity === 'instructions')
  const titles = listInstructionRows(saves[0]).map(({ link, service }) => `${service} of ${link}`)
  const rows = saves
    .slice(-SAVES_SHOWN)
    .map(save => [
      save.at.toTimeString().slice(0, 8),
      ...listInstructionRows(save).flatMap(row => [formatDifference(row.new - row.old), row.ratio.toFixed(4)]),
    ])
  const columns = [...alignLeft('saved'), ...titles.flatMap(title => alignRight(title, 'new/old'))]
  return renderTextTable({ caption: '', columns, rows }).join('\n')
}

/**
 * Renders the noise of each quantity: the largest distance of two counts of one side.
 * @param {Row[]} rows []: nothing was counted, and the sentence says so
 * @returns {string} a sentence
 */
function renderNoise(rows) {
  if (rows.length === 0) return 'nothing was counted: no sidecar is on both sides'
  const parts = [...groupBy(rows, ({ quantity }) => quantity)].map(
    ([name, quantityRows]) => `${name} ${renderSpread(Math.max(...quantityRows.map(({ spread }) => spread)))}`,
  )
  return `apart: how far two counts of one side are apart, at most ${parts.join(', ')}; a smaller difference of that quantity is none`
}

/**
 * Renders a spread in percent: with three decimals below NOISY, else with none.
 * @param {number} spread a fraction
 * @returns {string}
 */
function renderSpread(spread) {
  return `${(100 * spread).toFixed(spread < NOISY ? 3 : 0)} %`
}

/**
 * Lists the definitions of the quantities that rows have.
 * @param {Row[]} rows
 * @returns {string[]} each as `name: definition`; []: there are no rows
 */
export function listDefinitions(rows) {
  const defined = Object.entries(DEFINITIONS).filter(([name]) => rows.some(({ quantity }) => quantity === name))
  return defined.map(([name, definition]) => `${name}: ${definition}`)
}

/**
 * Tabulates the quantities of each sidecar; noisy ones (above NOISY) with fewer digits.
 * @param {Row[]} rows
 * @returns {Table}
 */
export function tabulateRows(rows) {
  return {
    caption: '',
    columns: [
      ...alignLeft('link', 'sidecar', 'counted'),
      ...alignRight('old', 'new', 'difference', 'new/old', 'apart'),
    ],
    rows: rows.map(({ link, service, quantity, ratio, spread, ...row }) => {
      const isNoisy = spread > NOISY
      const digits = CALLS.includes(quantity) ? (isNoisy ? 1 : 2) : 0
      const [old, next, change] = [
        formatCount(row.old, digits),
        formatCount(row.new, digits),
        formatDifference(row.new - row.old, digits),
      ]
      return [link, service, quantity, old, next, change, ratio.toFixed(isNoisy ? 1 : 4), renderSpread(spread)]
    }),
  }
}

/**
 * Tabulates the parts of the cost of a sidecar: by purpose, filter, system call and function.
 * @param {Breakdown} breakdown
 * @returns {Table[]} without the table of system calls if none were counted
 */
export function tabulateBreakdown({ link, service, unit, groups, filters, calls, functions }) {
  const subject = `${service} of ${link}, ${unit}`
  return [
    tabulateParts(`${subject}, by what they are for`, groups),
    tabulateParts(`${subject}, by filter (the innermost one that called)`, filters),
    ...(calls.length > 0 ? [tabulateParts(`${service} of ${link}, system calls a request`, calls, 2)] : []),
    {
      caption: `${subject}, functions that changed most`,
      columns: [...alignLeft('function'), ...COLUMNS, ...alignRight('with what it calls')],
      rows: functions.map(part => [part.name, ...renderPartCells(part), formatCount(part.inclusive)]),
    },
  ]
}

/**
 * Tabulates parts of a cost.
 * @param {string} caption
 * @param {Part[]} parts
 * @param {number} [digits] after the point; 0 by default
 * @returns {Table}
 */
function tabulateParts(caption, parts, digits) {
  return {
    caption,
    columns: [...alignLeft(''), ...COLUMNS],
    rows: parts.map(part => [part.name, ...renderPartCells(part, digits)]),
  }
}

/**
 * Renders the old cost, the new one, their difference, and its share of the old cost.
 * @param {Part} part
 * @param {number} [digits] after the point; 0 by default
 * @returns {string[]} four cells; the last is `new` if there is no old cost
 */
function renderPartCells(part, digits = 0) {
  const change = Number(part.new.toFixed(digits)) - Number(part.old.toFixed(digits))
  return [
    formatCount(part.old, digits),
    formatCount(part.new, digits),
    formatDifference(change, digits),
    part.old > 0 ? formatChange(change / part.old) : 'new',
  ]
}
