/**
 * Whether planes do equal work, as a table. Pure.
 * @import { Summary } from '../model/types.ts'
 * @import { Table } from './text-table.js'
 */

/**
 * What was found of each plane before load.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {Table}
 */
export function tabulateParity({ parity }) {
  const planes = [...new Set(parity.map(row => row.plane))]
  const rows = [...new Set(parity.map(row => row.name))].map(name => {
    const found = planes.map(plane => [
      ...new Set(parity.filter(r => r.name === name && r.plane === plane).map(r => r.found)),
    ])
    return [name.replace('parity-', ''), ...found.map(words => words.join('\n'))]
  })
  const columns = ['', ...planes].map(name => /** @type {[string, 'left']} */ ([name, 'left']))
  return { caption: 'Equal work, tried before load', columns, rows }
}

/**
 * What differs, plane by plane.
 * @param {Pick<Summary, 'parity'>} summary
 * @returns {string[]}
 */
export function listDisparities({ parity }) {
  return [...new Set(parity.flatMap(row => row.differences.map(difference => `${row.plane}: ${difference}`)))]
}
