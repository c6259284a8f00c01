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

/**
 * Why two arms did not do equal work; empty when they did, or when only what the experiment sets aside differs.
 * @param {{ rows: ParityRow[], a: Arm, b: Arm, relaxed: string[] }} options
 * @returns {string[]}
 */
export function findDisparities({ rows, a, b, relaxed }) {
  return PARITY_NAMES.filter(name => !relaxed.includes(name)).flatMap(name => {
    const [x, y] = [a, b].map(arm =>
      rows.find(
        row =>
          row.name === name &&
          row.plane === nameOf({ ...arm, repeatOf: null }) &&
          row.link === arm.link &&
          row.capCores === arm.capCores &&
          row.workers === arm.conditions.workers &&
          row.envoyProfile === arm.conditions.envoyProfile,
      ),
    )
    if (!x || !y) return []
    const wrong = [x, y].filter(row => row.expected !== null && row.found !== row.expected)
    if (wrong.length > 0) return wrong.map(row => `${name}: ${row.plane}: ${row.found}, ${row.expected} is expected`)
    return x.found === y.found ? [] : [`${name}: ${x.plane}: ${x.found}; ${y.plane}: ${y.found}`]
  })
}
