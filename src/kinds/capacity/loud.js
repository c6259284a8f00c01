import { LOUD_LEAST } from '../../judge/gates/loud.js'
import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { createGroupKey, listVariedAxes, renderArmName, renderVariedAxes } from '../../model/arms.js'
import { renderMissingP99s } from './excluded.js'

/**
 * The verdict on a loud pair (`--loud`): the p99 of the quiet pairs beside it. Pure.
 * @import { AxisName, SummaryArm } from '../../model/types.ts'
 */

/**
 * Renders for each condition with a loud pair, the highest loud rate first, the p99 of each proxy's quiet pairs, also as a multiple
 * of that without a loud pair.
 * @param {SummaryArm[]} arms
 * @returns {string[]} sentences; []: no arm has a loud pair
 */
export function renderLoudPairs(arms) {
  const measured = arms.filter(({ repeatOf }) => repeatOf === null)
  const loud = measured.filter(({ load }) => load.loudPerSecond !== undefined)
  const varied = listVariedAxes(loud).filter(name => name !== 'loudPerSecond')
  const groups = groupBy(loud, arm => createGroupKey(arm))
  return [...groups.values()]
    .toSorted((a, b) => readLoudRate(b[0]) - readLoudRate(a[0]))
    .map(group => renderLoudGroup(group, { measured, varied }))
}

/**
 * Renders the p99 of each proxy's quiet pairs under one condition, and which proxies have none.
 * @param {SummaryArm[]} group arms that differ only in the plane
 * @param {{ measured: SummaryArm[], varied: AxisName[] }} options measured: all arms, including those without a loud
 *   pair; varied: the axes in which groups differ
 * @returns {string} a sentence
 */
function renderLoudGroup(group, { measured, varied }) {
  const withP99 = group.filter(arm => findP99(arm) !== null)
  const axesText = renderVariedAxes(group[0], varied)
  const start = `Quiet pairs beside ${readLoudRate(group[0])} requests/s to one${axesText ? ` (${axesText})` : ''}`
  const p99s = withP99.map(arm => {
    const remarks = [...renderLoudEffect(arm, measured), ...renderDeliveredRate(arm)]
    const remark = remarks.length > 0 ? ` (${remarks.join('; ')})` : ''
    return `${renderArmName(arm)} ${formatValue(QUANTITIES.p99, Number(findP99(arm)))} ms${remark}`
  })
  const withoutP99 = group.filter(arm => findP99(arm) === null)
  const missing = renderMissingP99s(withoutP99, arms => `of ${arms.map(renderArmName).join(', ')}`)
  const p99Part = p99s.length > 0 ? [`p99 ${p99s.join(', ')}`] : []
  return `${start}: ${[...p99Part, ...missing].join('; ')}.`
}

/**
 * Renders the p99 of an arm as a multiple of that without a loud pair, or that the latter is missing.
 * @param {SummaryArm} arm with a p99
 * @param {SummaryArm[]} measured all arms
 * @returns {string[]} one clause; []: the arm was not run without a loud pair
 */
function renderLoudEffect(arm, measured) {
  const createKeyWithoutLoud = (/** @type {SummaryArm} */ keyedArm) =>
    `${renderArmName(keyedArm)} ${createGroupKey(keyedArm, 'loudPerSecond')}`
  const key = createKeyWithoutLoud(arm)
  const withoutLoud = measured.find(other => readLoudRate(other) === 0 && createKeyWithoutLoud(other) === key)
  if (!withoutLoud) return []
  const p99Ms = findP99(withoutLoud)
  return [p99Ms === null ? 'no p99 without it' : `${(Number(findP99(arm)) / p99Ms).toFixed(1)} × that without`]
}

/**
 * Renders the rate at which the loud pair was answered, if it is less than LOUD_LEAST of the requested one.
 * @param {SummaryArm} arm
 * @returns {string[]} one clause; []: it got enough of its rate, or the rate was not measured
 */
function renderDeliveredRate(arm) {
  const perSecond = findQuantity(arm, 'loudThroughput').median
  if (perSecond === null || perSecond >= LOUD_LEAST * readLoudRate(arm)) return []
  const isSaturated = arm.spoiled.some(({ gate }) => gate === 'loud-saturated')
  return [
    `${Math.round(perSecond)} of the ${readLoudRate(arm)} requests/s were answered${isSaturated ? ': saturated' : ''}`,
  ]
}

/**
 * Finds the p99 of an arm's quiet pairs.
 * @param {SummaryArm} arm
 * @returns {number | null} milliseconds; null: it was not measured
 */
const findP99 = arm => findQuantity(arm, 'p99').median

/**
 * Reads the requested rate of the loud pair.
 * @param {SummaryArm} arm
 * @returns {number} requests per second; 0: there is no loud pair
 */
const readLoudRate = ({ load }) => load.loudPerSecond ?? 0
