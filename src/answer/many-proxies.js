import { QUANTITIES } from '../judge/quantities.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { renderNounCount, renderRange } from '../lib/units.js'
import { countRatios, isSmallWithoutInterval, renderQuantityLabel } from './pair.js'

/**
 * The verdicts on more than two proxies, in one sentence. Pure.
 * @import { Comparison } from '../model/types.ts'
 */

/**
 * Renders the verdict on each of several proxies against the baseline, with the multiples of the baseline: `pipy uses less CPU
 * per request than envoy and nginx (1.90 to 2.70 ×), and more than haproxy (0.80 ×).` The picture has the multiple of each, with its
 * interval. Proxies that do not differ, and those without a verdict, follow: `; no verdict on caddy.`
 * @param {Comparison[]} comparisons of all pairs, in one quantity and under the same conditions; those without a verdict, too
 * @returns {string} one sentence
 */
export function renderManyProxies(comparisons) {
  const { baseline, pairs, lackClause } = chooseBaselineVerdicts(comparisons)
  const apart = pairs.filter(pair => !isAlike(pair))
  const alike = pairs.filter(isAlike).map(({ b }) => b)
  const openPairs = pairs.filter(({ verdict }) => verdict === 'indicative')
  const inLabel = apart.length > 0 ? '' : ` in ${renderQuantityLabel(comparisons[0].quantity)}`
  const noDifference = `no difference${openPairs.length > 0 ? '' : ' found'}${inLabel}`
  const clauses = [
    ...(apart.length > 0 ? [renderDifferences(baseline, apart)] : []),
    ...(alike.length > 0 ? [`${noDifference} between ${baseline} and ${joinWords(alike)}`] : []),
    ...(lackClause ? [lackClause] : []),
  ]
  const sentence = `${clauses.join('; ')}.`
  if (openPairs.length > 0) {
    const repeats = renderNounCount(Math.max(...openPairs.map(countRatios)), 'repeat')
    return `So far (${repeats}: no interval yet), ${sentence}`
  }
  // A clause about differences begins with the name of a proxy, which keeps its letters.
  return apart.length > 0 ? sentence : capitalise(sentence)
}

/**
 * Renders which proxies have more of a quantity than the baseline, and which less.
 * @param {string} baseline
 * @param {Comparison[]} pairs of the baseline (`a`) and another proxy (`b`) that differ, at least one
 * @returns {string} a clause that begins with the baseline
 */
function renderDifferences(baseline, pairs) {
  const { less, more } = renderComparatives(pairs[0].quantity)
  const renderSide = (/** @type {boolean} */ isLess) => {
    const side = pairs.filter(({ ratio }) => Number(ratio.median) < 1 === isLess)
    const multiples = side.map(({ ratio }) => 1 / Number(ratio.median))
    const [least, most] = [Math.min(...multiples), Math.max(...multiples)].map(times => times.toFixed(2))
    return side.length > 0 ? `${joinWords(side.map(({ b }) => b))} (${renderRange(least, most)} ×)` : ''
  }
  const [dearer, cheaper] = [renderSide(true), renderSide(false)]
  if (!dearer) return `${baseline} ${more.predicate} than ${cheaper}`
  return `${baseline} ${less.predicate} than ${dearer}${cheaper ? `, and ${more.short} than ${cheaper}` : ''}`
}

/**
 * Renders both comparatives of a quantity without a number, from the words of its table. `uses % less CPU` gives the
 * predicate `uses less CPU`, and `less` after another predicate; `has a % lower p99` gives `has a lower p99`, and `a
 * lower one`. A quantity without such words gets `has less` and `has more`, and its name.
 * @param {string} quantity its name
 * @returns {{ less: { predicate: string, short: string }, more: { predicate: string, short: string } }} less: of the
 *   proxy with the lower value; short: the words after another predicate
 */
function renderComparatives(quantity) {
  const { less = `has % less ${quantity}`, more = `has % more ${quantity}` } = QUANTITIES[quantity]?.compared ?? {}
  const renderForms = (/** @type {string} */ words) => {
    const [, article = '', comparative] = /(a )?% (\S+)/.exec(words) ?? []
    return { predicate: words.replace('% ', ''), short: article ? `${article}${comparative} one` : comparative }
  }
  return { less: renderForms(less), more: renderForms(more) }
}

/**
 * Chooses the baseline, and its verdicts. The baseline is the first proxy that has a verdict, since one failed repeat of a
 * proxy may invalidate all its pairs; without any verdict, it is the first proxy.
 * @param {Comparison[]} comparisons of all pairs of several proxies, at least one
 * @returns {{ baseline: string, pairs: Comparison[], lackClause: string }} pairs: of the baseline (`a`) and another proxy (`b`),
 *   with a verdict or a ratio without an interval; lackClause: about the proxies without one; empty: each has one
 */
function chooseBaselineVerdicts(comparisons) {
  const measuredPairs = comparisons.filter(hasValidRatio)
  const [{ a: baseline }] = [...measuredPairs, ...comparisons]
  const pairs = measuredPairs.filter(({ a }) => a === baseline)
  const proxies = [...new Set(comparisons.flatMap(({ a, b }) => [a, b]))]
  if (pairs.length === 0) {
    const label = renderQuantityLabel(comparisons[0].quantity)
    return { baseline, pairs, lackClause: `no verdict on ${label} of ${joinWords(proxies)}` }
  }
  const others = proxies.filter(name => name !== baseline && !pairs.some(({ b }) => b === name))
  const hasOtherPairs = measuredPairs.some(({ a, b }) => others.includes(a) || others.includes(b))
  const lackClause = `no verdict on ${joinWords(others)}${hasOtherPairs ? ` against ${baseline}` : ''}`
  return { baseline, pairs, lackClause: others.length > 0 ? lackClause : '' }
}

/** Says whether a comparison has a ratio that is not invalid; it may have no interval. @param {Comparison} comparison */
function hasValidRatio({ verdict, ratio }) {
  return ratio.median !== null && verdict !== 'invalid'
}

/** Says whether no difference was shown, or the gap is small and has no interval. @param {Comparison} comparison with a verdict */
function isAlike(comparison) {
  return comparison.verdict === 'no-difference-shown' || isSmallWithoutInterval(comparison)
}
