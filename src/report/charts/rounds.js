import { chooseColour, createAxis, createAxisBelow, createChartOption, roundToFourDigits, TEXT } from './style.js'

/**
 * Draws one quantity of several arms: every round's point, the median, and its interval. Also runs in browsers. Pure.
 * @import { Quantity } from '../../model/types.ts'
 * @import { Chart } from './style.js'
 * @typedef {{ label: string, colour: number, isControl?: boolean, quantity: Quantity }} Row
 */

/**
 * A quantity of several arms, round by round.
 * @typedef {object} Rounds
 * @property {string} title
 * @property {string} unit
 * @property {number} digits of the numbers that are printed
 * @property {Row[]} rows
 */

const ROW_PIXELS = 34
const ROW_PIXELS_OF_MANY = 22
const ROWS_MANY = 7
const LABEL_PIXELS = 145
const LETTER_PIXELS = 8
// The number of letters that two lines have room for.
const LABEL_LETTERS_MOST = 40

/**
 * Draws a row for each arm, with its median and interval in numbers on the right. Labels of more than LABEL_LETTERS_MOST characters
 * are cut.
 * @param {Rounds} options
 * @returns {Chart}
 */
export function drawRounds({ title, unit, digits, rows }) {
  const formatWithUnit = (/** @type {number} */ value) => `${value.toFixed(digits)} ${unit}`
  const isMany = rows.length >= ROWS_MANY
  const medianTexts = rows.map(({ quantity }) => renderMedianWithInterval(quantity, digits))
  const points = rows.flatMap((row, i) => drawRoundPoints(row, i, formatWithUnit))
  const medians = rows.flatMap(({ label, quantity, colour }, i) => {
    if (quantity.median === null) return []
    const name = `${label}: median ${renderMedianWithInterval(quantity, digits)} ${unit}`
    return [{ value: [roundToFourDigits(quantity.median), i], name, itemStyle: { color: chooseColour(colour) } }]
  })
  return {
    title,
    description: `${title}. ${rows.map(row => renderRow(row, formatWithUnit)).join('; ')}.`,
    height: 52 + (isMany ? ROW_PIXELS_OF_MANY : ROW_PIXELS) * Math.max(1, rows.length),
    option: createChartOption({
      // ECharts measures labels in a lean font: bold ones take more room on the right.
      grid: { left: 8, right: 8, top: 4, bottom: 28, outerBounds: { top: 4, bottom: 4, left: 4, right: 28 } },
      xAxis: createAxisBelow(unit),
      yAxis: [
        createLabelAxis(rows, isMany),
        createRowAxis(medianTexts, {
          position: 'right',
          axisLine: { show: false },
          axisLabel: { interval: 0, fontWeight: 'bold', color: TEXT },
        }),
      ],
      tooltip: { trigger: 'item', confine: true, formatter: '{b}' },
      series: [
        ...rows.map(drawInterval),
        { type: 'scatter', symbolSize: 7, data: points },
        { type: 'scatter', symbol: 'rect', symbolSize: [3, 16], data: medians, z: 3 },
        // ECharts draws the axis on the right only if a series uses it.
        { type: 'scatter', yAxisIndex: 1, data: [] },
      ],
    }),
  }
}

/**
 * Creates the axis with the labels of rows.
 * @param {Row[]} rows
 * @param {boolean} isMany true: a label has one line, else two
 * @returns {Record<string, any>}
 */
function createLabelAxis(rows, isMany) {
  const longest = Math.max(0, ...rows.map(({ label }) => label.length))
  const width = Math.min(LABEL_PIXELS, LETTER_PIXELS * longest)
  const labels = rows.map(({ label }) => {
    return label.length > LABEL_LETTERS_MOST ? `${label.slice(0, LABEL_LETTERS_MOST - 1)}…` : label
  })
  return createRowAxis(labels, {
    axisLabel: { lineHeight: 14, width, overflow: isMany ? 'truncate' : 'break', interval: 0 },
  })
}

/**
 * Creates an axis with a label for each row, from the top down.
 * @param {string[]} labels
 * @param {Record<string, any>} options of ECharts
 * @returns {Record<string, any>}
 */
function createRowAxis(labels, options) {
  return createAxis({ type: 'category', inverse: true, data: labels, splitLine: { show: false }, ...options })
}

/**
 * Draws the interval of a row.
 * @param {Row} row
 * @param {number} index of the row
 * @returns {object} a series of ECharts; without points if the row has no interval
 */
function drawInterval({ quantity: { low, high }, colour, isControl }, index) {
  const ends = low === null || high === null ? [] : [low, high]
  return {
    type: 'line',
    silent: true,
    symbol: 'none',
    lineStyle: { color: chooseColour(colour), width: isControl ? 2 : 4, opacity: 0.45, cap: 'round' },
    data: ends.map(end => [roundToFourDigits(end), index]),
  }
}

/**
 * Draws a point for each round that has a value.
 * @param {Row} row a control is drawn hollow
 * @param {number} index of the row
 * @param {(value: number) => string} formatWithUnit
 * @returns {object[]} the data of a series of ECharts
 */
function drawRoundPoints({ label, colour, isControl = false, quantity }, index, formatWithUnit) {
  const color = chooseColour(colour)
  const itemStyle = isControl
    ? { color: 'transparent', borderColor: color, borderWidth: 1.5 }
    : { color, opacity: 0.55 }
  return quantity.values.flatMap((value, i) => {
    if (value === null) return []
    const name = `${label}, round ${i + 1}: ${formatWithUnit(value)}`
    return [{ value: [roundToFourDigits(value), index], name, itemStyle }]
  })
}

/**
 * Renders a median with its interval, if it has one: `184 [180, 189]`.
 * @param {Omit<Quantity, 'values'> | null} quantity
 * @param {number} digits after the decimal point
 * @returns {string} `-` without a quantity or a median
 */
export function renderMedianWithInterval(quantity, digits) {
  if (quantity === null || quantity.median === null) return '-'
  const { median, low, high } = quantity
  const interval = low === null || high === null ? '' : ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`
  return `${median.toFixed(digits)}${interval}`
}

/**
 * Renders the median, the interval and the number of rounds of a row.
 * @param {Row} row
 * @param {(value: number) => string} formatWithUnit
 * @returns {string} `no value` behind the label without a median
 */
function renderRow({ label, quantity: { median, low, high, values } }, formatWithUnit) {
  if (median === null) return `${label}: no value`
  const rounds = values.filter(value => value !== null).length
  const interval = low === null || high === null ? '' : `, from ${formatWithUnit(low)} to ${formatWithUnit(high)}`
  return `${label}: ${formatWithUnit(median)}${interval}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`
}
