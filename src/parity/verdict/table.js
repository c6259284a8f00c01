import { AXES } from '../../model/axes.js'
import { joinAlike } from './lacks.js'
import { isWrong, PARITY_NAMES } from './rows.js'

/** Whether planes do equal work, as a table. Pure. */
/** @import { ParityRow, Summary } from '../../model/types.ts' */
/** @import { Table } from '../../lib/text-table.js' */

const CONFIGURATION = /** @type {const} */ (['tls', 'protocol', 'features', 'interception'])

/**
 * Tabulates what was found before load: planes that do equal work share a line.
 * @param {Pick<Summary, 'parity'>} summary @returns {Table}
 */
export function tabulateParity({ parity }) {
  const varied = CONFIGURATION.filter(axis => new Set(parity.map(row => valueOn(row, axis))).size > 1)
  /** @type {Map<string, { cells: string[], found: string, planes: Set<string> }>} */
  const lines = new Map()
  for (const row of PARITY_NAMES.flatMap(name => parity.filter(r => r.name === name))) {
    const cells = [row.name.replace('parity-', ''), ...varied.map(axis => AXES[axis].show(valueOn(row, axis)))]
    const found = tellFound(row)
    const key = JSON.stringify([...cells, found])
    const line = lines.get(key) ?? { cells, found, planes: new Set() }
    lines.set(key, { ...line, planes: line.planes.add(row.plane) })
  }
  return {
    caption: 'Equal work, tried before load',
    columns: ['', ...varied.map(axis => AXES[axis].label), 'data planes', 'found'].map(name => [name, 'left']),
    rows: [...lines.values()].map(({ cells, found, planes }) => [...cells, [...planes].join(', '), found]),
  }
}

/** Lists what differs, plane by plane, or why it does where the plane declares that. @param {Pick<Summary, 'parity'>} summary */
export function listDisparities({ parity }) {
  const lines = parity.flatMap(({ plane, differences, lacks }) =>
    (lacks ?? joinAlike(differences)).map(difference => `${plane}: ${difference}`),
  )
  return [...new Set(lines)]
}

/**
 * Tells of each plane that is as a mesh deploys it in which rows it does other work than is asked of planes.
 * @param {Pick<Summary, 'parity'>} summary
 */
export function tellOwnWork({ parity }) {
  const found = parity.filter(row => row.isDeployed && isWrong(row))
  return [...new Set(found.map(({ plane }) => plane))].map(plane => {
    const rows = new Set(found.filter(row => row.plane === plane).map(({ name }) => name.replace('parity-', '')))
    return `${plane} does its own work, as deployed: ${[...rows].join(', ')} ${rows.size === 1 ? 'differs' : 'differ'}.`
  })
}

/** Names the open policy where it was measured. @param {Pick<Summary, 'parity'>} summary */
export function tellPolicy({ parity }) {
  const isOpen = parity.some(row => row.trafficPolicy === 'open' && row.tls !== 'plaintext')
  return isOpen
    ? ["Traffic policy open, as in the published comparison: a sidecar accepts any identity of the mesh's CA"]
    : []
}

/** @param {ParityRow} row @param {typeof CONFIGURATION[number]} axis */
function valueOn(row, axis) {
  return row[axis] ?? AXES[axis].values[0]
}

/** @param {ParityRow} row */
function tellFound({ found, expected }) {
  return expected === null || found === expected ? found : `${found} (${expected} is expected)`
}
