import { groupBy } from '../../lib/group-by.js'
import { createGroupKey, renderArmName } from '../../model/arms.js'
import { LEAN } from '../../model/features.js'
import { listArms } from '../../model/results.js'
import { PARITY_NAMES, pickConfiguration, pickWorkerSize, renderRowName } from './checks.js'

/**
 * Judges whether work is equal, row by row. Pure.
 * @import { Arm, ParityRow, Summary } from '../../model/types.ts'
 */

/** The rows of the answers to an arm's own load. */
const LOAD_ROWS = ['parity-load', 'parity-chunks']
const PAIRS_MOST = 3

/**
 * Says whether the result of a row is not the expected one.
 * @param {{ found: string, expected: string | null }} row
 * @returns {boolean} false also: nothing is expected (null)
 */
export function isWrong({ found, expected }) {
  return expected !== null && found !== expected
}

/**
 * An arm, and the rows of its run.
 * @typedef {{ arm: Arm, rows: ParityRow[], name?: string }} Judged name: the one in lines about it; absent: its plane's
 */

/** @typedef {{ a: Judged, b: Judged, relaxed: string[] }} JudgedPair relaxed: names of the rows that the experiment sets aside */

/**
 * Lists why two arms did not do equal work. It leaves out checks of which only one arm has a row or that the experiment sets
 * aside, rows of a plane as a mesh deploys it, rows in which both arms fall short alike and declare it, and, of two folders of
 * the user, all but the answers to their load.
 * @param {JudgedPair} pair
 * @returns {string[]} a line for each arm that falls short in a row, or one for a row in which they differ, which begins with the
 *   check and a colon; []: they did equal work
 */
export function listPairDisparities(pair) {
  return pairRows(pair).flatMap(({ rowA, rowB, check }) => {
    if (rowA.isDeployed || rowB.isDeployed || haveSameDeclaredResult([rowA, rowB])) return []
    // Two folders of the user are compared with each other, by the answers to their load.
    if (rowA.isOwn && rowB.isOwn && !LOAD_ROWS.includes(check)) return []
    const wrongRows = [rowA, rowB].filter(isWrong)
    if (wrongRows.length > 0) return wrongRows.map(renderShortfall)
    return rowA.found === rowB.found ? [] : [`${check}: ${rowA.plane}: ${rowA.found}; ${rowB.plane}: ${rowB.found}`]
  })
}

/**
 * Renders the names of the rows in which two arms differ, if at least one of them runs as a mesh deploys it.
 * @param {JudgedPair} pair
 * @returns {string[]} one line with all names, without `parity-`; []: no row differs, or neither runs so
 */
export function renderUnequalRows(pair) {
  const unequal = pairRows(pair).filter(
    ({ rowA, rowB }) => (rowA.isDeployed || rowB.isDeployed) && rowA.found !== rowB.found,
  )
  const names = unequal.map(({ check }) => renderRowName(check))
  return names.length > 0 ? [`unequal work: ${names.join(', ')}`] : []
}

/**
 * Pairs the rows of two arms by check. Rows that only one arm has, or that the experiment sets aside, are left out.
 * @param {JudgedPair} pair
 * @returns {{ check: string, rowA: ParityRow, rowB: ParityRow }[]} []: no row is left
 */
function pairRows({ a, b, relaxed }) {
  return PARITY_NAMES.filter(name => !relaxed.includes(name)).flatMap(check => {
    const [rowA, rowB] = [a, b].map(judged => findRow(judged, check))
    return rowA && rowB ? [{ check, rowA, rowB }] : []
  })
}

/**
 * Lists the rows that are not as expected. Left out are: rows that the experiment sets aside; rows of planes as a mesh deploys them;
 * rows of the user's own scripts; and rows in which all arms have the same result and each declares that it lacks something.
 * @param {{ judged: Judged[], relaxed: string[] }} options relaxed: names of rows that the experiment sets aside
 * @returns {string[]} a line for each row, each once, which begins with the check and a colon; []: none is wrong
 */
export function renderWrongRows({ judged, relaxed }) {
  const names = PARITY_NAMES.filter(name => !relaxed.includes(name))
  const rows = names.flatMap(check => {
    const rowsOfCheck = judged.flatMap(arm => findRow(arm, check) ?? [])
    return haveSameDeclaredResult(rowsOfCheck) ? [] : rowsOfCheck
  })
  const wrongRows = rows.filter(row => isWrong(row) && !row.isDeployed && !row.isOwn)
  return [...new Set(wrongRows.map(renderShortfall))]
}

/**
 * Lists the names of the rows that are not as expected, or in which arms of a group (`createGroupKey`) differ. A/A repeats are
 * left out.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {{ differing: string[], wrong: string[] }} wrong: those of `differing` that the run did not set aside; []: none
 */
export function listDifferingRows({ parity, results, relaxes }) {
  const judged = listJudged(listArms({ results }), parity)
  const differences = pairJudged(judged).flatMap(pair => listPairDisparities({ ...pair, relaxed: [] }))
  const disparities = [...renderWrongRows({ judged, relaxed: [] }), ...differences]
  const names = [...new Set(parity.map(row => row.name))]
  const differing = names.filter(name => disparities.some(line => line.startsWith(`${name}:`)))
  return { differing, wrong: differing.filter(name => !relaxes.some(({ gate }) => gate === name)) }
}

/**
 * Lists arms with the rows of their run. A/A repeats are left out.
 * @param {Arm[]} arms
 * @param {ParityRow[]} rows
 * @returns {Judged[]}
 */
function listJudged(arms, rows) {
  return arms.filter(arm => arm.repeatOf === null).map(arm => ({ arm, rows }))
}

/**
 * Pairs arms of a group (`createGroupKey`): arms of other features, TLS or protocol have other rows by design.
 * @param {Judged[]} judged
 * @returns {{ a: Judged, b: Judged }[]} []: no two arms are in one group
 */
function pairJudged(judged) {
  const pairs = judged.flatMap((a, i) => judged.slice(i + 1).map(b => ({ a, b })))
  return pairs.filter(({ a, b }) => createGroupKey(a.arm) === createGroupKey(b.arm))
}

/**
 * Renders which pairs of arms will have no verdict, since they do not do equal work.
 * @param {{ arms: Arm[], rows: ParityRow[], relaxed: string[] }} options relaxed: names of rows that the experiment sets aside
 * @returns {string[]} a line for each difference, each once, with its pairs; []: all pairs did equal work
 */
export function renderUnequalPairs({ arms, rows, relaxed }) {
  const differences = pairJudged(listJudged(arms, rows)).flatMap(pair => {
    const pairName = `${renderArmName(pair.a.arm)} and ${renderArmName(pair.b.arm)}`
    return listPairDisparities({ ...pair, relaxed }).map(line => ({ line, pairName }))
  })
  return [...groupBy(differences, ({ line }) => line)].map(([line, lineDifferences]) => {
    const pairs = [...new Set(lineDifferences.map(({ pairName }) => pairName))]
    const more = pairs.length > PAIRS_MOST ? `, and on ${pairs.length - PAIRS_MOST} more pairs` : ''
    return `unequal work (${renderRowName(line)}): no verdict on ${pairs.slice(0, PAIRS_MOST).join(', ')}${more}`
  })
}

/**
 * Finds an arm's row of a check, with the arm's name as its plane.
 * @param {Judged} judged
 * @param {string} check
 * @returns {ParityRow | undefined} undefined: the check was not made for it
 */
function findRow({ arm, rows, name }, check) {
  const row = rows.find(other => other.name === check && isAboutArm(other, arm))
  return row && { ...row, plane: name ?? row.plane }
}

/**
 * Says whether planes have the same result in a check, and each declares that it lacks something there, so that their work is
 * equal. Their declarations need not be the same.
 * @param {ParityRow[]} rows of one check
 * @returns {boolean} false also: fewer than two rows
 */
function haveSameDeclaredResult(rows) {
  const shortfalls = new Set(rows.map(({ found, differences }) => JSON.stringify([found, differences])))
  return rows.length > 1 && shortfalls.size === 1 && rows.every(({ lacks = [] }) => lacks.length > 0)
}

/**
 * Renders a row that is not as expected, with the declared reasons if there are some.
 * @param {ParityRow} row
 * @returns {string}
 */
function renderShortfall({ name, plane, found, expected, lacks = [] }) {
  return `${name}: ${plane}: ${lacks.length > 0 ? lacks.join('; ') : `${found}, ${expected} is expected`}`
}

/**
 * Says whether a row is about an arm: it has the arm's configuration and size, and covers its link.
 * @param {ParityRow} row
 * @param {Arm} arm
 * @returns {boolean} true also: a row of every size (null), or of every link (absent)
 */
function isAboutArm(row, arm) {
  const { links, size } = row
  if (links && !links.includes(arm.link)) return false
  if (!hasConfiguration(row, pickConfiguration(arm))) return false
  const { link, cpuLimitCores, workers } = pickWorkerSize(arm)
  return size === null || (size.link === link && size.cpuLimitCores === cpuLimitCores && size.workers === workers)
}

/**
 * Says whether a row is of a configuration.
 * @param {ParityRow} row
 * @param {ReturnType<typeof pickConfiguration>} configuration
 * @returns {boolean} the interception does not count if the row has none, as in older kits
 */
function hasConfiguration({ features = LEAN, ...row }, { interception, ...configuration }) {
  if (row.plane !== configuration.plane || row.tls !== configuration.tls) return false
  if (row.protocol !== configuration.protocol || features !== configuration.features) return false
  return row.interception === undefined || row.interception === interception
}

/**
 * Joins lines `name: difference` with the same difference into one line: `name and N more: difference`.
 * @param {string[]} lines
 * @returns {string[]} in the order of the first line of each difference; lines without `: ` stay as they are
 */
export function joinAlikeLines(lines) {
  const parts = lines.map(line => {
    const [name, ...others] = line.split(': ')
    return { line, name, difference: others.join(': ') }
  })
  return [...groupBy(parts, ({ difference }) => difference)].flatMap(([difference, alike]) => {
    const [{ name }] = alike
    if (difference === '' || alike.length === 1) return alike.map(({ line }) => line)
    return `${name} and ${alike.length - 1} more: ${difference}`
  })
}
