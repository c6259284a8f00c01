/** An answer for a pull request: its parts, which the report's Markdown escapes and joins. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Picture } from '../../answer/picture.js'
 * @import { Table } from '../../lib/text-table.js'
 */

/**
 * Tabulates the pictures.
 * @param {Pick<Answer, 'pictures'>} answer
 * @returns {Table[]} one for each picture
 */
export function tabulatePictures({ pictures }) {
  return pictures.map(tabulatePicture)
}

/**
 * Tabulates a picture. Values that other formats draw as bars get their interval.
 * @param {Picture} picture
 * @returns {Table} `-`: null
 */
function tabulatePicture({ columns, rows }) {
  return {
    caption: '',
    columns: [
      ['', 'left'],
      ...columns.map(({ group, heading, align = 'right' }) => {
        return /** @type {[string, 'left' | 'right']} */ ([group ? `${group}, ${heading}` : heading, align])
      }),
    ],
    rows: rows.map(({ label, cells }) => [
      label,
      ...cells.map((cell, i) =>
        cell === null ? '-' : `${cell.text}${columns[i].isBar ? renderCellInterval(cell) : ''}`,
      ),
    ]),
  }
}

/**
 * Renders the interval of a cell, with the digits of its value.
 * @param {import('../../answer/picture.js').Cell} cell
 * @returns {string} begins with a space; empty: there is none
 */
function renderCellInterval({ text, low = null, high = null }) {
  if (low === null || high === null) return ''
  const digits = /\.(\d+)/.exec(text)?.[1].length ?? 0
  return ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`
}

/**
 * Renders what was not measured, with reasons and commands.
 * @param {Pick<Answer, 'notMeasured'>} answer
 * @returns {string[]} a sentence for each; []: there is nothing
 */
export function listNotMeasured({ notMeasured }) {
  return notMeasured.map(({ what, why, commands }) => {
    const commandTexts = commands.map(({ command, gives }) => `${command} (${gives})`).join('; ')
    return `Not measured: ${what}${why ? ` (${why})` : ''}${commandTexts ? `: ${commandTexts}` : ''}`
  })
}
