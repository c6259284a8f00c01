import { tellMedian } from './rounds.js'
import { colourOf, createAxisBelow, createAxisBeside, createSeries, drawLines, LIMIT, MUTED, shorten } from './style.js'

/**
 * Draws one quantity over many runs: each run's median with its interval, the levels between steps, and marks where
 * something changed. Pure.
 * @typedef {{ label: string, colour: number, isControl: boolean, points: ({ median: number, low: number | null, high: number | null } | null)[],
 *   levels: { from: number, to: number, median: number }[] }} DrawnLine points: of each run; levels: from and to are runs
 */

// More labels than this would overlap.
const LABELS_MOST = 12

/**
 * Draws the chart. @param {{ title: string, unit: string, digits: number, runs: string[], lines: DrawnLine[],
 *   marks: { run: number, label: string }[] }} given
 */
export function drawOverRuns({ title, unit, digits, runs, lines, marks }) {
  const axis = { type: 'category', min: undefined, data: runs, boundaryGap: true, splitLine: { show: false } }
  return drawLines(
    {
      title,
      about: `${title}, of ${runs.length} runs`,
      lines,
      say: line => sayLine(line, { unit, digits }),
      height: 360,
    },
    {
      top: 50,
      xAxis: createAxisBelow('runs, in the order of time', axis),
      yAxis: createAxisBeside(unit),
      series: [
        ...lines.map(({ label, colour, isControl, points, levels }) =>
          createSeries('line', {
            label,
            colour,
            connectNulls: true,
            symbol: 'circle',
            symbolSize: 7,
            itemStyle: isControl ? { color: 'transparent', borderColor: colourOf(colour), borderWidth: 1.5 } : {},
            lineStyle: { width: 1, type: isControl ? 'dotted' : 'solid' },
            data: points.map((point, i) => ({
              value: point && shorten(point.median),
              name: `${label}, ${runs[i]}: ${tellMedian(point, digits)} ${unit}`,
            })),
            markLine: drawSpans({ colour, points, levels }),
          }),
        ),
        { type: 'line', data: [], markLine: drawMarks(marks) },
      ],
    },
  )
}

/** Draws intervals upright and levels flat. @param {Pick<DrawnLine, 'colour' | 'points' | 'levels'>} line */
function drawSpans({ colour, points, levels }) {
  const color = colourOf(colour)
  const span = (/** @type {number[][]} */ [from, to], /** @type {object} */ own) => [
    { coord: [from[0], shorten(from[1])], lineStyle: { color, type: 'solid', ...own } },
    { coord: [to[0], shorten(to[1])] },
  ]
  const intervals = points.flatMap((point, i) => {
    const { low, high } = point ?? { low: null, high: null }
    if (low === null || high === null) return []
    const ends = [low, high].map(end => [i, end])
    return [span(ends, { width: 1.5, opacity: 0.5 })]
  })
  const flat = levels.map(({ from, to, median }) => {
    const ends = [from, to].map(run => [run, median])
    return span(ends, { width: 5, opacity: 0.3 })
  })
  return { silent: true, symbol: 'none', label: { show: false }, data: [...intervals, ...flat] }
}

/** @param {{ run: number, label: string }[]} marks */
function drawMarks(marks) {
  const shared = { show: marks.length <= LABELS_MOST, color: LIMIT, fontSize: 11 }
  return {
    silent: true,
    symbol: 'none',
    lineStyle: { type: 'dashed', width: 1, color: MUTED },
    // Neighbours are on two lines.
    data: marks.map(({ run, label }, i) => ({
      xAxis: run,
      label: { ...shared, formatter: label, distance: 2 + 12 * (i % 2) },
    })),
  }
}

/** @param {DrawnLine} line @param {{ unit: string, digits: number }} quantity */
function sayLine({ label, points, levels }, { unit, digits }) {
  const values = points.filter(point => point !== null)
  if (values.length === 0) return `${label}: no value`
  const [first, last] = [values[0], values[values.length - 1]].map(point => tellMedian(point, digits))
  const medians = levels.map(({ median }) => median.toFixed(digits)).join(', ')
  const steps = levels.length > 1 ? `, at levels of ${medians}` : ''
  return `${label}: ${first} ${unit} in the first, ${last} in the last${steps}`
}
