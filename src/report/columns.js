/** Columns of a table, all of one alignment. Pure. */

/** @param {string[]} names @returns {[string, 'left'][]} */
export function left(...names) {
  return names.map(name => [name, 'left'])
}

/** @param {string[]} names @returns {[string, 'right'][]} */
export function right(...names) {
  return names.map(name => [name, 'right'])
}
