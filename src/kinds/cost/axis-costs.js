import { findQuantity, PRIMARY } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { joinWords } from '../../lib/letters.js'
import { summariseValues } from '../../lib/stats.js'
import { renderInterval } from '../../lib/units.js'
import { createGroupKey, renderArmName, renderAxes, renderContenderName } from '../../model/arms.js'

/**
 * The cost of each value of an axis, such as a feature, to two proxies: microseconds of CPU a request beyond the first value, and
 * whether one proxy pays more than the other. Pure.
 * @import { AxisName, Comparison, Quantity, Result, Summary, SummaryArm } from '../../model/types.ts'
 * @import { Picture } from '../../answer/picture.js'
 */

/**
 * @typedef {object} AxisCost
 * @property {string} label of the value
 * @property {string} base label of the first value
 * @property {[string, string]} names of the proxies
 * @property {[number, number]} micros of each proxy beyond the first value: medians of the repeats
 * @property {Quantity} difference the first proxy's minus the second's, by repeat
 */

/**
 * Computes the costs of each axis that the experiment contrasts, under each condition with exactly two proxies.
 * @param {Pick<Result, 'arms' | 'comparisons'>} result
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {AxisCost[]} []: there are none
 */
export function computeAxisCosts({ arms, comparisons }, { shows }) {
  const measured = arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
  return (shows.contrasts ?? []).flatMap(axis =>
    [...groupBy(measured, arm => createGroupKey(arm, axis)).values()].flatMap(group => {
      const proxies = [...groupBy(group, renderContenderName).values()]
      return proxies.length === 2 ? computeCostsOfTwo({ proxies, axis, comparisons }) : []
    }),
  )
}

/**
 * Computes the cost of each value but the first. A value is left out if one proxy lacks it, or has no valid
 * comparison of it.
 * @param {{ proxies: SummaryArm[][], axis: AxisName, comparisons: Comparison[] }} options proxies: the arms of each
 *   of the two
 * @returns {AxisCost[]}
 */
function computeCostsOfTwo({ proxies: [first, second], axis, comparisons }) {
  const renderAxisLabel = (/** @type {SummaryArm} */ arm) => renderAxes(arm, [axis])
  const base = renderAxisLabel(first[0])
  const baseOfSecond = second.find(arm => renderAxisLabel(arm) === base)
  if (!baseOfSecond) return []
  return first.slice(1).flatMap(arm => {
    const beside = second.find(other => renderAxisLabel(other) === renderAxisLabel(arm))
    const ofFirst = computeMicros(arm, { base: first[0], axis, comparisons })
    const ofSecond = beside && computeMicros(beside, { base: baseOfSecond, axis, comparisons })
    if (!ofFirst || !ofSecond) return []
    const micros = [ofFirst, ofSecond].map(values => summariseValues(values).median)
    const difference = summariseValues(subtractRepeats(ofFirst, ofSecond))
    const names = /** @type {[string, string]} */ ([renderArmName(arm), renderArmName(beside)])
    return difference.median === null
      ? []
      : [{ label: renderAxisLabel(arm), base, names, micros: /** @type {[number, number]} */ (micros), difference }]
  })
}

/**
 * Computes the microseconds of an arm beyond the first value of the axis: (ratio − 1) × the median of the first. The
 * ratios are of arms that ran together, which vary less than those of two deployments.
 * @param {SummaryArm} arm
 * @param {{ base: SummaryArm, axis: AxisName, comparisons: Comparison[] }} options base: the arm with the first value
 *   of the axis
 * @returns {(number | null)[] | null} µs of CPU per request, by repeat; null: there is no valid comparison, or no
 *   median
 */
function computeMicros(arm, { base, axis, comparisons }) {
  const comparison = comparisons.find(
    c =>
      c.contrast === axis &&
      c.quantity === PRIMARY.name &&
      c.service === null &&
      c.a === `${renderArmName(arm)} with ${renderAxes(arm, [axis])}` &&
      createGroupKey(c) === createGroupKey(arm),
  )
  const { median } = findQuantity(base, PRIMARY.name)
  if (!comparison || comparison.verdict === 'invalid' || median === null) return null
  return comparison.ratio.values.map(ratio => (ratio === null ? null : (ratio - 1) * median))
}

/**
 * Subtracts values by repeat.
 * @param {(number | null)[]} values
 * @param {(number | null)[]} others
 * @returns {(number | null)[]} null: the repeat lacks one of the values
 */
const subtractRepeats = (values, others) =>
  values.map((value, round) => {
    const other = others[round] ?? null
    return value === null || other === null ? null : value - other
  })

/**
 * Draws a row for each value of an axis.
 * @param {AxisCost[]} costs
 * @returns {Picture[]} one; []: there are no costs
 */
export function drawAxisCosts(costs) {
  if (costs.length === 0) return []
  const [{ names, base }] = costs
  const group = `µs a request beyond ${base}`
  return [
    {
      columns: [
        ...names.map(heading => ({ group, heading })),
        { heading: `${names[0]} − ${names[1]}` },
        { heading: '', align: 'left' },
      ],
      rows: costs.map(({ label, micros, difference }) => ({
        label,
        cells: [
          ...micros.map(value => ({ text: renderMicros(value) })),
          { text: renderDifference(difference) },
          { text: renderVerdict(difference) },
        ],
      })),
    },
  ]
}

/**
 * Renders which values cost the first proxy more or fewer microseconds than the second, and which show no difference.
 * @param {AxisCost[]} costs
 * @returns {string[]} one sentence; []: there are no costs, or none has an interval
 */
export function renderAxisCosts(costs) {
  if (costs.length === 0) return []
  const [
    {
      names: [first, second],
    },
  ] = costs
  const renderLabels = (/** @type {string} */ verdict) =>
    joinWords(costs.filter(({ difference }) => renderVerdict(difference) === verdict).map(({ label }) => label))
  const clauses = /** @type {const} */ ([
    ['more', 'more microseconds'],
    ['fewer', 'fewer'],
    ['no difference shown', 'no difference shown'],
  ]).flatMap(([verdict, words]) => (renderLabels(verdict) ? [`${words}: ${renderLabels(verdict)}`] : []))
  const isOpen = costs.every(({ difference }) => difference.low === null)
  return isOpen ? [] : [`What each costs ${first}, against ${second}: ${clauses.join('; ')}.`]
}

/**
 * Renders the verdict on a difference, which needs an interval entirely above or below 0.
 * @param {Quantity} difference in µs, the first proxy minus the second
 * @returns {string}
 */
function renderVerdict({ low, high }) {
  if (low === null || high === null) return 'no interval yet'
  return high < 0 ? 'fewer' : low > 0 ? 'more' : 'no difference shown'
}

/**
 * Renders a difference in µs, with its interval.
 * @param {Quantity} difference
 * @returns {string} such as `+12.3 [+10.1, +14.5]`; without the interval if there is none
 */
function renderDifference(difference) {
  return `${renderMicros(Number(difference.median))}${renderInterval(difference, renderMicros)}`
}

/** Renders microseconds with their sign; without one if they round to 0. @param {number} micros @returns {string} */
function renderMicros(micros) {
  const text = Math.abs(micros).toFixed(1)
  return `${text === '0.0' ? '' : micros < 0 ? '−' : '+'}${text}`
}
