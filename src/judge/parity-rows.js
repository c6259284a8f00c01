import { nameOf } from '../model/arms.js'

/**
 * Whether planes do equal work, row by row. Pure.
 * @import { Arm, ParityRow } from '../model/types.ts'
 */

/** What is held equal before load; each can be an experiment's axis instead. */
export const PARITY_NAMES = [
  'parity-answers',
  'parity-refusals',
  'parity-tls',
  'parity-workers',
  'parity-pooling',
  'parity-logging',
]

/** @typedef {{ arm: Arm, rows: ParityRow[], name?: string }} Judged an arm, and what was found in its run; name: what it is called, else by its plane */

/**
 * Why two arms did not do equal work; empty when they did, or when only what the experiment sets aside differs.
 * @param {{ a: Judged, b: Judged, relaxed: string[] }} options
 * @returns {string[]}
 */
export function findDisparities({ a, b, relaxed }) {
  return PARITY_NAMES.filter(name => !relaxed.includes(name)).flatMap(check => {
    const [x, y] = [a, b].map(({ arm, rows, name = nameOf({ ...arm, repeatOf: null }) }) => {
      const row = rows.find(r => isOf(r, arm) && r.name === check)
      return row && { ...row, plane: name }
    })
    if (!x || !y) return []
    const wrong = [x, y].filter(row => row.expected !== null && row.found !== row.expected)
    if (wrong.length > 0) return wrong.map(row => `${check}: ${row.plane}: ${row.found}, ${row.expected} is expected`)
    return x.found === y.found ? [] : [`${check}: ${x.plane}: ${x.found}; ${y.plane}: ${y.found}`]
  })
}

/**
 * @param {ParityRow} row
 * @param {Arm} arm
 */
function isOf(row, arm) {
  return (
    row.plane === nameOf({ ...arm, repeatOf: null }) &&
    row.link === arm.link &&
    row.capCores === arm.capCores &&
    row.workers === arm.conditions.workers
  )
}
