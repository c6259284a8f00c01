import { colourOf, MUTED } from './palette.js'
import { createAxis, createOption, shorten } from './style.js'

/**
 * One quantity of several arms: every round's point, the median, and its interval. Runs in browsers, too. Pure.
 * @import { Quantity } from '../../model/types.ts'
 * @import { Chart } from './style.js'
 */

const ROW_PIXELS = 34
const LABEL_PIXELS = 145
// Two lines.
const LABEL_MOST = 40

/**
 * @param {{ title: string, unit: string, digits: number, rows: { label: string, colour: number, quantity: Quantity }[] }} given
 *   colour: 0 for no mesh; digits: of the numbers shown
 * @returns {Chart}
 */
export function drawRounds({ title, unit, digits, rows }) {
  const show = (/** @type {number} */ value) => `${value.toFixed(digits)} ${unit}`
  const intervals = rows.map(({ quantity: { low, high }, colour }, i) => ({
    type: 'line',
    silent: true,
    symbol: 'none',
    lineStyle: { color: colourOf(colour), width: 4, opacity: 0.45, cap: 'round' },
    data:
      low === null || high === null
        ? []
        : [
            [shorten(low), i],
            [shorten(high), i],
          ],
  }))
  const points = rows.flatMap(({ label, quantity, colour }, i) =>
    quantity.values.flatMap((value, round) =>
      value === null
        ? []
        : [
            {
              value: [shorten(value), i],
              name: `${label}, round ${round + 1}: ${show(value)}`,
              itemStyle: { color: colourOf(colour), opacity: 0.55 },
            },
          ],
    ),
  )
  const medians = rows.flatMap(({ label, quantity: { median, low, high }, colour }, i) =>
    median === null
      ? []
      : [
          {
            value: [shorten(median), i],
            name: `${label}: median ${show(median)}${low === null || high === null ? '' : ` [${low.toFixed(digits)}, ${high.toFixed(digits)}]`}`,
            itemStyle: { color: colourOf(colour) },
            label: { show: true, position: 'top', distance: 4, formatter: median.toFixed(digits), fontSize: 11 },
          },
        ],
  )
  return {
    title,
    description: `${title}. ${rows.map(row => describeRow(row, show)).join('; ')}.`,
    height: 70 + ROW_PIXELS * Math.max(1, rows.length),
    option: createOption({
      grid: { left: 8, right: 24, top: 16, bottom: 28, outerBounds: { top: 8, bottom: 4, left: 4, right: 16 } },
      xAxis: createAxis({ type: 'value', min: 0, name: unit, nameGap: 26 }),
      yAxis: createAxis({
        type: 'category',
        inverse: true,
        data: rows.map(({ label }) => cut(label)),
        splitLine: { show: false },
        axisLabel: { fontSize: 12, lineHeight: 14, width: LABEL_PIXELS, overflow: 'break' },
      }),
      tooltip: { trigger: 'item', confine: true, formatter: '{b}' },
      series: [
        ...intervals,
        { type: 'scatter', symbolSize: 7, data: points },
        {
          type: 'scatter',
          symbol: 'rect',
          symbolSize: [3, 16],
          data: medians,
          label: { color: MUTED },
          z: 3,
        },
      ],
    }),
  }
}

/**
 * @param {{ label: string, quantity: Quantity }} row
 * @param {(value: number) => string} show
 */
function describeRow({ label, quantity: { median, low, high, values } }, show) {
  const rounds = values.filter(value => value !== null).length
  if (median === null) return `${label}: no value`
  const interval = low === null || high === null ? '' : `, from ${show(low)} to ${show(high)}`
  return `${label}: ${show(median)}${interval}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`
}

/** @param {string} label */
function cut(label) {
  return label.length > LABEL_MOST ? `${label.slice(0, LABEL_MOST - 1)}…` : label
}
