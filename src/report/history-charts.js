import { CONTROL } from '../analysis/compare-runs.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { alignLeft, alignRight } from '../lib/text-table.js'
import { renderMinute } from '../lib/units.js'
import { listVariedAxes, renderAxes } from '../model/arms.js'
import { drawOverRuns } from './charts/over-runs.js'
import { renderMedian } from './charts/rounds.js'
import { createColours } from './charts.js'

/**
 * Draws the charts of a history, each with its numbers as a table. Pure.
 * @import { History, Line } from '../analysis/history.js'
 * @import { QuantityRow } from '../judge/record/quantity-row.js'
 * @import { ReportChart } from './charts/tables.js'
 * @import { Table } from '../lib/text-table.js'
 */

/** The quantities of a history, by name: CONTROL is that of the applications without sidecars. */
export const ROWS = { ...QUANTITIES, [CONTROL.name]: CONTROL }

/**
 * Draws a chart for each quantity and group of arms. The control is in that of the primary quantity, and has no chart
 * of its own.
 * @param {History} history
 * @returns {ReportChart[]}
 */
export function drawHistory({ lines, runs }) {
  const colourFor = createColours(lines.filter(line => !line.isControl).map(line => line.arm))
  const varied = listVariedAxes(lines.filter(line => !line.isControl).map(line => line.arm))
  const createChartKey = (/** @type {Line} */ line) =>
    JSON.stringify([line.isControl ? PRIMARY.name : line.quantity, line.group])
  const charts = [...groupBy(lines, createChartKey).values()].filter(chartLines =>
    chartLines.some(line => !line.isControl),
  )
  // Names of runs leave out the year, so that more fit.
  const names = runs.map(({ startedAt }) => renderMinute(startedAt).slice(5))
  return charts.map((chartLines, i) => {
    const row = ROWS[chartLines[0].quantity]
    const title = [capitalise(`${row.compared?.label}`), renderAxes(chartLines[0].arm, varied)]
      .filter(Boolean)
      .join(': ')
    const drawn = chartLines.map(line => ({
      label: line.label,
      colour: colourFor(line.arm),
      isControl: line.isControl,
      points: line.values.map(value => scaleValue(value, row)),
    }))
    const marks = runs.flatMap(({ changes }, run) =>
      changes.length > 0 ? [{ run, label: changes.map(({ label }) => label.split(' of ')[0]).join(', ') }] : [],
    )
    const chart = drawOverRuns({ title, unit: row.unit, digits: chooseDigits(row), runs: names, lines: drawn, marks })
    return { ...chart, id: `over-runs-${i + 1}`, table: tabulateRuns({ title, row, runs, drawn }) }
  })
}

/**
 * Tabulates the values of each line, run by run.
 * @param {{ title: string, row: QuantityRow, runs: History['runs'],
 *   drawn: { label: string, points: ReturnType<typeof scaleValue>[] }[] }} options row: of the quantity; drawn: the lines
 * @returns {Table} `-`: no value
 */
function tabulateRuns({ title, row, runs, drawn }) {
  return {
    caption: `${title}, ${row.unit}`,
    columns: [...alignLeft('run', 'started'), ...alignRight(...drawn.map(({ label }) => label))],
    rows: runs.map(({ folder, startedAt }, i) => [
      folder,
      startedAt,
      ...drawn.map(({ points }) => renderMedian(points[i], chooseDigits(row))),
    ]),
  }
}

/**
 * Converts a quantity to the unit in which it is shown, without its values.
 * @param {import('../model/types.ts').Quantity} quantity
 * @param {QuantityRow} row of the quantity
 * @returns {{ median: number, low: number | null, high: number | null } | null} null: it has no median
 */
export function scaleValue({ median, low, high }, { scale = 1 }) {
  return median === null ? null : { median: median / scale, low: low && low / scale, high: high && high / scale }
}

/**
 * Chooses the decimal digits of a quantity in a history: those of one sidecar.
 * @param {QuantityRow} row
 * @returns {number}
 */
export function chooseDigits({ digits, digitsOfOne = digits }) {
  return digitsOfOne
}
