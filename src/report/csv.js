import { QUANTITIES } from '../judge/quantities.js'
import { quantityOf } from '../judge/quantity.js'
import { showControls } from '../lib/printable.js'
import { nameOf } from '../model/arms.js'
import { AXES, AXIS_NAMES } from '../model/axes.js'

/**
 * A run for spreadsheets and statistics programs (RFC 4180): units in the headers, shares as fractions, what is missing
 * empty. Pure.
 * @import { Summary } from '../model/types.ts'
 */

/** @typedef {string | number | null | undefined} Cell */

/** A row an arm: medians and intervals. @param {Summary} summary */
export function renderArmsCsv({ arms }) {
  const rows = Object.values(QUANTITIES)
  return renderCsv([
    [
      ...['armId', 'plane', 'repeatOf', ...AXIS_NAMES, 'loop'],
      ...['trialsCompleted', 'trialsFailed', 'trialsInvalid', 'boundBy'],
      ...rows.flatMap(({ header }) => ['', 'Low', 'High'].map(end => `${header}${end}`)),
    ],
    ...arms.map(arm => [
      ...[arm.id, nameOf({ ...arm, repeatOf: null }), arm.repeatOf],
      ...[...AXIS_NAMES.map(name => AXES[name].of(arm)), arm.load.kind],
      ...[arm.trials.completed, arm.trials.failed, arm.trials.invalid, arm.boundBy],
      ...rows.flatMap(({ name }) => {
        const { median, low, high } = quantityOf(arm, name)
        return [median, low, high]
      }),
    ]),
  ])
}

/** @param {Cell[][]} rows */
export function renderCsv(rows) {
  return rows.map(cells => `${cells.map(renderCell).join(',')}\r\n`).join('')
}

/** @param {Cell} cell */
function renderCell(cell) {
  const isMissing = cell === null || cell === undefined || Number.isNaN(cell)
  const text = isMissing ? '' : typeof cell === 'string' ? quoteFormula(showControls(cell)) : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A spreadsheet runs a cell that begins like a formula: behind an apostrophe it is text. @param {string} text */
function quoteFormula(text) {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}
