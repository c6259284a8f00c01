/** Cuts texts and lines to the room that they have. Pure. */

/** The most columns of a line of an answer: a terminal may be as narrow. */
export const COLUMNS_MOST = 100
const ELLIPSIS_COLUMNS = 2

/**
 * Cuts a text to a number of characters. A text that was cut ends in an ellipsis.
 * @param {string} text
 * @param {number} [most] the characters, with the ellipsis; COLUMNS_MOST by default
 * @returns {string} the same text if it fits
 */
export function clipText(text, most = COLUMNS_MOST) {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`
}

/**
 * Keeps the first lines. If others are cut, the last one that is kept ends in an ellipsis.
 * @param {string[]} lines of at most COLUMNS_MOST columns
 * @param {number} most number of lines, at least 1
 * @returns {string[]}
 */
export function cutLines(lines, most) {
  if (lines.length <= most) return lines
  const last = lines[most - 1].slice(0, COLUMNS_MOST - ELLIPSIS_COLUMNS)
  return [...lines.slice(0, most - 1), clipText(`${last} …`)]
}
