import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise } from '../lib/letters.js'
import { renderNounCount } from '../lib/units.js'
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
 * for all points. A/A pairs, contrasts and single sidecars are left out.
 * @param {{ comparisons: Comparison[], primary?: string, others?: string[] }} options primary: the quantity, by
 *   default CPU per request; others: further quantities, by default memory, which only the sentence of a single pair
 *   has
 * @returns {string[]} []: no two planes were compared in the primary quantity
 */
export function renderPairs({ comparisons, primary = PRIMARY.name, others = [MEMORY] }) {
  const pairs = comparisons.filter(c => !c.isControl && c.contrast === null && c.service === null)
  const ofPrimary = pairs.filter(c => c.quantity === primary)
  if (ofPrimary.length === 0) return []
  const groups = [...groupBy(ofPrimary, c => createGroupKey(c)).values()]
  const ofFirst = ofPrimary.filter(({ a }) => a === ofPrimary[0].a)
  const contenders = new Set(ofFirst.map(({ b }) => b))
  if (groups.length > 1) return [...groupBy(ofFirst, c => c.b).values()].map(renderPoints)
  if (contenders.size > 1) return [renderManyProxies(ofPrimary)]
  return ofFirst.map(comparison => {
    const beside = pairs.filter(c => c.a === comparison.a && c.b === comparison.b && others.includes(c.quantity))
    return renderPair(comparison, beside)
  })
}

/**
 * Renders at how many points of the axes one proxy has less of a quantity than another, and by how much. It also
 * counts the points without a difference, an interval or a verdict.
 * @param {Comparison[]} comparisons of one pair, one for each point
 * @returns {string} one sentence
 */
function renderPoints(comparisons) {
  const [{ a, b, quantity }] = comparisons
  const listComparisonsWithVerdict = (/** @type {string} */ verdict) => comparisons.filter(c => c.verdict === verdict)
  const renderGaps = (/** @type {Comparison[]} */ subset) => {
    const values = subset.map(({ ratio }) => 100 * Math.abs(Number(ratio.median) - 1)).sort((x, y) => x - y)
    const [least, most] = [values[0], values[values.length - 1]].map(value => value.toFixed(0))
    return `${least === most ? least : `${least} to ${most}`} %`
  }
  const { less, more, label = quantity } = QUANTITIES[quantity]?.compared ?? {}
  for (const [verdict, words] of /** @type {const} */ ([
    ['lower', less],
    ['higher', more],
  ]))
    if (listComparisonsWithVerdict(verdict).length === comparisons.length)
      return `${a} ${`${words}`.replace('%', renderGaps(comparisons))} than ${b}, at each of ${comparisons.length} points.`
  const clauses = [
    ['lower', 'less'],
    ['higher', 'more'],
  ].flatMap(([verdict, word]) => {
    const subset = listComparisonsWithVerdict(verdict)
    return subset.length > 0 ? [`${word} at ${subset.length} (${renderGaps(subset)})`] : []
  })
  const alikeCount = listComparisonsWithVerdict('no-difference-shown').length
  const open = listComparisonsWithVerdict('indicative').filter(({ ratio }) => ratio.median !== null)
  const ratios = open.map(({ ratio }) => Number(ratio.median)).sort((x, y) => x - y)
  const withoutVerdict =
    comparisons.length -
    listComparisonsWithVerdict('lower').length -
    listComparisonsWithVerdict('higher').length -
    alikeCount -
    open.length
  const allClauses = [
    ...clauses,
    ...(alikeCount > 0 ? [`no difference at ${alikeCount}`] : []),
    ...(open.length > 0
      ? [`no interval yet at ${open.length} (${ratios[0].toFixed(2)} to ${ratios[ratios.length - 1].toFixed(2)} ×)`]
      : []),
    ...(withoutVerdict > 0 ? [`no verdict at ${withoutVerdict}`] : []),
  ]
  return `${capitalise(label)} of ${a} against ${b} at ${renderNounCount(comparisons.length, 'point')}: ${allClauses.join(', ')}.`
}
