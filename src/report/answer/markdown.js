/** An answer for a pull request: its parts, which the report's Markdown escapes and joins. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Picture } from '../../answer/picture.js'
 * @import { Table } from '../../lib/text-table.js'
 */

/**
 * Makes tables of the pictures.
 * @param {Pick<Answer, 'pictures'>} answer
 * @returns {Table[]}
 */
export function tabulatePictures({ pictures }) {
  return pictures.map(tabulatePicture)
}

/**
 * Makes the table of a picture, in which values that other formats draw as bars have their interval.
 * @param {Picture} picture
 * @returns {Table}
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
      ...cells.map((cell, i) => (cell === null ? '-' : `${cell.text}${columns[i].isBar ? renderInterval(cell) : ''}`)),
    ]),
  }
}

/**
 * Renders an interval with the digits of the value; empty: none.
 * @param {import('../../answer/picture.js').Cell} cell
 */
function renderInterval({ text, low = null, high = null }) {
  if (low === null || high === null) return ''
  const digits = /\.(\d+)/.exec(text)?.[1].length ?? 0
  return ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`
}

/**
 * Lists what was not measured as sentences, each with its reason and commands; []: nothing.
 * @param {Pick<Answer, 'notMeasured'>} answer
 */
export function listNotMeasured({ notMeasured }) {
  return notMeasured.map(({ what, why, commands }) => {
    const how = commands.map(({ command, gives }) => `${command} (${gives})`).join('; ')
    return `Not measured: ${what}${why ? ` (${why})` : ''}${how ? `: ${how}` : ''}`
  })
}
