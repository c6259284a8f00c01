import Table from 'cli-table3'

/**
 * Tables for the terminal. Pure.
 */

const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map(name => [name, '']),
)

/** @param {[string, 'left' | 'right'][]} columns */
export function createTable(columns) {
  return new Table({
    head: columns.map(([name]) => name),
    colAligns: columns.map(([, align]) => align),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
    chars: { ...NO_LINES, middle: ' ' },
  })
}

/**
 * The lines of a text without the spaces at their ends.
 * @param {string} text
 */
export function trimLines(text) {
  return text.split('\n').map(line => line.trimEnd())
}
