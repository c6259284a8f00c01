import { isWrong } from './rows.js'

/** What a plane declares that it lacks, held against what was found. Pure. */
/** @import { Lack } from '../../model/types.ts' */

/** @typedef {{ name: string, found: string, expected: string | null, differences: string[] }} Row */

/**
 * Splits what differs in a row by what the plane declares.
 * @param {Row} row @param {Lack[]} lacks of the plane
 * @returns {{ known: string[], unknown: string[], mended: string[] }} known: reasons; unknown: lines that no reason covers;
 *   mended: reasons for which nothing differs
 */
export function holdAgainst(row, lacks) {
  const wrong = listWrong(row)
  const own = lacks.filter(lack => lack.row === row.name)
  return {
    known: own.filter(lack => wrong.some(line => isOf(lack, line))).map(({ why }) => why),
    unknown: wrong.filter(line => !own.some(lack => isOf(lack, line))),
    mended: own.filter(lack => !wrong.some(line => isOf(lack, line))).map(({ why }) => why),
  }
}

/** Lines that differ in the same thing as one. @param {string[]} differences */
export function joinAlike(differences) {
  const parts = differences.map(line => {
    const [name, ...what] = line.split(': ')
    return { line, name, what: what.join(': ') }
  })
  return [...new Set(parts.map(({ what }) => what))].flatMap(what => {
    const alike = parts.filter(part => part.what === what)
    const [{ name }] = alike
    if (what === '' || alike.length === 1) return alike.map(({ line }) => line)
    return `${name} and ${alike.length - 1} more: ${what}`
  })
}

/** Lists what differs in a row, a line each. @param {Row} row */
function listWrong({ found, expected, differences }) {
  if (differences.length > 0) return differences
  return isWrong({ found, expected }) ? [`${found}, expected ${expected}`] : []
}

/** @param {Pick<Lack, 'of'>} lack @param {string} line */
function isOf({ of }, line) {
  return of === undefined || of.test(line)
}
