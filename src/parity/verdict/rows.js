import { groupBy } from '../../lib/group-by.js'
import { renderMinute } from '../../lib/units.js'
import { AXES, createGroupKey } from '../../model/arms.js'
import { LEAN } from '../../model/features.js'
import { listArms } from '../../model/results.js'
import { PARITY_NAMES, pickConfiguration, pickWorkerSize } from './checks.js'

/** @import { Table } from '../../lib/text-table.js' */
/**
 * Judges whether work is equal, row by row, and as a table. Pure.
 * @import { Arm, Lack, ParityRow, Summary } from '../../model/types.ts'
 */

/** The row of the answers of the user's own scripts to the requests of their load. */
const LOAD_ROW = 'parity-load'
const OF_LOAD = [LOAD_ROW, 'parity-chunks']
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
 * Lists why two arms did not do equal work. It leaves out checks of which only one arm has a row, rows of a plane as a mesh
 * deploys it, rows in which both arms fall short alike, and, of two folders of the user, all but the answers to their load.
 * @param {JudgedPair} pair
 * @returns {string[]} one line for each row; []: they did equal work
 */
export function findDisparities(pair) {
  return pairRows(pair).flatMap(({ rows: [x, y], check }) => {
    if (x.isDeployed || y.isDeployed || haveSameDeclaredResult([x, y])) return []
    // Two folders of the user are compared with each other, by the answers to their load.
    if (x.isOwn && y.isOwn && !OF_LOAD.includes(check)) return []
    const wrongRows = [x, y].filter(isWrong)
    if (wrongRows.length > 0) return wrongRows.map(renderShortfall)
    return x.found === y.found ? [] : [`${check}: ${x.plane}: ${x.found}; ${y.plane}: ${y.found}`]
  })
}

/**
 * Lists the rows in which two arms differ, of which one runs as a mesh deploys it.
 * @param {JudgedPair} pair
 * @returns {string[]} one line with all names; []: no row differs
 */
export function listUnequalRows(pair) {
  const names = pairRows(pair).flatMap(({ rows: [x, y], check }) =>
    (x.isDeployed || y.isDeployed) && x.found !== y.found ? [check.replace('parity-', '')] : [],
  )
  return names.length > 0 ? [`unequal work: ${names.join(', ')}`] : []
}

/**
 * Pairs the rows of two arms by check. Rows that only one arm has, or that the experiment sets aside, are left out.
 * @param {JudgedPair} pair
 * @returns {{ check: string, rows: ParityRow[] }[]} rows: that of a and that of b
 */
function pairRows({ a, b, relaxed }) {
  return PARITY_NAMES.filter(name => !relaxed.includes(name)).flatMap(check => {
    const [x, y] = [a, b].map(judged => findRow(judged, check))
    return x && y ? [{ check, rows: [x, y] }] : []
  })
}

/**
 * Lists the rows that are not as expected. It leaves out rows in which all arms fall short alike and declare it, rows of planes
 * as a mesh deploys them or with scripts of the user, and rows that the experiment sets aside.
 * @param {{ judged: Judged[], relaxed: string[] }} options relaxed: names of rows that the experiment sets aside
 * @returns {string[]} one line for each row; []: none is wrong
 */
export function listWrongRows({ judged, relaxed }) {
  const names = PARITY_NAMES.filter(name => !relaxed.includes(name))
  const rows = names.flatMap(check => {
    const rows = judged.flatMap(arm => findRow(arm, check) ?? [])
    return haveSameDeclaredResult(rows) ? [] : rows
  })
  return [...new Set(rows.filter(row => isWrong(row) && !row.isDeployed && !row.isOwn).map(renderShortfall))]
}

/**
 * Lists the names of the unequal rows of a run. A/A repeats are left out, and arms are compared only within a group.
 * @param {Pick<Summary, 'parity' | 'results' | 'relaxes'>} summary
 * @returns {{ differing: string[], wrong: string[] }} wrong: those of `differing` that the run did not set aside; []: none
 */
export function listDifferingRows({ parity, results, relaxes }) {
  const judged = listArms({ results })
    .filter(arm => arm.repeatOf === null)
    .map(arm => ({ arm, rows: parity }))
  // Arms of other features, TLS or protocol have other rows by design.
  const pairs = judged.flatMap((a, i) => judged.slice(i + 1).map(b => ({ a, b })))
  const groupPairs = pairs.filter(({ a, b }) => createGroupKey(a.arm) === createGroupKey(b.arm))
  const differences = groupPairs.flatMap(pair => findDisparities({ ...pair, relaxed: [] }))
  const disparities = [...listWrongRows({ judged, relaxed: [] }), ...differences]
  const names = [...new Set(parity.map(row => row.name))]
  const differing = names.filter(name => disparities.some(line => line.startsWith(`${name}:`)))
  return { differing, wrong: differing.filter(name => !relaxes.some(({ gate }) => gate === name)) }
}

/**
 * Finds an arm's row of a check, with the arm's name as its plane.
 * @param {Judged} judged
 * @param {string} check
 * @returns {ParityRow | undefined} undefined: the check was not made for it
 */
function findRow({ arm, rows, name }, check) {
  const row = rows.find(r => r.name === check && isAboutArm(r, arm))
  return row && { ...row, plane: name ?? row.plane }
}

/**
 * Says whether planes have the same result in a check, and each declares that it lacks something there, so that their work is
 * equal. What they declare need not be the same.
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
 * Says whether a row is about an arm.
 * @param {ParityRow} row
 * @param {Arm} arm
 * @returns {boolean}
 */
function isAboutArm({ plane, tls, protocol, features = LEAN, interception, size, links }, arm) {
  const configuration = pickConfiguration(arm)
  if (links && !links.includes(arm.link)) return false
  if (
    plane !== configuration.plane ||
    tls !== configuration.tls ||
    protocol !== configuration.protocol ||
    features !== configuration.features
  )
    return false
  // Rows of older versions have no interception: they are about every form of it.
  if (interception !== undefined && interception !== configuration.interception) return false
  const { link, cpuLimitCores, workers } = pickWorkerSize(arm)
  return size === null || (size.link === link && size.cpuLimitCores === cpuLimitCores && size.workers === workers)
}

/** @typedef {{ name: string, found: string, expected: string | null, differences: string[] }} Row */

/**
 * Splits the differences of a row by what the plane declares to lack.
 * @param {Row} row
 * @param {Lack[]} lacks of the plane
 * @returns {{ known: string[], unknown: string[], mended: string[] }} known: declared reasons that explain a difference;
 *   unknown: differences that no lack covers; mended: declared reasons for which nothing differs
 */
export function splitByLacks(row, lacks) {
  const rowDifferences = listRowDifferences(row)
  const rowLacks = lacks.filter(lack => lack.row === row.name)
  return {
    known: rowLacks.filter(lack => rowDifferences.some(line => isCovered(lack, line))).map(({ why }) => why),
    unknown: rowDifferences.filter(line => !rowLacks.some(lack => isCovered(lack, line))),
    mended: rowLacks.filter(lack => !rowDifferences.some(line => isCovered(lack, line))).map(({ why }) => why),
  }
}

/**
 * Joins lines `name: difference` with the same difference into one line: `name and N more: difference`.
 * @param {string[]} differences
 * @returns {string[]}
 */
export function joinAlikeLines(differences) {
  const parts = differences.map(line => {
    const [name, ...what] = line.split(': ')
    return { line, name, what: what.join(': ') }
  })
  return [...groupBy(parts, ({ what }) => what)].flatMap(([what, alike]) => {
    const [{ name }] = alike
    if (what === '' || alike.length === 1) return alike.map(({ line }) => line)
    return `${name} and ${alike.length - 1} more: ${what}`
  })
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
 * Says whether a lack covers a line.
 * @param {Pick<Lack, 'of'>} lack
 * @param {string} line
 * @returns {boolean} true also: the lack covers all lines of its row (no `of`)
 */
function isCovered({ of }, line) {
  return of === undefined || of.test(line)
}

const CONFIGURATION = /** @type {const} */ (['tls', 'protocol', 'features', 'interception'])

/**
 * Tabulates the results of the checks. Planes with the same result share a line, and an axis that was varied has a column.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {Table}
 */
export function tabulateParity({ parity }) {
  const varied = CONFIGURATION.filter(axis => new Set(parity.map(row => readRowValue(row, axis))).size > 1)
  /** @type {Map<string, { cells: string[], result: string, planes: Set<string> }>} */
  const lines = new Map()
  for (const row of PARITY_NAMES.flatMap(name => parity.filter(r => r.name === name))) {
    const cells = [row.name.replace('parity-', ''), ...varied.map(axis => AXES[axis].render(readRowValue(row, axis)))]
    const result = isWrong(row) ? `${row.found} (${row.expected} is expected)` : row.found
    const key = JSON.stringify([...cells, result])
    const line = lines.get(key) ?? { cells, result, planes: new Set() }
    lines.set(key, { ...line, planes: line.planes.add(row.plane) })
  }
  return {
    caption: 'Equal work, tried before load',
    columns: ['', ...varied.map(axis => AXES[axis].label), 'data planes', 'found'].map(name => [name, 'left']),
    rows: [...lines.values()].map(({ cells, result, planes }) => [...cells, [...planes].join(', '), result]),
  }
}

/**
 * Lists the differences as `plane: difference`, each once. If the plane declares reasons, they replace its differences.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} []: none
 */
export function listDisparities({ parity }) {
  const lines = parity.flatMap(({ plane, differences, lacks }) =>
    (lacks ?? joinAlikeLines(differences)).map(difference => `${plane}: ${difference}`),
  )
  return [...new Set(lines)]
}

/**
 * Renders for each plane that runs as a mesh deploys it the rows in which its work is not as expected.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line for each plane; []: none differs
 */
export function renderScriptWork({ parity }) {
  const unequal = parity.filter(row => row.isDeployed && isWrong(row))
  return [...groupBy(unequal, ({ plane }) => plane)].map(([plane, planeRows]) => {
    const rows = new Set(planeRows.map(({ name }) => name.replace('parity-', '')))
    return `${plane} does its own work, as deployed: ${[...rows].join(', ')} ${rows.size === 1 ? 'differs' : 'differ'}.`
  })
}

/**
 * Renders how folders of scripts of the user are compared, and the rows in which they fall short of the kit's contract.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line; []: there are no such folders, or nothing to note
 */
export function renderScriptNotes({ parity }) {
  const scriptRows = parity.filter(row => row.isOwn)
  if (scriptRows.length === 0) return []
  const answers = new Set(scriptRows.filter(({ name }) => name === LOAD_ROW).map(({ found }) => found))
  const planes = [...groupBy(scriptRows, ({ plane }) => plane)]
  const shortfalls = planes.flatMap(([plane, rows]) => {
    // Declared lacks are left out: a copy of the kit's scripts has them, too.
    const undeclared = rows.filter(row => isWrong(row) && (row.lacks ?? []).length === 0)
    const names = new Set(undeclared.map(({ name }) => name.replace('parity-', '')))
    return names.size > 0 ? [`${plane} (${[...names].join(', ')})`] : []
  })
  // If a plane of the kit is compared, too, folders are held to its whole contract, and there is nothing to say.
  if (shortfalls.length === 0 && scriptRows.length < parity.length) return []
  const alikeNote = planes.length > 1 && answers.size === 1 ? ', and are alike' : ''
  return [
    `Own scripts are compared by their answers to the load${alikeNote}: ${planes.map(([plane]) => plane).join(', ')}.${shortfalls.length > 0 ? ` Not held to the kit's contract: ${shortfalls.join(', ')}.` : ''}`,
  ]
}

/**
 * Renders a note on the open traffic policy.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line; []: the run did not have that policy with TLS
 */
export function renderTrafficPolicy({ parity }) {
  const isOpen = parity.some(row => row.trafficPolicy === 'open' && row.tls !== 'plaintext')
  return isOpen
    ? ["Traffic policy open, as in the published comparison: a sidecar accepts any identity of the mesh's CA"]
    : []
}

/**
 * Renders which checks an earlier run made, and when.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line; []: this run made all
 */
export function renderCheckTimes({ parity }) {
  const moments = parity.flatMap(({ triedAt }) => triedAt ?? []).toSorted()
  if (moments.length === 0) return []
  const subject = moments.length === parity.length ? 'Equal work was' : 'Some of equal work was'
  const [first, last] = [moments[0], moments[moments.length - 1]].map(renderMinute)
  const period = first.slice(0, 10) === last.slice(0, 10) ? `on ${first}` : `between ${first} and ${last}`
  return [`${subject} tried ${period} UTC, and all that it depends on is the same: --recheck tries it again.`]
}

/**
 * Reads the value of a row on an axis. A row without one has the default of the axis.
 * @param {ParityRow} row
 * @param {typeof CONFIGURATION[number]} axis
 * @returns {any}
 */
function readRowValue(row, axis) {
  return row[axis] ?? AXES[axis].values[0]
}
