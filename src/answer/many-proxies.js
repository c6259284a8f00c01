import { QUANTITIES } from '../judge/quantities.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { renderNounCount } from '../lib/units.js'
import { countValues, findNoise, isOpenAndSmall, MULTIPLE_LEAST, renderQuantityLabel } from './pair.js'

/**
 * The verdicts on more than two proxies, in one sentence. Pure.
 * @import { Comparison } from '../model/types.ts'
 */

/** From this many proxies beside the baseline on, the sentence names only both ends: the picture has the ratio of each. */
const EXTREMES_LEAST = 3

/**
 * Renders the verdicts on at least three proxies: each against the baseline, or, from EXTREMES_LEAST proxies beside
 * the baseline on, only the cheapest and the dearest.
 * @param {Comparison[]} comparisons of all pairs, in one quantity
 * @returns {string} one sentence
 */
export function renderManyProxies(comparisons) {
  const contenders = new Set(comparisons.filter(({ a }) => a === comparisons[0].a).map(({ b }) => b))
  return contenders.size >= EXTREMES_LEAST ? renderExtremes(comparisons) : renderAgainstBaseline(comparisons)
}

/**
 * Renders the verdict on each proxy against the baseline, with its multiple of the baseline: `pipy uses less CPU per
 * request than envoy (2.0 ×), and more than haproxy (0.8 ×); no verdict on caddy.`
 * @param {Comparison[]} comparisons of all pairs
 * @returns {string} one sentence
 */
function renderAgainstBaseline(comparisons) {
  const { baseline, ofBaseline, lacks } = chooseBaseline(comparisons)
  const [{ quantity }] = comparisons
  const { less, more } = renderComparatives(quantity)
  const listWithVerdict = (/** @type {Comparison['verdict']} */ verdict) =>
    ofBaseline.filter(c => c.verdict === verdict)
  const renderMultiples = (/** @type {Comparison[]} */ subset) =>
    joinWords(subset.map(({ b, ratio }) => `${b} (${(1 / Number(ratio.median)).toFixed(1)} ×)`))
  const [lower, higher, open] = [listWithVerdict('lower'), listWithVerdict('higher'), ofBaseline.filter(isOpen)].map(
    renderMultiples,
  )
  const alike = joinWords(listWithVerdict('no-difference-shown').map(({ b }) => b))

  /** @type {string[]} */
  const ratios = []
  if (lower) ratios.push(`${baseline} ${less.predicate} than ${lower}`)
  if (higher) ratios.push(`${ratios.length > 0 ? more.short : `${baseline} ${more.predicate}`} than ${higher}`)
  if (open) {
    const repeats = renderNounCount(Math.max(...ofBaseline.map(countValues)), 'repeat')
    const against = ratios.length > 0 ? 'against' : 'Against'
    ratios.push(`${against} ${baseline}, ${renderQuantityLabel(quantity)}: ${open}; ${repeats}: no interval yet`)
  }
  const clauses = ratios.length > 0 ? [ratios.join(', and ')] : []
  if (alike) clauses.push(`${clauses.length > 0 ? 'no' : 'No'} difference found between ${baseline} and ${alike}`)
  for (const lack of lacks) clauses.push(clauses.length > 0 ? lack : capitalise(lack))
  return `${clauses.join('; ')}.`
}

/**
 * Renders both comparatives of a quantity without a number, from the words of its table. `uses % less CPU` gives the
 * predicate `uses less CPU`, and `less` after another predicate; `has a % lower p99` gives `has a lower p99`, and `a
 * lower one`.
 * @param {string} quantity its name
 * @returns {{ less: { predicate: string, short: string }, more: { predicate: string, short: string } }} less: of the
 *   proxy with the lower value; short: the words after another predicate
 */
function renderComparatives(quantity) {
  const { less = `has % less ${quantity}`, more = `has % more ${quantity}` } = QUANTITIES[quantity]?.compared ?? {}
  const render = (/** @type {string} */ words) => {
    const [, article = '', comparative] = /(a )?% (\S+)/.exec(words) ?? []
    return { predicate: words.replace('% ', ''), short: article ? `${article}${comparative} one` : comparative }
  }
  return { less: render(less), more: render(more) }
}

/**
 * Renders which of many proxies use the least and which the most, as multiples of the baseline with their 95 %
 * intervals.
 * @param {Comparison[]} comparisons of all pairs
 * @returns {string} one sentence
 */
function renderExtremes(comparisons) {
  const { baseline, measured, ofBaseline, lacks } = chooseBaseline(comparisons)
  if (ofBaseline.length === 0) return `${capitalise(lacks[0])}.`
  // The ratio of a comparison is that of the baseline to the proxy: the largest belongs to the cheapest.
  const ratios = new Map([[baseline, 1], ...ofBaseline.map(c => /** @type {const} */ ([c.b, Number(c.ratio.median)]))])
  const names = [...ratios.keys()]
  const ranked = names.toSorted((x, y) => Number(ratios.get(y)) - Number(ratios.get(x)))
  const pairs = measured.filter(({ a, b }) => ratios.has(a) && ratios.has(b))
  const apart = pairs.filter(pair => !isAlike(pair))
  const clauses =
    apart.length > 0 ? renderEnds({ baseline, names, ranked, pairs, apart }) : [renderAlike({ names, pairs })]
  return `${[...clauses, ...lacks].join('; ')}.`
}

/**
 * Chooses the baseline: the first proxy that has a verdict, since one failed repeat of a proxy invalidates all its
 * pairs; without any verdict, the first proxy.
 * @param {Comparison[]} comparisons of all pairs of several proxies
 * @returns {{ baseline: string, measured: Comparison[], ofBaseline: Comparison[], lacks: string[] }} measured: pairs
 *   with a ratio; ofBaseline: those of the baseline; lacks: one clause about the proxies without a verdict, or []:
 *   each has one
 */
function chooseBaseline(comparisons) {
  const measured = comparisons.filter(isMeasured)
  const [{ a: baseline }] = [...measured, ...comparisons]
  const ofBaseline = measured.filter(c => c.a === baseline)
  const names = new Set([baseline, ...ofBaseline.map(({ b }) => b)])
  const proxies = [...new Set(comparisons.flatMap(({ a, b }) => [a, b]))]
  if (measured.length === 0) {
    const label = renderQuantityLabel(comparisons[0].quantity)
    return { baseline, measured, ofBaseline, lacks: [`no verdict on ${label} of ${joinWords(proxies)}`] }
  }
  const others = proxies.filter(name => !names.has(name))
  const hasOtherPairs = measured.some(({ a, b }) => others.includes(a) || others.includes(b))
  const lackClause = `no verdict on ${joinWords(others)}${hasOtherPairs ? ` against ${baseline}` : ''}`
  return { baseline, measured, ofBaseline, lacks: others.length > 0 ? [lackClause] : [] }
}

/**
 * Renders that no pair of many proxies differs, and the largest difference that their intervals allow.
 * @param {{ names: string[], pairs: Comparison[] }} options names: of the proxies; pairs: those that have a ratio,
 *   none of which differs
 * @returns {string} a clause
 */
function renderAlike({ names, pairs }) {
  const label = renderQuantityLabel(pairs[0].quantity)
  const open = pairs.filter(isOpen)
  if (open.length > 0) {
    const repeats = Math.max(...open.map(countValues))
    return `No difference in ${label} of ${joinWords(names)} so far (${renderNounCount(repeats, 'repeat')}: no interval yet)`
  }
  if (pairs.length < (names.length * (names.length - 1)) / 2)
    return `No difference found in ${label} of ${joinWords(names)}`
  const noise = Math.max(...pairs.map(findNoise)).toFixed(1)
  return `No difference found in ${label}: ${joinWords(names)} are within ${noise} % of each other`
}

/**
 * Renders the cheapest and the dearest proxies: as those with the least and the most, if each differs from all other
 * proxies, else by the gap between both groups.
 * @param {Parameters<typeof findEnds>[0] & { baseline: string }} options
 * @returns {string[]} one or two clauses
 */
function renderEnds({ baseline, ...options }) {
  const { ranked, pairs } = options
  const { widest, cheapest, dearest, isRanking, alike } = findEnds(options)
  const label = renderQuantityLabel(widest.quantity)
  const isUse = QUANTITIES[widest.quantity]?.compared?.less.startsWith('uses')
  const isOne = cheapest.length === 1
  const verb = isUse ? `use${isOne ? 's' : ''}` : isOne ? 'has' : 'have'
  const soFar = pairs.some(isOpen) ? ' so far' : ''
  const noDifference = soFar ? 'no difference so far' : 'no difference found'
  const renderGroupPrefix = (/** @type {string[]} */ group, /** @type {string} */ name) =>
    group.length > 1 ? `${name} ` : ''
  if (!isRanking) {
    const [, high] = orderPair(widest)
    const { times, sureness } = renderTimes(widest, high)
    const gap = `(${renderGroupPrefix(dearest, high)}${times}, ${sureness})`
    return [
      `${joinWords(cheapest)} ${verb} ${isUse ? 'less' : 'a lower'} ${label} than ${joinWords(dearest)}${soFar} ${gap}`,
      ...(alike.length > 0 ? [`${noDifference} between ${alike.join(' or ')} and the others`] : []),
    ]
  }
  const renderFactor = (/** @type {string[]} */ group, /** @type {string} */ end) => {
    const pair = group.includes(baseline) ? undefined : findPair(pairs, baseline, end)
    if (!pair) return ''
    const { times, sureness } = renderTimes(pair, end)
    return `, ${renderGroupPrefix(group, end)}${times} (${sureness})`
  }
  const [lowest, highest] = isUse ? ['the least', 'the most'] : ['the lowest', 'the highest']
  const sureness = isOne ? soFar : ` (${noDifference})`
  return [
    `${joinWords(cheapest)} ${verb} ${lowest} ${label}${sureness}${renderFactor(cheapest, ranked[0])}`,
    `${joinWords(dearest)} ${highest}${renderFactor(dearest, ranked[ranked.length - 1])}`,
  ]
}

/**
 * Finds the cheapest and the dearest groups of proxies, around the pair whose ratio is farthest from 1. Ties are not
 * transitive: the members of a group tie with each other, and each differs from each member of the other group.
 * @param {{ names: string[], ranked: string[], pairs: Comparison[], apart: Comparison[] }} options ranked: names, the cheapest
 *   first; apart: the pairs that differ, at least one
 * @returns {{ widest: Comparison, cheapest: string[], dearest: string[], isRanking: boolean, alike: string[] }}
 *   widest: the pair that is farthest apart; isRanking: each member differs from each proxy outside of its group, as
 *   a superlative says; alike: proxies in no group that tie with all others, or []
 */
function findEnds({ names, ranked, pairs, apart }) {
  const distanceOf = (/** @type {Comparison} */ { ratio }) => Math.abs(Math.log(Number(ratio.median)))
  const widest = apart.reduce((best, pair) => (distanceOf(pair) > distanceOf(best) ? pair : best))
  const [low, high] = orderPair(widest)
  const isLess = (/** @type {string} */ x, /** @type {string} */ y) => {
    const pair = findPair(apart, x, y)
    return pair !== undefined && orderPair(pair)[0] === x
  }
  const areAlike = (/** @type {string} */ x, /** @type {string} */ y) => {
    const pair = findPair(pairs, x, y)
    return pair !== undefined && isAlike(pair)
  }
  const gather = (/** @type {string} */ end, /** @type {string[]} */ candidates) => {
    const group = [end]
    for (const name of candidates) if (group.every(member => areAlike(member, name))) group.push(name)
    return names.filter(name => group.includes(name))
  }
  const lessThanHigh = ranked.filter(name => isLess(name, high))
  const cheapest = gather(low, lessThanHigh)
  const moreThanCheapest = ranked.toReversed().filter(name => cheapest.every(member => isLess(member, name)))
  const dearest = gather(high, moreThanCheapest)
  const [above, below] = [cheapest, dearest].map(group => names.filter(name => !group.includes(name)))
  return {
    widest,
    cheapest,
    dearest,
    isRanking:
      names.length > 2 &&
      cheapest.every(member => above.every(name => isLess(member, name))) &&
      dearest.every(member => below.every(name => isLess(name, member))),
    alike: above.filter(x => !dearest.includes(x) && names.every(y => x === y || areAlike(x, y))),
  }
}

/**
 * Finds the comparison of two proxies, in either order.
 * @param {Comparison[]} pairs
 * @param {string} x
 * @param {string} y
 * @returns {Comparison | undefined} undefined: the pair is not among them
 */
const findPair = (pairs, x, y) => pairs.find(({ a, b }) => (a === x && b === y) || (a === y && b === x))

/**
 * Orders the proxies of a pair: the one that uses less comes first.
 * @param {Comparison} pair
 * @returns {string[]} both names
 */
const orderPair = ({ a, b, ratio }) => (Number(ratio.median) < 1 ? [a, b] : [b, a])

/**
 * Renders one proxy of a pair as a multiple of the other: `2.8 × pipy`, and how sure that is: `95 % CI 2.6 to 3.0`.
 * @param {Comparison} pair
 * @param {string} name of the proxy
 * @returns {{ times: string, sureness: string }} sureness: the interval, or the number of repeats if there is none
 */
function renderTimes(pair, name) {
  const { a, b, ratio } = pair
  const invert = (/** @type {number | null} */ value) => (value === null ? null : 1 / value)
  const [times, low, high] =
    name === a ? [ratio.median, ratio.low, ratio.high] : [ratio.median, ratio.high, ratio.low].map(invert)
  const digits = Number(times) >= MULTIPLE_LEAST ? 1 : 2
  const about = isOpen(pair) ? 'about ' : ''
  return {
    times: `${about}${Number(times).toFixed(digits)} × ${name === a ? b : a}`,
    sureness:
      about || low === null || high === null
        ? `${renderNounCount(countValues(pair), 'repeat')}: no interval yet`
        : `95 % CI ${low.toFixed(digits)} to ${high.toFixed(digits)}`,
  }
}

/**
 * Says whether a comparison has a ratio, and a verdict other than `invalid`.
 * @param {Comparison} comparison
 */
const isMeasured = ({ verdict, ratio }) => ratio.median !== null && verdict !== 'invalid'

/**
 * Says whether a comparison has a ratio without an interval.
 * @param {Comparison} comparison
 */
const isOpen = ({ verdict }) => verdict === 'indicative'

/**
 * Says whether no difference was shown, or the gap is small and has no interval.
 * @param {Comparison} comparison that was measured
 */
const isAlike = comparison => comparison.verdict === 'no-difference-shown' || isOpenAndSmall(comparison)
