import { capitalise } from '../lib/letters.js'
import { ALGORITHMS, BALANCE_NAMES, BALANCE_QUANTITIES } from '../model/balance.js'
import { drawRounds } from './charts/rounds.js'
import { tabulateRounds } from './charts/tables.js'
import { left, right } from './columns.js'

/**
 * The tables and charts of a run of `balance`. Pure.
 * @import { BalanceRow, BalanceSummary, Quantity } from '../model/types.ts'
 * @import { ReportChart } from './charts/tables.js'
 * @import { Table } from '../lib/text-table.js'
 */

/** Lists the algorithms. @param {BalanceSummary} summary @param {BalanceRow['sizes']} sizes @returns {Table} */
export function tabulateBalance({ rows }, sizes) {
  const show = (/** @type {Quantity} */ { median, values }, /** @type {number} */ digits) => {
    const [least, most] = endsOf(values).map(value => value.toFixed(digits))
    return `${Number(median).toFixed(digits)} (${least} to ${most})`
  }
  return {
    caption: `Items of ${sizes} sizes: the median of the seeds, the least and the most`,
    columns: [...left('algorithm'), ...right(...BALANCE_NAMES.map(name => BALANCE_QUANTITIES[name].label))],
    rows: rows
      .filter(row => row.sizes === sizes)
      .map(({ algorithm, quantities }) => [
        ALGORITHMS[algorithm].label,
        ...BALANCE_NAMES.map(name => show(quantities[name], BALANCE_QUANTITIES[name].digits)),
      ]),
  }
}

/** Draws a chart for each quantity and kind of sizes. @param {BalanceSummary} summary @returns {ReportChart[]} */
export function drawBalance({ form, rows }) {
  return form.sizes.flatMap(sizes =>
    BALANCE_NAMES.map(name => {
      const { label, unit, digits } = BALANCE_QUANTITIES[name]
      const title = `${capitalise(label)}, items of ${sizes} sizes`
      const drawn = rows
        .filter(row => row.sizes === sizes)
        .map(({ algorithm, quantities }) => ({
          label: ALGORITHMS[algorithm].label,
          colour: 1 + Object.keys(ALGORITHMS).indexOf(algorithm),
          quantity: quantities[name],
        }))
      const given = { title, unit, digits, rows: drawn }
      return { ...drawRounds(given), id: `balance-${name}-${sizes}`, table: tabulateRounds(given) }
    }),
  )
}

/** Lists the definitions of algorithms and quantities. @returns {Table[]} */
export function tabulateBalanceWords() {
  return [
    {
      caption: 'Assignment algorithms',
      columns: left('algorithm', 'definition'),
      rows: Object.values(ALGORITHMS).map(({ label, does }) => [label, does]),
    },
    {
      caption: 'Quantities of an assignment',
      columns: left('quantity', 'definition'),
      rows: Object.values(BALANCE_QUANTITIES).map(({ label, unit, definition }) => [`${label} (${unit})`, definition]),
    },
  ]
}

/** Finds the least and the most. @param {(number | null)[]} values */
export function endsOf(values) {
  const numbers = values.map(Number)
  return [Math.min(...numbers), Math.max(...numbers)]
}
