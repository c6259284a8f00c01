import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { renderNounCount, renderRange } from '../lib/units.js'
import { createGroupKey } from '../model/arms.js'
import { renderManyProxies } from './many-proxies.js'
import { MEMORY, renderPair } from './pair.js'

/**
 * The verdicts of a run as sentences: one for each pair, for all proxies together, or for the points of an axis. Pure.
 * @import { Comparison } from '../model/types.ts'
 */

/**
 * Renders the verdicts on a quantity. A single pair gets a sentence with the gap, its interval and further
 * quantities; several proxies share one sentence; if an axis varies, each proxy gets one sentence against the first,
 * for all points. A/A pairs, contrasts and comparisons of single sidecars are left out.
 * @param {{ comparisons: Comparison[], primary?: string, others?: string[] }} options primary: the quantity, by
 *   default CPU per request; others: further quantities, by default memory, which only the sentence of a single pair
 *   has
 * @returns {string[]} []: no two planes were compared in the primary quantity
 */
export function renderPairs({ comparisons, primary = PRIMARY.name, others = [MEMORY] }) {
  const pairs = comparisons.filter(c => !c.isControl && c.contrast === null && c.service === null)
  const primaryPairs = pairs.filter(({ quantity }) => quantity === primary)
  if (primaryPairs.length === 0) return []
  const points = groupBy(primaryPairs, pair => createGroupKey(pair))
  const againstFirst = primaryPairs.filter(({ a }) => a === primaryPairs[0].a)
  const byContender = groupBy(againstFirst, ({ b }) => b)
  if (points.size > 1) return [...byContender.values()].map(renderVerdictsByPoint)
  if (byContender.size > 1) return [renderManyProxies(primaryPairs)]
  return againstFirst.map(pair => {
    const ofPair = pairs.filter(({ a, b }) => a === pair.a && b === pair.b)
    const furtherPairs = ofPair.filter(({ quantity }) => others.includes(quantity))
    return renderPair(pair, furtherPairs)
  })
}

/**
 * Renders at how many points of the axes one proxy has less of a quantity than another, and at how many more, with the range of
 * the gaps. It also counts the points without a difference, an interval or a verdict.
 * @param {Comparison[]} comparisons of one pair, one for each point
 * @returns {string} one sentence
 */
function renderVerdictsByPoint(comparisons) {
  const [{ a, b, quantity }] = comparisons
  const count = comparisons.length
  const listWithVerdict = (/** @type {Comparison['verdict']} */ verdict) =>
    comparisons.filter(comparison => comparison.verdict === verdict)
  const lower = listWithVerdict('lower')
  const higher = listWithVerdict('higher')
  const alike = listWithVerdict('no-difference-shown')
  const { less, more, label = quantity } = QUANTITIES[quantity]?.compared ?? {}
  if (lower.length === count || higher.length === count) {
    const predicate = `${lower.length === count ? less : more}`.replace('%', renderGaps(comparisons))
    return `${a} ${predicate} than ${b}, at each of ${count} points.`
  }
  const open = listWithVerdict('indicative').filter(({ ratio }) => ratio.median !== null)
  const withoutVerdict = count - lower.length - higher.length - alike.length - open.length
  const clauses = [
    ...(lower.length > 0 ? [`less at ${lower.length} (${renderGaps(lower)})`] : []),
    ...(higher.length > 0 ? [`more at ${higher.length} (${renderGaps(higher)})`] : []),
    ...(alike.length > 0 ? [`no difference at ${alike.length}`] : []),
    ...(open.length > 0 ? [`no interval yet at ${open.length} (${renderRatioRange(open)})`] : []),
    ...(withoutVerdict > 0 ? [`no verdict at ${withoutVerdict}`] : []),
  ]
  return `${capitalise(label)} of ${a} against ${b} at ${renderNounCount(count, 'point')}: ${clauses.join(', ')}.`
}

/**
 * Renders the smallest and the largest gap, such as `12 to 30 %`; one number, if both round to it.
 * @param {Comparison[]} comparisons with ratios, at least one
 * @returns {string}
 */
function renderGaps(comparisons) {
  const gaps = comparisons.map(({ ratio }) => 100 * Math.abs(Number(ratio.median) - 1))
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)].map(gap => gap.toFixed(0))
  return `${renderRange(least, most)} %`
}

/**
 * Renders the smallest and the largest ratio, such as `0.90 to 1.10 ×`.
 * @param {Comparison[]} comparisons with ratios, at least one
 * @returns {string}
 */
function renderRatioRange(comparisons) {
  const ratios = comparisons.map(({ ratio }) => Number(ratio.median))
  return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} ×`
}
