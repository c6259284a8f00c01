import { GRID, MUTED, TEXT } from './palette.js'

/**
 * The style that all charts share. Runs in browsers, too. Pure.
 */

/**
 * A chart: what is drawn, and what is said of it.
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} description for who does not see it
 * @property {number} height pixels
 * @property {Record<string, any>} option of ECharts, as JSON: no functions, so that the page and the file are drawn from the same
 */

const FONT = 'system-ui, sans-serif'
export const WIDTH = 580
const AXIS_FONT_SIZE = 12

/** @param {Record<string, any>} own */
export function createOption(own) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: FONT, color: TEXT },
    tooltip: { trigger: 'item', confine: true, textStyle: { fontSize: AXIS_FONT_SIZE } },
    ...own,
  }
}

/**
 * The line that was fitted through measured points.
 * @param {{ label: string, colour: string, ends: [number, number][] }} given
 */
export function createFittedLine({ label, colour, ends }) {
  return {
    type: 'line',
    name: label,
    symbol: 'none',
    silent: true,
    color: colour,
    lineStyle: { type: 'dashed', width: 1.5 },
    data: ends,
  }
}

/**
 * A chart of labelled lines.
 * @template {{ label: string }} L
 * @param {{ title: string, lines: L[], say: (line: L) => string, x: Record<string, any>, y: Record<string, any>, series: object[] }} given
 *   x, y: what the axes have of their own
 * @returns {Chart}
 */
export function createLinesChart({ title, lines, say, x, y, series }) {
  return {
    title,
    description: `${title}. ${lines.map(say).join('; ')}.`,
    height: 340,
    option: createLinesOption({
      lines,
      xAxis: createAxis({ type: 'value', nameGap: 26, ...x }),
      yAxis: createAxis({ type: 'value', nameGap: 46, ...y }),
      series,
    }),
  }
}

/**
 * The frame of a chart of labelled lines: the legend above them, and a mark says its name.
 * @param {{ lines: { label: string }[], top?: number, bottom?: number } & Record<string, any>} given top, bottom: the room
 *   beside the axes, in pixels
 */
export function createLinesOption({ lines, top = 34, bottom = 30, ...own }) {
  return createOption({
    legend: createLegend(lines.map(({ label }) => label)),
    grid: { left: 8, right: 24, top, bottom, outerBounds: { top: 20, bottom: 4, left: 4, right: 16 } },
    tooltip: { trigger: 'item', confine: true, formatter: '{b}' },
    ...own,
  })
}

/** @param {Record<string, any>} own */
export function createAxis({ axisLabel = {}, nameTextStyle = {}, ...own }) {
  return {
    axisLine: { show: true, onZero: false, lineStyle: { color: MUTED } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: GRID } },
    axisLabel: { color: TEXT, fontSize: AXIS_FONT_SIZE, hideOverlap: true, ...axisLabel },
    nameLocation: 'middle',
    nameTextStyle: { color: MUTED, fontSize: AXIS_FONT_SIZE, ...nameTextStyle },
    ...own,
  }
}

/** @param {string[]} names */
export function createLegend(names) {
  return { data: names, top: 0, left: 0, type: 'scroll', textStyle: { color: TEXT, fontSize: AXIS_FONT_SIZE } }
}

/**
 * As few digits as it takes: a chart's numbers are read off, and its file is kept small.
 * @param {number} value
 */
export function shorten(value) {
  return Number(value.toPrecision(4))
}
