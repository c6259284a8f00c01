/** The parts of an answer for a pull request, which the report's Markdown escapes and joins. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Cell, Picture } from '../../answer/picture.js'
 * @import { Table } from '../../lib/text-table.js'
 */

/**
 * Tabulates a picture. Values that other formats draw as bars get their interval.
 * @param {Picture} picture
 * @returns {Table} without a caption; a cell that was not measured is `-`
 */
export function tabulatePicture({ columns, rows }) {
  const renderCell = (/** @type {Cell | null} */ cell, /** @type {number} */ column) => {
    if (cell === null) return '-'
    return `${cell.text}${columns[column].isBar ? renderCellInterval(cell) : ''}`
  }
  return {
    caption: '',
    columns: [
      ['', 'left'],
      ...columns.map(({ group, heading, align = 'right' }) => {
        return /** @type {[string, 'left' | 'right']} */ ([group ? `${group}, ${heading}` : heading, align])
      }),
    ],
    rows: rows.map(({ label, cells }) => [label, ...cells.map(renderCell)]),
  }
}

/**
 * Renders the interval of a cell, with the decimals of its text.
 * @param {Cell} cell
 * @returns {string} begins with a space; empty without an interval
 */
function renderCellInterval({ text, low = null, high = null }) {
  if (low === null || high === null) return ''
  const digits = /\.(\d+)/.exec(text)?.[1].length ?? 0
  return ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`
}

/**
 * Renders what was not measured, with reasons and commands.
 * @param {Pick<Answer, 'notMeasured'>} answer
 * @returns {string[]} a line for each; [] if everything was measured
 */
export function renderNotMeasured({ notMeasured }) {
  return notMeasured.map(({ what, why, commands }) => {
    const commandTexts = commands.map(({ command, gives }) => `${command} (${gives})`).join('; ')
    return `Not measured: ${what}${why ? ` (${why})` : ''}${commandTexts ? `: ${commandTexts}` : ''}`
  })
}
