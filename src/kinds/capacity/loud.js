import { LOUD_LEAST } from '../../judge/gates/load.js'
import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { createGroupKey, listVariedAxes, renderArmName, renderVaried } from '../../model/arms.js'
import { renderTooFewRequests } from './cpu-requests.js'
import { findExclusion } from './excluded.js'

/**
 * The verdict on a loud pair (`--loud`): the p99 of the quiet pairs beside it. Pure.
 * @import { AxisName, SummaryArm } from '../../model/types.ts'
 */

/**
 * Renders for each loud rate, the highest first, the p99 of each proxy's quiet pairs, as a multiple of that without a loud pair.
 * @param {SummaryArm[]} arms
 * @returns {string[]} []: no arm has a loud pair
 */
export function renderLoudPairs(arms) {
  const measured = arms.filter(({ repeatOf }) => repeatOf === null)
  const loud = measured.filter(({ load }) => load.loudPerSecond !== undefined)
  const varied = listVariedAxes(loud).filter(name => name !== 'loudPerSecond')
  const groups = groupBy(loud, arm => createGroupKey(arm))
  return [...groups.values()]
    .toSorted((a, b) => findLoudRate(b[0]) - findLoudRate(a[0]))
    .map(group => renderRate(group, { measured, varied }))
}

/**
 * Renders the sentence of one loud rate.
 * @param {SummaryArm[]} group arms that differ in the plane alone
 * @param {{ measured: SummaryArm[], varied: AxisName[] }} options measured: also those without a loud pair; varied: axes in which groups differ
 */
function renderRate(group, { measured, varied }) {
  const withP99 = group.filter(arm => findP99(arm) !== null)
  const place = renderVaried(group[0], varied)
  const start = `Quiet pairs beside ${findLoudRate(group[0])} requests/s to one${place ? ` (${place})` : ''}`
  const p99s = withP99.map(arm => {
    const remarks = [...renderLoudEffect(arm, measured), ...renderDeliveredRate(arm)]
    const remark = remarks.length > 0 ? ` (${remarks.join('; ')})` : ''
    return `${renderArmName(arm)} ${formatValue(QUANTITIES.p99, Number(findP99(arm)))} ms${remark}`
  })
  const lacks = renderMissingByProxy(group.filter(arm => !withP99.includes(arm)))
  return `${start}: ${[...(p99s.length > 0 ? [`p99 ${p99s.join(', ')}`] : []), ...lacks].join('; ')}.`
}

/**
 * Renders the p99 of an arm as a multiple of that without a loud pair, or that the latter is missing.
 * @param {SummaryArm} arm with a p99
 * @param {SummaryArm[]} measured
 * @returns {string[]} at most one; []: the arm was not run without a loud pair
 */
function renderLoudEffect(arm, measured) {
  // The same arm but for the loud rate.
  const createArmKey = (/** @type {SummaryArm} */ one) =>
    `${renderArmName(one)} ${createGroupKey(one, 'loudPerSecond')}`
  const withoutLoud = measured.find(other => findLoudRate(other) === 0 && createArmKey(other) === createArmKey(arm))
  if (!withoutLoud) return []
  const p99Ms = findP99(withoutLoud)
  return [p99Ms === null ? 'no p99 without it' : `${(Number(findP99(arm)) / p99Ms).toFixed(1)} × that without`]
}

/**
 * Renders the rate that the loud pair got, if it is less than 95 % of the one asked for; else [].
 * @param {SummaryArm} arm
 */
function renderDeliveredRate(arm) {
  const perSecond = findQuantity(arm, 'loudThroughput').median
  if (perSecond === null || perSecond >= LOUD_LEAST * findLoudRate(arm)) return []
  const isSaturated = arm.spoiled.some(({ gate }) => gate === 'loud-saturated')
  return [
    `${Math.round(perSecond)} of the ${findLoudRate(arm)} requests/s were answered${isSaturated ? ': saturated' : ''}`,
  ]
}

/**
 * Renders the proxies without a p99 by reason: the gate that excluded it, or too few requests.
 * @param {SummaryArm[]} arms
 */
function renderMissingByProxy(arms) {
  return [...groupBy(arms, arm => findExclusion([arm], 'latency')?.gate).values()].map(same => {
    const reason = findExclusion([same[0]], 'latency')?.reason ?? renderTooFewRequests(same[0])
    return `no p99 of ${same.map(renderArmName).join(', ')}: ${reason}`
  })
}

/** @param {SummaryArm} arm */
const findP99 = arm => findQuantity(arm, 'p99').median

/** Reads the rate of the loud pair; 0: there is none. @param {SummaryArm} arm */
const findLoudRate = ({ load }) => load.loudPerSecond ?? 0
