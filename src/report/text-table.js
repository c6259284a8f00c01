import CliTable from 'cli-table3'

/**
 * Tables for the terminal. Pure.
 */

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map(name => [name, '']),
)

/**
 * A table, however it is shown. Lines of a cell are parted by \n.
 * @typedef {object} Table
 * @property {string} caption
 * @property {[string, 'left' | 'right'][]} columns
 * @property {(string | { content: string, colSpan: number })[][]} rows
 */

/**
 * Parts of a report, each of some lines, with an empty line between them.
 * @param {string[][]} parts those without lines are left out
 */
export function joinParts(parts) {
  return parts
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

/**
 * The lines of a table for the terminal, without its caption.
 * @param {Table} table
 * @returns {string[]}
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
