import { ALGORITHMS, BALANCE_NAMES, BALANCE_QUANTITIES } from '../model/balance.js'
import { drawRounds } from './charts/rounds.js'
import { tabulateRounds } from './charts/tables.js'

/**
 * The tables and charts of a run of `balance`. Pure.
 * @import { BalanceRow, BalanceSummary, Quantity } from '../model/types.ts'
 * @import { ReportChart } from './charts/tables.js'
 * @import { Table } from '../lib/text-table.js'
 */

/** @param {BalanceSummary} summary @param {BalanceRow['sizes']} sizes @returns {Table} */
export function tabulateBalance({ rows }, sizes) {
  const show = (/** @type {Quantity} */ { median, values }, /** @type {number} */ digits) => {
    const [least, most] = endsOf(values).map(value => value.toFixed(digits))
    return `${Number(median).toFixed(digits)} (${least} to ${most})`
  }
  return {
    caption: `Items of ${sizes} sizes: the median of the seeds, the least and the most`,
    columns: [
      ['algorithm', 'left'],
      ...BALANCE_NAMES.map(name => /** @type {[string, 'right']} */ ([BALANCE_QUANTITIES[name].label, 'right'])),
    ],
    rows: rows
      .filter(row => row.sizes === sizes)
      .map(({ algorithm, quantities }) => [
        ALGORITHMS[algorithm].label,
        ...BALANCE_NAMES.map(name => show(quantities[name], BALANCE_QUANTITIES[name].digits)),
      ]),
  }
}

/** A chart a quantity and kind of sizes. @param {BalanceSummary} summary @returns {ReportChart[]} */
export function drawBalance({ form, rows }) {
  return form.sizes.flatMap(sizes =>
    BALANCE_NAMES.map(name => {
      const { label, unit, digits } = BALANCE_QUANTITIES[name]
      const title = `${label[0].toUpperCase()}${label.slice(1)}, items of ${sizes} sizes`
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

/** Definitions of the algorithms and the quantities. @returns {Table[]} */
export function tabulateBalanceWords() {
  const columns = (/** @type {string} */ first) =>
    /** @type {Table['columns']} */ ([
      [first, 'left'],
      ['definition', 'left'],
    ])
  return [
    {
      caption: 'Assignment algorithms',
      columns: columns('algorithm'),
      rows: Object.values(ALGORITHMS).map(({ label, does }) => [label, does]),
    },
    {
      caption: 'Quantities of an assignment',
      columns: columns('quantity'),
      rows: Object.values(BALANCE_QUANTITIES).map(({ label, unit, definition }) => [`${label} (${unit})`, definition]),
    },
  ]
}

/** The least and the most. @param {(number | null)[]} values */
export function endsOf(values) {
  const numbers = values.map(Number)
  return [Math.min(...numbers), Math.max(...numbers)]
}
