import { colourOf, LIMIT, MUTED } from './palette.js'
import { createAxis, createLinesOption, shorten } from './style.js'

/**
 * One quantity over many runs: each run's median with its interval, the levels between steps, and marks where something
 * changed. Pure.
 * @import { Chart } from './style.js'
 */

/**
 * @typedef {{ label: string, colour: number, isControl: boolean, points: ({ median: number, low: number | null, high: number | null } | null)[],
 *   levels: { from: number, to: number, median: number }[] }} DrawnLine points: of each run; levels: from and to are runs
 */

// More labels than this lie on each other.
const LABELS_MOST = 12

/**
 * @param {{ title: string, unit: string, digits: number, runs: string[], lines: DrawnLine[], marks: { run: number, label: string }[] }} given
 * @returns {Chart}
 */
export function drawOverRuns({ title, unit, digits, runs, lines, marks }) {
  return {
    title,
    description: `${title}, of ${runs.length} runs. ${lines.map(line => sayLine(line, { unit, digits })).join('; ')}.`,
    height: 360,
    option: createLinesOption({
      lines,
      top: 50,
      xAxis: createAxis({
        type: 'category',
        data: runs,
        boundaryGap: true,
        name: 'runs, in the order of time',
        nameGap: 26,
        splitLine: { show: false },
      }),
      yAxis: createAxis({ type: 'value', min: 0, name: unit, nameGap: 46 }),
      series: [
        ...lines.map(({ label, colour, isControl, points, levels }) => ({
          type: 'line',
          name: label,
          color: colourOf(colour),
          connectNulls: true,
          symbol: 'circle',
          symbolSize: 7,
          itemStyle: isControl ? { color: 'transparent', borderColor: colourOf(colour), borderWidth: 1.5 } : {},
          lineStyle: { width: 1, type: isControl ? 'dotted' : 'solid' },
          data: points.map((point, i) => ({
            value: point && shorten(point.median),
            name: `${label}, ${runs[i]}: ${tellPoint(point, digits)} ${unit}`,
          })),
          markLine: drawSpans({ colour, points, levels }),
        })),
        { type: 'line', data: [], markLine: drawMarks(marks) },
      ],
    }),
  }
}

/** Intervals are upright, levels flat. @param {Pick<DrawnLine, 'colour' | 'points' | 'levels'>} line */
function drawSpans({ colour, points, levels }) {
  const color = colourOf(colour)
  const intervals = points.flatMap((point, i) =>
    point === null || point.low === null || point.high === null
      ? []
      : [
          [
            [i, point.low],
            [i, point.high],
          ],
        ],
  )
  const flat = levels.map(({ from, to, median }) => [
    [from, median],
    [to, median],
  ])
  const span = (/** @type {number[][]} */ [from, to], /** @type {object} */ lineStyle) => [
    { coord: [from[0], shorten(from[1])], lineStyle },
    { coord: [to[0], shorten(to[1])] },
  ]
  return {
    silent: true,
    symbol: 'none',
    label: { show: false },
    data: [
      ...intervals.map(ends => span(ends, { color, type: 'solid', width: 1.5, opacity: 0.5 })),
      ...flat.map(ends => span(ends, { color, type: 'solid', width: 5, opacity: 0.3 })),
    ],
  }
}

/** @param {{ run: number, label: string }[]} marks */
function drawMarks(marks) {
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { type: 'dashed', width: 1, color: MUTED },
    data: marks.map(({ run, label }, i) => ({
      xAxis: run,
      // Beside each other they are on two lines.
      label: {
        show: marks.length <= LABELS_MOST,
        formatter: label,
        color: LIMIT,
        distance: 2 + 12 * (i % 2),
        fontSize: 11,
      },
    })),
  }
}

/** @param {DrawnLine['points'][0]} point @param {number} digits */
export function tellPoint(point, digits) {
  if (point === null) return '-'
  const { median, low, high } = point
  return `${median.toFixed(digits)}${low === null || high === null ? '' : ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`}`
}

/** @param {DrawnLine} line @param {{ unit: string, digits: number }} quantity */
function sayLine({ label, points, levels }, { unit, digits }) {
  const values = points.filter(point => point !== null)
  if (values.length === 0) return `${label}: no value`
  const steps =
    levels.length > 1 ? `, at levels of ${levels.map(({ median }) => median.toFixed(digits)).join(', ')}` : ''
  return `${label}: ${tellPoint(values[0], digits)} ${unit} in the first, ${tellPoint(values[values.length - 1], digits)} in the last${steps}`
}
