import { APPLICATION_CPU } from '../analysis/compare-runs.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { alignLeft, alignRight } from '../lib/text-table.js'
import { renderMinute } from '../lib/units.js'
import { listVariedAxes, renderAxes } from '../model/arms.js'
import { createColourChooser } from './charts/colours.js'
import { drawOverRuns } from './charts/over-runs.js'
import { renderMedianWithInterval } from './charts/rounds.js'

/**
 * Draws the charts of a history, each with its numbers as a table. Pure.
 * @import { History, Line } from '../analysis/history.js'
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { Table } from '../lib/text-table.js'
 */

/** The quantities of a history, by name: APPLICATION_CPU is that of the applications without sidecars. */
export const HISTORY_QUANTITIES = { ...QUANTITIES, [APPLICATION_CPU.name]: APPLICATION_CPU }

/**
 * Draws a chart for each quantity and group of arms. The line of the applications without sidecars is in that of the primary
 * quantity, and has no chart of its own.
 * @param {History} history
 * @returns {ReportChart[]} [] if no line is of an arm with sidecars
 */
export function drawHistory({ lines, runs }) {
  const arms = lines.filter(line => !line.isControl).map(line => line.arm)
  const colourFor = createColourChooser(arms)
  const variedAxes = listVariedAxes(arms)
  const createChartKey = (/** @type {Line} */ line) =>
    JSON.stringify([line.isControl ? PRIMARY.name : line.quantity, line.group])
  const groups = [...groupBy(lines, createChartKey).values()].filter(group => group.some(line => !line.isControl))
  // Names of runs leave out the year, so that more fit.
  const names = runs.map(({ startedAt }) => renderMinute(startedAt).slice(5))
  const marks = runs.flatMap(({ changes }, run) =>
    changes.length > 0 ? [{ run, label: changes.map(({ label }) => label.split(' of ')[0]).join(', ') }] : [],
  )
  return groups.map((group, i) => {
    const [first] = group
    const row = HISTORY_QUANTITIES[first.quantity]
    const title = [capitalise(`${row.compared?.label}`), renderAxes(first.arm, variedAxes)].filter(Boolean).join(': ')
    const drawnLines = group.map(({ label, arm, isControl, values }) => ({
      label,
      colour: colourFor(arm),
      isControl,
      points: values.map(value => scaleToShownUnit(value, row)),
    }))
    const digits = chooseHistoryDigits(row)
    const chart = drawOverRuns({ title, unit: row.unit, digits, runs: names, lines: drawnLines, marks })
    return { ...chart, id: `over-runs-${i + 1}`, table: tabulateRuns({ title, row, runs, lines: drawnLines }) }
  })
}

/**
 * Tabulates the values of each line, run by run.
 * @param {{ title: string, row: QuantityRow, runs: History['runs'],
 *   lines: { label: string, points: ReturnType<typeof scaleToShownUnit>[] }[] }} options row: of the quantity
 * @returns {Table} a cell without a value is `-`
 */
function tabulateRuns({ title, row, runs, lines }) {
  return {
    caption: `${title}, ${row.unit}`,
    columns: [...alignLeft('run', 'started'), ...alignRight(...lines.map(({ label }) => label))],
    rows: runs.map(({ folder, startedAt }, i) => [
      folder,
      startedAt,
      ...lines.map(({ points }) => renderMedianWithInterval(points[i], chooseHistoryDigits(row))),
    ]),
  }
}

/**
 * Converts the median and interval of a quantity to the unit in which it is shown.
 * @param {import('../model/types.ts').Quantity} quantity
 * @param {QuantityRow} row of the quantity
 * @returns {{ median: number, low: number | null, high: number | null } | null} null without a median
 */
export function scaleToShownUnit({ median, low, high }, { scale = 1 }) {
  return median === null ? null : { median: median / scale, low: low && low / scale, high: high && high / scale }
}

/**
 * Chooses the decimals of a quantity in a history: those of one sidecar, if it has such.
 * @param {QuantityRow} row
 * @returns {number}
 */
export function chooseHistoryDigits({ digits, digitsOfOne = digits }) {
  return digitsOfOne
}
