import { findQuantity, QUANTITIES } from '../judge/quantities.js'
import { escapeControls } from '../lib/printable.js'
import { AXES, AXIS_NAMES, renderArmName } from '../model/arms.js'
import { listArms } from '../model/results.js'

/**
 * Renders a run for spreadsheets and statistics programs (RFC 4180): units in the headers, shares as fractions, missing
 * values empty. Pure.
 * @import { Summary, SummaryArm } from '../model/types.ts'
 * @typedef {string | number | null | undefined} CsvCell
 */

/** Headers and values that describe an arm. @type {[string, (arm: SummaryArm) => CsvCell][]} */
const ARM_COLUMNS = [
  ['armId', arm => arm.id],
  ['plane', arm => renderArmName({ ...arm, repeatOf: null })],
  ['repeatOf', arm => arm.repeatOf],
  ...AXIS_NAMES.map(name => /** @type {typeof ARM_COLUMNS[0]} */ ([name, AXES[name].readValue])),
  ['loop', arm => arm.load.kind],
  ['trialsCompleted', arm => arm.trials.completed],
  ['trialsFailed', arm => arm.trials.failed],
  ['trialsInvalid', arm => arm.trials.invalid],
  ['boundBy', arm => arm.boundBy],
]

/**
 * Renders a row for each arm, including A/A arms, with the median, low and high of each quantity.
 * @param {Summary} summary
 * @returns {string} CSV; the header alone without arms
 */
export function renderArmsCsv(summary) {
  const arms = listArms(summary)
  const quantities = Object.values(QUANTITIES)
  return renderCsv([
    [
      ...ARM_COLUMNS.map(([name]) => name),
      ...quantities.flatMap(({ header }) => [header, `${header}Low`, `${header}High`]),
    ],
    ...arms.map(arm => [
      ...ARM_COLUMNS.map(([, readValue]) => readValue(arm)),
      ...quantities.flatMap(({ name }) => {
        const { median, low, high } = findQuantity(arm, name)
        return [median, low, high]
      }),
    ]),
  ])
}

/**
 * Renders rows as CSV, each with a line end (CR LF). null, undefined and NaN are empty.
 * @param {CsvCell[][]} rows the header first
 * @returns {string}
 */
export function renderCsv(rows) {
  return rows.map(cells => `${cells.map(renderCsvCell).join(',')}\r\n`).join('')
}

/**
 * Renders a cell, in quotes if it has a quote, a comma or a line end. Control characters are escaped, and a text that a spreadsheet
 * would run as a formula gets an apostrophe before it.
 * @param {CsvCell} cell
 * @returns {string} empty for null, undefined and NaN
 */
function renderCsvCell(cell) {
  const isMissing = cell === null || cell === undefined || Number.isNaN(cell)
  const printable = isMissing ? '' : escapeControls(`${cell}`)
  // A number keeps its sign: only a text can be a formula.
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(printable) ? `'${printable}` : printable
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
