import { renderMedianWithInterval } from './rounds.js'
import {
  chooseColour,
  createAxisBelow,
  createAxisBeside,
  createChartSeries,
  createLineChart,
  LIMIT,
  MUTED,
  roundToFourDigits,
} from './style.js'

/**
 * Draws one quantity over many runs: each run's median with its interval, and a mark if something changed from that run on. Pure.
 * @import { Chart } from './style.js'
 */

/**
 * The medians of an arm over the runs.
 * @typedef {object} DrawnLine
 * @property {string} label
 * @property {number} colour
 * @property {boolean} isControl of the applications, without sidecars
 * @property {({ median: number, low: number | null, high: number | null } | null)[]} points one for each run; null: no value;
 *   low, high: null: no interval
 */

// More labels than this would overlap.
const LABELS_MOST = 12

/**
 * A quantity over the runs of a history.
 * @typedef {object} RunsChart
 * @property {string} title
 * @property {string} unit
 * @property {number} digits of values
 * @property {string[]} runs names, in the order of time
 * @property {DrawnLine[]} lines
 * @property {{ run: number, label: string }[]} marks changes, each at the index of its run
 */

/**
 * Draws a line for each arm, across runs without a value. A control is hollow and dotted.
 * @param {RunsChart} options
 * @returns {Chart}
 */
export function drawOverRuns({ title, unit, digits, runs, lines, marks }) {
  // `min: undefined` takes back the 0 of createAxisBelow: an axis of categories has no zero.
  const axis = { type: 'category', min: undefined, data: runs, boundaryGap: true, splitLine: { show: false } }
  return createLineChart(
    {
      title,
      about: `${title}, of ${runs.length} runs`,
      lines,
      renderLine: line => renderLineEnds(line, { unit, digits }),
      height: 360,
    },
    {
      top: 50,
      xAxis: createAxisBelow('runs, in the order of time', axis),
      yAxis: createAxisBeside(unit),
      series: [
        ...lines.map(({ label, colour, isControl, points }) =>
          createChartSeries('line', {
            label,
            colour,
            connectNulls: true,
            symbol: 'circle',
            symbolSize: 7,
            itemStyle: isControl ? { color: 'transparent', borderColor: chooseColour(colour), borderWidth: 1.5 } : {},
            lineStyle: { width: 1, type: isControl ? 'dotted' : 'solid' },
            data: points.map((point, i) => ({
              value: point && roundToFourDigits(point.median),
              name: `${label}, ${runs[i]}: ${renderMedianWithInterval(point, digits)} ${unit}`,
            })),
            markLine: drawIntervals({ colour, points }),
          }),
        ),
        { type: 'line', data: [], markLine: drawChangeMarks(marks) },
      ],
    },
  )
}

/**
 * Draws the interval of each point as a vertical line.
 * @param {Pick<DrawnLine, 'colour' | 'points'>} line
 * @returns {object} a `markLine` of ECharts
 */
function drawIntervals({ colour, points }) {
  const lineStyle = { color: chooseColour(colour), type: 'solid', width: 1.5, opacity: 0.5 }
  const intervals = points.flatMap((point, i) => {
    const { low, high } = point ?? { low: null, high: null }
    if (low === null || high === null) return []
    return [[{ coord: [i, roundToFourDigits(low)], lineStyle }, { coord: [i, roundToFourDigits(high)] }]]
  })
  return { silent: true, symbol: 'none', label: { show: false }, data: intervals }
}

/**
 * Draws a vertical line at each run from which on something changed. More than LABELS_MOST lines have no labels.
 * @param {{ run: number, label: string }[]} marks
 * @returns {object} a `markLine` of ECharts
 */
function drawChangeMarks(marks) {
  const labelStyle = { show: marks.length <= LABELS_MOST, color: LIMIT, fontSize: 11 }
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { type: 'dashed', width: 1, color: MUTED },
    // The labels of neighbours are at two heights, so that they do not overlap.
    data: marks.map(({ run, label }, i) => ({
      xAxis: run,
      label: { ...labelStyle, formatter: label, distance: 2 + 12 * (i % 2) },
    })),
  }
}

/**
 * Renders the first and the last value of a line.
 * @param {DrawnLine} line
 * @param {{ unit: string, digits: number }} quantity
 * @returns {string} `no value` behind the label if no run has one
 */
function renderLineEnds({ label, points }, { unit, digits }) {
  const values = points.filter(point => point !== null)
  if (values.length === 0) return `${label}: no value`
  const [first, last] = [values[0], values[values.length - 1]].map(point => renderMedianWithInterval(point, digits))
  return `${label}: ${first} ${unit} in the first, ${last} in the last`
}
