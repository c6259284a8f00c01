import { QUANTITIES } from '../judge/quantities.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { renderNounCount } from '../lib/units.js'
import { renderExtremes } from './extremes.js'
import { countRatios, renderQuantityLabel } from './pair.js'

/**
 * The verdicts on more than two proxies, in one sentence. Pure.
 * @import { Comparison } from '../model/types.ts'
 * @import { BaselineVerdicts } from './extremes.js'
 */

/** From this many proxies beside the baseline on, the sentence names only both ends: the picture has the ratio of each. */
const EXTREMES_LEAST = 3

/**
 * Renders the verdicts on at least three proxies: each against the baseline, or, from EXTREMES_LEAST proxies beside
 * the baseline on, only the cheapest and the dearest.
 * @param {Comparison[]} comparisons of all pairs, in one quantity and under the same conditions; those without a verdict, too
 * @returns {string} one sentence
 */
export function renderManyProxies(comparisons) {
  const contenders = new Set(comparisons.filter(({ a }) => a === comparisons[0].a).map(({ b }) => b))
  const verdicts = chooseBaselineVerdicts(comparisons)
  return contenders.size >= EXTREMES_LEAST ? renderExtremes(verdicts) : renderAgainstBaseline(verdicts)
}

/**
 * Renders the verdict on each proxy against the baseline, with its multiple of the baseline: `pipy uses less CPU per
 * request than envoy (2.0 ×), and more than haproxy (0.8 ×).` Proxies without a verdict follow: `; no verdict on caddy.`
 * @param {BaselineVerdicts} verdicts
 * @returns {string} one sentence
 */
function renderAgainstBaseline({ baseline, baselinePairs, lackClauses }) {
  const ratioClauses = listRatioClauses(baseline, baselinePairs)
  const alike = baselinePairs.filter(({ verdict }) => verdict === 'no-difference-shown').map(({ b }) => b)
  const clauses = [
    ...(ratioClauses.length > 0 ? [ratioClauses.join(', and ')] : []),
    ...(alike.length > 0 ? [`no difference found between ${baseline} and ${joinWords(alike)}`] : []),
    ...lackClauses,
  ]
  const sentence = `${clauses.join('; ')}.`
  // A clause about ratios begins with the name of a proxy, which keeps its letters.
  return ratioClauses.length > 0 ? sentence : capitalise(sentence)
}

/**
 * Lists clauses about the proxies that differ from the baseline, or have no interval yet.
 * @param {string} baseline
 * @param {Comparison[]} baselinePairs pairs of the baseline (`a`) and another proxy (`b`) that have a verdict
 * @returns {string[]} at most three, to be joined by `, and `: who uses more than the baseline, who less, and without an interval;
 *   []: there are no such proxies
 */
function listRatioClauses(baseline, baselinePairs) {
  if (baselinePairs.length === 0) return []
  const [{ quantity }] = baselinePairs
  const { less, more } = renderComparatives(quantity)
  const renderMultiples = (/** @type {Comparison['verdict']} */ verdict) => {
    const pairs = baselinePairs.filter(pair => pair.verdict === verdict)
    return joinWords(pairs.map(({ b, ratio }) => `${b} (${(1 / Number(ratio.median)).toFixed(1)} ×)`))
  }
  const [lower, higher, open] = [renderMultiples('lower'), renderMultiples('higher'), renderMultiples('indicative')]
  const clauses = lower ? [`${baseline} ${less.predicate} than ${lower}`] : []
  if (higher) clauses.push(`${clauses.length > 0 ? more.short : `${baseline} ${more.predicate}`} than ${higher}`)
  if (open) {
    const openPairs = baselinePairs.filter(({ verdict }) => verdict === 'indicative')
    const repeats = renderNounCount(Math.max(...openPairs.map(countRatios)), 'repeat')
    const against = clauses.length > 0 ? 'against' : 'Against'
    clauses.push(`${against} ${baseline}, ${renderQuantityLabel(quantity)}: ${open}; ${repeats}: no interval yet`)
  }
  return clauses
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
 * Chooses the baseline, and gathers the verdicts. The baseline is the first proxy that has a verdict, since one failed repeat of a
 * proxy may invalidate all its pairs; without any verdict, it is the first proxy.
 * @param {Comparison[]} comparisons of all pairs of several proxies, at least one
 * @returns {BaselineVerdicts}
 */
function chooseBaselineVerdicts(comparisons) {
  const measuredPairs = comparisons.filter(hasValidRatio)
  const [{ a: baseline }] = [...measuredPairs, ...comparisons]
  const baselinePairs = measuredPairs.filter(({ a }) => a === baseline)
  const names = new Set([baseline, ...baselinePairs.map(({ b }) => b)])
  const proxies = [...new Set(comparisons.flatMap(({ a, b }) => [a, b]))]
  if (measuredPairs.length === 0) {
    const label = renderQuantityLabel(comparisons[0].quantity)
    return { baseline, measuredPairs, baselinePairs, lackClauses: [`no verdict on ${label} of ${joinWords(proxies)}`] }
  }
  const others = proxies.filter(name => !names.has(name))
  const hasOtherPairs = measuredPairs.some(({ a, b }) => others.includes(a) || others.includes(b))
  const lackClause = `no verdict on ${joinWords(others)}${hasOtherPairs ? ` against ${baseline}` : ''}`
  return { baseline, measuredPairs, baselinePairs, lackClauses: others.length > 0 ? [lackClause] : [] }
}

/** Says whether a comparison has a ratio that is not invalid; it may have no interval. @param {Comparison} comparison */
function hasValidRatio({ verdict, ratio }) {
  return ratio.median !== null && verdict !== 'invalid'
}
