import { groupBy } from '../../lib/group-by.js'
import { renderMinute } from '../../lib/units.js'
import { AXES } from '../../model/arms.js'
import { PARITY_NAMES, renderRowName } from './checks.js'
import { isWrong, joinAlikeLines } from './rows.js'

/** @import { Table } from '../../lib/text-table.js' */
/**
 * The rows as a table, and the notes on them, for reports. Pure.
 * @import { ParityRow, Summary } from '../../model/types.ts'
 */

const CONFIGURATION_AXES = /** @type {const} */ (['tls', 'protocol', 'features', 'interception'])

/**
 * Tabulates the results of the checks in PARITY_NAMES; other rows are left out. Planes with the same result share a line, and an
 * axis that was varied has a column.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {Table} without rows: nothing was checked
 */
export function tabulateParity({ parity }) {
  const varied = CONFIGURATION_AXES.filter(axis => new Set(parity.map(row => readAxisValue(row, axis))).size > 1)
  /** @type {Map<string, { cells: string[], result: string, planes: Set<string> }>} */
  const lines = new Map()
  for (const row of PARITY_NAMES.flatMap(name => parity.filter(other => other.name === name))) {
    const values = varied.map(axis => AXES[axis].render(readAxisValue(row, axis)))
    const cells = [renderRowName(row.name), ...values]
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
 * Reads the value of a row on an axis.
 * @param {ParityRow} row
 * @param {typeof CONFIGURATION_AXES[number]} axis
 * @returns {any} the default of the axis if the row has none
 */
function readAxisValue(row, axis) {
  return row[axis] ?? AXES[axis].values[0]
}

/**
 * Lists the differences as `plane: difference`, each once, alike ones of a row joined. If a row has declared reasons (`lacks`),
 * they replace its differences.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} []: none
 */
export function listPlaneDifferences({ parity }) {
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
export function renderDeployedWork({ parity }) {
  const unequal = parity.filter(row => row.isDeployed && isWrong(row))
  return [...groupBy(unequal, ({ plane }) => plane)].map(([plane, planeRows]) => {
    const names = new Set(planeRows.map(({ name }) => renderRowName(name)))
    return `${plane} does its own work, as deployed: ${[...names].join(', ')} ${names.size === 1 ? 'differs' : 'differ'}.`
  })
}

/**
 * Renders how folders of scripts of the user are compared, and the rows in which they fall short of the kit's contract.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line; []: there are no such folders, or they do not fall short beside a plane of the kit
 */
export function renderScriptNotes({ parity }) {
  const scriptRows = parity.filter(row => row.isOwn)
  if (scriptRows.length === 0) return []
  const answers = new Set(scriptRows.filter(({ name }) => name === 'parity-load').map(({ found }) => found))
  const planes = [...groupBy(scriptRows, ({ plane }) => plane)]
  const shortfalls = planes.flatMap(([plane, rows]) => {
    // Declared lacks are left out: a copy of the kit's scripts has them, too.
    const undeclared = rows.filter(row => isWrong(row) && (row.lacks ?? []).length === 0)
    const names = new Set(undeclared.map(({ name }) => renderRowName(name)))
    return names.size > 0 ? [`${plane} (${[...names].join(', ')})`] : []
  })
  // If a plane of the kit is compared, too, folders are held to its whole contract, and there is nothing to say.
  if (shortfalls.length === 0 && scriptRows.length < parity.length) return []
  const alikeNote = planes.length > 1 && answers.size === 1 ? ', and are alike' : ''
  const names = planes.map(([plane]) => plane).join(', ')
  const shortfallNote = shortfalls.length > 0 ? ` Not held to the kit's contract: ${shortfalls.join(', ')}.` : ''
  return [`Own scripts are compared by their answers to the load${alikeNote}: ${names}.${shortfallNote}`]
}

/**
 * Renders a note on the open traffic policy.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line; []: the run did not have that policy with TLS
 */
export function renderOpenPolicy({ parity }) {
  const isOpen = parity.some(row => row.trafficPolicy === 'open' && row.tls !== 'plaintext')
  return isOpen
    ? ["Traffic policy open, as in the published comparison: a sidecar accepts any identity of the mesh's CA"]
    : []
}

/**
 * Renders when earlier runs made checks, and whether they made all or some.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]} one line; []: this run made all
 */
export function renderCheckTimes({ parity }) {
  const times = parity.flatMap(({ triedAt }) => triedAt ?? []).toSorted()
  if (times.length === 0) return []
  const subject = times.length === parity.length ? 'Equal work was' : 'Some of equal work was'
  const [first, last] = [times[0], times[times.length - 1]].map(renderMinute)
  const period = first.slice(0, 10) === last.slice(0, 10) ? `on ${first}` : `between ${first} and ${last}`
  return [`${subject} tried ${period} UTC, and all that it depends on is the same: --recheck tries it again.`]
}
