import { isWrong } from './rows.js'

/**
 * Differences of a plane's work from the expected one, and the lacks by which the plane declares them. Pure.
 * @import { Lack } from '../../model/types.ts'
 */

/**
 * The members of a row that lacks explain.
 * @typedef {{ name: string, found: string, expected: string | null, differences: string[] }} Row
 */

/**
 * Compares the differences of a row with the lacks that its plane declares.
 * @param {Row} row
 * @param {Lack[]} lacks of the plane, for any row
 * @returns {{ declared: string[], undeclared: string[], stale: string[] }} declared: reasons of the lacks that cover a difference;
 *   undeclared: differences that no lack covers; stale: reasons of the lacks for this row that cover none; []: there are none
 */
export function sortDifferences(row, lacks) {
  const rowDifferences = listRowDifferences(row)
  const rowLacks = lacks.filter(lack => lack.row === row.name)
  const coversAny = (/** @type {Lack} */ lack) => rowDifferences.some(line => isCovered(lack, line))
  return {
    declared: rowLacks.filter(coversAny).map(({ why }) => why),
    undeclared: rowDifferences.filter(line => !rowLacks.some(lack => isCovered(lack, line))),
    stale: rowLacks.filter(lack => !coversAny(lack)).map(({ why }) => why),
  }
}

/**
 * Lists the differences of a row. A row that is not as expected and lists none is one difference itself.
 * @param {Row} row
 * @returns {string[]} []: the row is as expected
 */
function listRowDifferences({ found, expected, differences }) {
  if (differences.length > 0) return differences
  return isWrong({ found, expected }) ? [`${found}, expected ${expected}`] : []
}

/**
 * Says whether a lack covers a difference.
 * @param {Pick<Lack, 'of'>} lack
 * @param {string} line of the difference
 * @returns {boolean} true also: the lack covers all differences of its row (no `of`)
 */
function isCovered({ of: pattern }, line) {
  return pattern === undefined || pattern.test(line)
}
