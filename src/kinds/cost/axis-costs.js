import { findQuantity, PRIMARY } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { joinWords } from '../../lib/letters.js'
import { summariseValues } from '../../lib/stats.js'
import { renderInterval } from '../../lib/units.js'
import { createGroupKey, listVariedAxes, renderArmName, renderAxes, renderContenderName } from '../../model/arms.js'

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
 * @property {string} condition values on the other axes that vary; empty: none does
 * @property {[string, string]} names of the proxies
 * @property {[number, number]} micros of each proxy beyond the first value: medians of the repeats
 * @property {Quantity} difference the first proxy's minus the second's, by repeat
 */

/**
 * Computes the costs of each axis that the experiment contrasts, under each condition with exactly two proxies.
 * @param {Pick<Result, 'arms' | 'comparisons'>} result
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {AxisCost[]} []: the experiment contrasts no axis, or no condition has two proxies that can be compared
 */
export function computeAxisCosts({ arms, comparisons }, { shows }) {
  const measured = arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
  const varied = listVariedAxes(measured)
  return (shows.contrasts ?? []).flatMap(axis => {
    const otherAxes = varied.filter(name => name !== axis)
    return [...groupBy(measured, arm => createGroupKey(arm, axis)).values()].flatMap(group => {
      const proxies = [...groupBy(group, renderContenderName).values()]
      if (proxies.length !== 2) return []
      const condition = renderAxes(group[0], otherAxes)
      return computeCostsOfTwo({ proxies, axis, comparisons }).map(cost => ({ ...cost, condition }))
    })
  })
}

/**
 * Computes the cost of each value but the first. A value is left out if a proxy lacks it or has no valid comparison of it, or no
 * repeat has both proxies.
 * @param {{ proxies: SummaryArm[][], axis: AxisName, comparisons: Comparison[] }} options proxies: the arms of each
 *   of the two, at least one, in the order of the axis
 * @returns {Omit<AxisCost, 'condition'>[]} []: the second proxy lacks the first value of the first proxy, or no value is left
 */
function computeCostsOfTwo({ proxies: [first, second], axis, comparisons }) {
  const renderAxisLabel = (/** @type {SummaryArm} */ arm) => renderAxes(arm, [axis])
  const base = renderAxisLabel(first[0])
  const secondBase = second.find(arm => renderAxisLabel(arm) === base)
  if (!secondBase) return []
  return first.slice(1).flatMap(arm => {
    const label = renderAxisLabel(arm)
    const counterpart = second.find(other => renderAxisLabel(other) === label)
    const values = computeAddedMicros(arm, { base: first[0], axis, comparisons })
    const secondValues = counterpart && computeAddedMicros(counterpart, { base: secondBase, axis, comparisons })
    if (!values || !secondValues) return []
    const difference = summariseValues(subtractRepeats(values, secondValues))
    if (difference.median === null) return []
    const micros = [values, secondValues].map(repeats => Number(summariseValues(repeats).median))
    const names = [arm, counterpart].map(renderArmName)
    return [{ label, base, names: [names[0], names[1]], micros: [micros[0], micros[1]], difference }]
  })
}

/**
 * Computes the microseconds of an arm beyond the first value of the axis: (ratio − 1) × the median of the first. The
 * ratios are of arms that ran together, which vary less than those of two deployments.
 * @param {SummaryArm} arm
 * @param {{ base: SummaryArm, axis: AxisName, comparisons: Comparison[] }} options base: the arm with the first value
 *   of the axis
 * @returns {(number | null)[] | null} µs of CPU per request by repeat, of which one without a ratio has null; null: there is no valid
 *   comparison, or `base` has no median
 */
function computeAddedMicros(arm, { base, axis, comparisons }) {
  const comparisonsOfArm = comparisons.filter(
    ({ contrast, a }) => contrast === axis && a === `${renderArmName(arm)} with ${renderAxes(arm, [axis])}`,
  )
  const comparison = comparisonsOfArm.find(
    c => c.quantity === PRIMARY.name && c.service === null && createGroupKey(c) === createGroupKey(arm),
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
function subtractRepeats(values, others) {
  return values.map((value, i) => {
    const other = others[i] ?? null
    return value === null || other === null ? null : value - other
  })
}

/**
 * Groups the costs of each axis and condition: those with the same proxies, first value and condition.
 * @param {AxisCost[]} costs
 */
const groupByAxis = costs => [
  ...groupBy(costs, ({ names, base, condition }) => JSON.stringify([names, base, condition])).values(),
]

/**
 * Draws a picture for each axis and condition, with a row for each value.
 * @param {AxisCost[]} costs
 * @returns {Picture[]} []: there are no costs
 */
export function drawAxisCosts(costs) {
  return groupByAxis(costs).map(rows => {
    const [{ names, base, condition }] = rows
    const group = `µs a request beyond ${base}${condition && ` (${condition})`}`
    return {
      columns: [
        ...names.map(heading => ({ group, heading })),
        { heading: `${names[0]} − ${names[1]}` },
        { heading: '', align: 'left' },
      ],
      rows: rows.map(({ label, micros, difference }) => ({
        label,
        cells: [
          ...micros.map(value => ({ text: renderSignedMicros(value) })),
          { text: renderMedianDifference(difference) },
          { text: renderDifferenceVerdict(difference) },
        ],
      })),
    }
  })
}

/**
 * Renders which values cost the first proxy more or fewer microseconds than the second, and which show no difference.
 * @param {AxisCost[]} costs
 * @returns {string[]} a sentence for each axis and condition of which a cost has an interval; []: none has
 */
export const renderAxisCosts = costs => groupByAxis(costs).flatMap(renderCostsOfAxis)

/**
 * Renders the sentence of one axis and condition. Values without an interval are left out.
 * @param {AxisCost[]} costs at least one
 * @returns {string[]} one sentence; []: none has an interval
 */
function renderCostsOfAxis(costs) {
  if (costs.every(({ difference }) => difference.low === null)) return []
  const { names, condition } = costs[0]
  const labelsByVerdict = groupBy(costs, ({ difference }) => renderDifferenceVerdict(difference))
  const clauses = /** @type {const} */ ([
    ['more', 'more microseconds'],
    ['fewer', 'fewer'],
    ['no difference shown', 'no difference shown'],
  ]).flatMap(([verdict, words]) => {
    const labels = (labelsByVerdict.get(verdict) ?? []).map(({ label }) => label)
    return labels.length > 0 ? [`${words}: ${joinWords(labels)}`] : []
  })
  const place = condition && ` (${condition})`
  return [`What each costs ${names[0]}, against ${names[1]}${place}: ${clauses.join('; ')}.`]
}

/**
 * Renders the verdict on a difference: more or fewer needs an interval entirely above or below 0.
 * @param {Quantity} difference in µs, the first proxy minus the second
 * @returns {string} `more`, `fewer`, `no difference shown` or, without an interval, `no interval yet`
 */
function renderDifferenceVerdict({ low, high }) {
  if (low === null || high === null) return 'no interval yet'
  if (high < 0) return 'fewer'
  return low > 0 ? 'more' : 'no difference shown'
}

/**
 * Renders the median of a difference in µs, with its interval.
 * @param {Quantity} difference
 * @returns {string} such as `+12.3 [+10.1, +14.5]`; without the interval if there is none
 */
function renderMedianDifference(difference) {
  return `${renderSignedMicros(Number(difference.median))}${renderInterval(difference, renderSignedMicros)}`
}

/** Renders microseconds with their sign; without one if they round to 0. @param {number} micros @returns {string} */
function renderSignedMicros(micros) {
  const text = Math.abs(micros).toFixed(1)
  if (text === '0.0') return text
  return `${micros < 0 ? '−' : '+'}${text}`
}
