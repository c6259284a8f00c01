import CliTable from 'cli-table3'

/** Tables for the terminal. Pure. */

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map(name => [name, '']),
)

/**
 * A table for any output. A cell may have several lines, with \n between them.
 * @typedef {string | { content: string, colSpan: number }} Cell
 * @typedef {{ caption: string, columns: [string, 'left' | 'right'][], rows: Cell[][] }} Table
 */

/**
 * Makes columns on the left.
 * @param {string[]} names
 * @returns {[string, 'left'][]}
 */
export const alignLeft = (...names) => names.map(name => [name, 'left'])

/**
 * Makes columns on the right.
 * @param {string[]} names
 * @returns {[string, 'right'][]}
 */
export const alignRight = (...names) => names.map(name => [name, 'right'])

/**
 * Joins parts with an empty line between them, without those that have no lines.
 * @param {string[][]} parts
 * @returns {string} without a line end at its end; empty: no part has lines
 */
export function joinParts(parts) {
  return parts
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

/**
 * Renders the lines of a table without its caption.
 * @param {Table} table
 * @returns {string[]} lines without spaces at their ends
 */
export function renderTextTable({ columns, rows }) {
  const table = new CliTable({
    head: columns.map(([name]) => name),
    colAligns: columns.map(([, align]) => align),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    chars: { ...NO_LINES, middle: ' ' },
  })
  table.push(...rows)
  return table
    .toString()
    .split('\n')
    .map(line => line.trimEnd())
}

/**
 * Wraps a line at 100 columns, but neither before a % nor in a command with one argument (`npm run bench -- conditions`). A longer
 * word stays whole.
 * @param {string} text
 * @param {string} [indent] of the first line
 * @param {string} [hanging] of the others; `indent` by default
 * @returns {string[]} lines; one, the indent alone, for an empty text
 */
export function wrapText(text, indent = '', hanging = indent) {
  /** @type {string[]} */
  const lines = []
  for (const word of text.trim().match(/(?:\(?(?:npm run \S+ --|npx sidecar-bench \S+) \S+|\S+)(?:\s+%\S*)*/g) ?? [
    '',
  ]) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= 100) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${lines.length === 0 ? indent : hanging}${word}`)
  }
  return lines
}

/**
 * Keeps some columns of a table. In a row with fewer cells than columns, each cell that spans columns then spans them all.
 * @template {Omit<Table, 'caption'>} T
 * @param {T} table
 * @param {(i: number) => boolean} isKept gets the index of a column
 * @returns a copy of the table
 */
export function keepColumns(table, isKept) {
  const columns = table.columns.filter((_, i) => isKept(i))
  const rows = table.rows.map(row =>
    row.length === table.columns.length
      ? row.filter((_, i) => isKept(i))
      : row.map(cell => (typeof cell === 'object' ? { ...cell, colSpan: columns.length } : cell)),
  )
  return { ...table, columns, rows }
}
