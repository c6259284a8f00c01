import { colourOf, GRID, MUTED, TEXT } from './palette.js'

/** The style that all charts share. Runs in browsers, too. Pure. */

/**
 * A chart; description: in words; height: pixels; option: of ECharts, without functions, for pages and files alike.
 * @typedef {{ title: string, description: string, height: number, option: Record<string, any> }} Chart
 */

const FONT = 'system-ui, sans-serif'
export const WIDTH = 580
const AXIS_FONT_SIZE = 12

/** Makes an option of ECharts. @param {Record<string, any>} own */
export function createOption(own) {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: FONT, color: TEXT },
    ...own,
  }
}

/**
 * Draws a chart of labelled lines with a legend above them. about: begins the description; top, bottom: pixels.
 * @template {{ label: string }} Line
 * @param {{ title: string, about?: string, lines: Line[], say: (line: Line) => string, height?: number }} given
 * @param {{ top?: number, bottom?: number } & Record<string, any>} option @returns {Chart}
 */
export function drawLines({ title, about = title, lines, say, height = 340 }, { top = 34, bottom = 30, ...option }) {
  return {
    title,
    description: `${about}. ${lines.map(say).join('; ')}.`,
    height,
    option: createOption({
      legend: createLegend(lines.map(({ label }) => label)),
      grid: { left: 8, right: 24, top, bottom, outerBounds: { top: 20, bottom: 4, left: 4, right: 16 } },
      tooltip: { trigger: 'item', confine: true, formatter: '{b}' },
      ...option,
    }),
  }
}

/** @param {'line' | 'scatter'} type @param {{ label: string, colour: number } & Record<string, any>} line */
export function createSeries(type, { label, colour, ...own }) {
  return { type, name: label, color: colourOf(colour), ...own }
}

/** Chooses the dashes of a line. @param {number} index of the line */
export function dashOf(index) {
  return ['solid', 'dashed', 'dotted'][index % 3]
}

/** Makes an axis, of values unless it says otherwise. @param {Record<string, any>} own */
export function createAxis({ axisLabel = {}, ...own }) {
  return {
    type: 'value',
    axisLine: { show: true, onZero: false, lineStyle: { color: MUTED } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: GRID } },
    axisLabel: { color: TEXT, fontSize: AXIS_FONT_SIZE, hideOverlap: true, ...axisLabel },
    nameLocation: 'middle',
    nameTextStyle: { color: MUTED, fontSize: AXIS_FONT_SIZE },
    ...own,
  }
}

/** Makes the axis below a chart, from 0. @param {string} name @param {Record<string, any>} [own] */
export function createAxisBelow(name, own) {
  return createAxis({ min: 0, name, nameGap: 26, ...own })
}

/** Makes the axis beside a chart, from 0. @param {string} name @param {Record<string, any>} [own] */
export function createAxisBeside(name, own) {
  return createAxis({ min: 0, name, nameGap: 46, ...own })
}

/** Makes the legend. @param {string[]} names */
export function createLegend(names) {
  return { data: names, top: 0, left: 0, type: 'scroll', textStyle: { color: TEXT, fontSize: AXIS_FONT_SIZE } }
}

/** Rounds to the digits that can be read off a chart, which keeps its file small. @param {number} value */
export function shorten(value) {
  return Number(value.toPrecision(4))
}
