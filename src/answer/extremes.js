import { QUANTITIES } from '../judge/quantities.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { renderNounCount } from '../lib/units.js'
import {
  computeNoisePercent,
  countRatios,
  isSmallWithoutInterval,
  MULTIPLE_LEAST,
  renderQuantityLabel,
} from './pair.js'

/**
 * The cheapest and the dearest of many proxies, in one sentence. Pure.
 * @import { Comparison } from '../model/types.ts'
 */

/**
 * The verdicts on several proxies in one quantity, and the proxy that the others are compared with.
 * @typedef {object} BaselineVerdicts
 * @property {string} baseline
 * @property {Comparison[]} measuredPairs pairs that have a verdict, or a ratio without an interval; []: none has
 * @property {Comparison[]} baselinePairs those of `measuredPairs` whose `a` is the baseline; [] only if `measuredPairs` is []
 * @property {string[]} lackClauses one clause about the proxies without a verdict against the baseline; []: each has one
 */

/**
 * Renders which of many proxies use the least and which the most, as multiples with their 95 % intervals; that none differs, if
 * so; or that there is no verdict. Proxies without a verdict against the baseline are named at the end.
 * @param {BaselineVerdicts} verdicts
 * @returns {string} one sentence
 */
export function renderExtremes({ baseline, measuredPairs, baselinePairs, lackClauses }) {
  if (baselinePairs.length === 0) return `${capitalise(lackClauses[0])}.`
  // The ratio of a comparison is that of the baseline to the proxy: the largest belongs to the cheapest.
  /** @type {Map<string, number>} */
  const ratios = new Map([[baseline, 1]])
  for (const { b, ratio } of baselinePairs) ratios.set(b, Number(ratio.median))
  const names = [...ratios.keys()]
  const ranked = names.toSorted((a, b) => Number(ratios.get(b)) - Number(ratios.get(a)))
  const pairs = measuredPairs.filter(({ a, b }) => ratios.has(a) && ratios.has(b))
  const apart = pairs.filter(pair => !isAlike(pair))
  const clauses =
    apart.length > 0 ? renderEnds({ baseline, names, ranked, pairs, apart }) : [renderAlike({ names, pairs })]
  return `${[...clauses, ...lackClauses].join('; ')}.`
}

/**
 * Renders that no pair of many proxies differs. If a pair has no interval yet, the number of repeats follows; else, if all pairs have a
 * verdict, the largest difference that they cannot exclude.
 * @param {{ names: string[], pairs: Comparison[] }} options names: of the proxies; pairs: those that have a verdict, at least
 *   one, none of which differs
 * @returns {string} a clause
 */
function renderAlike({ names, pairs }) {
  const label = renderQuantityLabel(pairs[0].quantity)
  const open = pairs.filter(hasNoInterval)
  if (open.length > 0) {
    const repeats = Math.max(...open.map(countRatios))
    return `No difference in ${label} of ${joinWords(names)} so far (${renderNounCount(repeats, 'repeat')}: no interval yet)`
  }
  if (pairs.length < (names.length * (names.length - 1)) / 2)
    return `No difference found in ${label} of ${joinWords(names)}`
  const noise = Math.max(...pairs.map(computeNoisePercent)).toFixed(1)
  return `No difference found in ${label}: ${joinWords(names)} are within ${noise} % of each other`
}

/**
 * The proxies that have a verdict against the baseline, with the baseline, and the verdicts on them.
 * @typedef {object} Proxies
 * @property {string[]} names
 * @property {string[]} ranked the names, the cheapest first
 * @property {Comparison[]} pairs those that have a verdict: two of the proxies may have none on each other
 * @property {Comparison[]} apart the pairs that differ, at least one
 */

/**
 * Renders the cheapest and the dearest proxies: as those with the least and the most, if each differs from all proxies outside
 * of its group (`isRanking`), else by the gap between both groups.
 * @param {Proxies & { baseline: string }} proxies
 * @returns {string[]} one or two clauses
 */
function renderEnds({ baseline, ...proxies }) {
  const ends = findEnds(proxies)
  return ends.isRanking ? renderRanking(ends, { ...proxies, baseline }) : renderEndsGap(ends, proxies)
}

/**
 * Renders the proxies with the least and with the most, as multiples of the baseline; a group with the baseline has no multiple.
 * @param {Ends} ends
 * @param {Proxies & { baseline: string }} proxies
 * @returns {string[]} two clauses
 */
function renderRanking({ widest, cheapest, dearest }, { baseline, ranked, pairs }) {
  const label = renderQuantityLabel(widest.quantity)
  const { verb, least, most } = chooseEndWords(widest.quantity, cheapest.length)
  const { soFar, noDifference } = chooseCertaintyWords(pairs)
  const certainty = cheapest.length === 1 ? soFar : ` (${noDifference})`
  const renderMultiple = (/** @type {string[]} */ group, /** @type {string} */ end) => {
    const pair = group.includes(baseline) ? undefined : findPairOfNames(pairs, baseline, end)
    if (!pair) return ''
    const { times, precision } = renderTimes(pair, end)
    return `, ${renderMemberPrefix(group, end)}${times} (${precision})`
  }
  return [
    `${joinWords(cheapest)} ${verb} ${least} ${label}${certainty}${renderMultiple(cheapest, ranked[0])}`,
    `${joinWords(dearest)} ${most}${renderMultiple(dearest, ranked[ranked.length - 1])}`,
  ]
}

/**
 * Renders the gap between the cheapest and the dearest proxies, and which proxies differ from none.
 * @param {Ends} ends
 * @param {Pick<Proxies, 'pairs'>} proxies
 * @returns {string[]} one clause; two, if a proxy outside of both groups differs from none
 */
function renderEndsGap({ widest, cheapest, dearest, alike }, { pairs }) {
  const label = renderQuantityLabel(widest.quantity)
  const { verb, less } = chooseEndWords(widest.quantity, cheapest.length)
  const { soFar, noDifference } = chooseCertaintyWords(pairs)
  const [, high] = orderPair(widest)
  const { times, precision } = renderTimes(widest, high)
  const gap = `(${renderMemberPrefix(dearest, high)}${times}, ${precision})`
  return [
    `${joinWords(cheapest)} ${verb} ${less} ${label} than ${joinWords(dearest)}${soFar} ${gap}`,
    ...(alike.length > 0 ? [`${noDifference} between ${alike.join(' or ')} and the others`] : []),
  ]
}

/**
 * Chooses the words that go with a quantity: `uses less` and `the least` if verdicts on it begin with `uses`, else `has a lower`
 * and `the lowest`.
 * @param {string} quantity its name
 * @param {number} count of the proxies that are the subject
 */
function chooseEndWords(quantity, count) {
  const isUse = QUANTITIES[quantity]?.compared?.less.startsWith('uses')
  if (isUse) return { verb: count === 1 ? 'uses' : 'use', less: 'less', least: 'the least', most: 'the most' }
  return { verb: count === 1 ? 'has' : 'have', less: 'a lower', least: 'the lowest', most: 'the highest' }
}

/**
 * Chooses the words for verdicts, which further repeats may change if a pair has no interval.
 * @param {Comparison[]} pairs
 * @returns {{ soFar: string, noDifference: string }} soFar: begins with a space; empty: each pair has an interval, and
 *   noDifference is `no difference found`
 */
function chooseCertaintyWords(pairs) {
  const isOpen = pairs.some(hasNoInterval)
  return { soFar: isOpen ? ' so far' : '', noDifference: isOpen ? 'no difference so far' : 'no difference found' }
}

/**
 * Renders which of several proxies a multiple is of.
 * @param {string[]} group
 * @param {string} name of one of them
 * @returns {string} the name and a space; empty: there is only one
 */
function renderMemberPrefix(group, name) {
  return group.length > 1 ? `${name} ` : ''
}

/**
 * The cheapest and the dearest proxies.
 * @typedef {object} Ends
 * @property {Comparison} widest the pair whose ratio is farthest from 1: of one of the cheapest and one of the dearest
 * @property {string[]} cheapest at least one
 * @property {string[]} dearest at least one
 * @property {boolean} isRanking there are more than two proxies, and each member of both groups differs from each proxy outside of
 *   its group, so that superlatives are true
 * @property {string[]} alike proxies in no group that tie with all others; []: there are none
 */

/**
 * Finds the cheapest and the dearest groups of proxies, around the pair whose ratio is farthest from 1. Ties are not
 * transitive: the members of a group tie with each other, and each differs from each member of the other group.
 * @param {Proxies} proxies
 * @returns {Ends}
 */
function findEnds({ names, ranked, pairs, apart }) {
  const computeDistance = (/** @type {Comparison} */ { ratio }) => Math.abs(Math.log(Number(ratio.median)))
  const widest = apart.reduce((best, pair) => (computeDistance(pair) > computeDistance(best) ? pair : best))
  const [low, high] = orderPair(widest)
  const isLess = (/** @type {string} */ name, /** @type {string} */ other) => {
    const pair = findPairOfNames(apart, name, other)
    return pair !== undefined && orderPair(pair)[0] === name
  }
  const lessThanHigh = ranked.filter(name => isLess(name, high))
  const cheapest = listTies(low, { candidates: lessThanHigh, names, pairs })
  const moreThanCheapest = ranked.toReversed().filter(name => cheapest.every(member => isLess(member, name)))
  const dearest = listTies(high, { candidates: moreThanCheapest, names, pairs })
  const [above, below] = [cheapest, dearest].map(group => names.filter(name => !group.includes(name)))
  const isLeast = cheapest.every(member => above.every(name => isLess(member, name)))
  const isMost = dearest.every(member => below.every(name => isLess(name, member)))
  const between = above.filter(name => !dearest.includes(name))
  const alike = between.filter(name => names.every(other => name === other || isTie(pairs, name, other)))
  return { widest, cheapest, dearest, isRanking: names.length > 2 && isLeast && isMost, alike }
}

/**
 * Lists a proxy, and the candidates that tie with it and with each other. Of two that differ, the later one is left out.
 * @param {string} first the proxy
 * @param {{ candidates: string[], names: string[], pairs: Comparison[] }} options candidates: the preferred ones first; names: all
 * @returns {string[]} in the order of `names`
 */
function listTies(first, { candidates, names, pairs }) {
  const group = [first]
  for (const name of candidates) if (group.every(member => isTie(pairs, member, name))) group.push(name)
  return names.filter(name => group.includes(name))
}

/**
 * Says whether two proxies do not differ.
 * @param {Comparison[]} pairs
 * @param {string} name
 * @param {string} other
 * @returns {boolean} false also: the pair is not among them
 */
function isTie(pairs, name, other) {
  const pair = findPairOfNames(pairs, name, other)
  return pair !== undefined && isAlike(pair)
}

/**
 * Finds the comparison of two proxies, in either order.
 * @param {Comparison[]} pairs
 * @param {string} name
 * @param {string} other
 * @returns {Comparison | undefined} undefined: the pair is not among them
 */
function findPairOfNames(pairs, name, other) {
  return pairs.find(({ a, b }) => (a === name && b === other) || (a === other && b === name))
}

/**
 * Orders the proxies of a pair: the one that uses less comes first.
 * @param {Comparison} pair with a ratio
 * @returns {string[]} both names; `b` first if the ratio is exactly 1
 */
function orderPair({ a, b, ratio }) {
  return Number(ratio.median) < 1 ? [a, b] : [b, a]
}

/**
 * Renders one proxy of a pair as a multiple of the other: `2.8 × pipy`, and how precise that is: `95 % CI 2.6 to 3.0`.
 * @param {Comparison} pair with a ratio
 * @param {string} name of the proxy, `a` or `b` of the pair
 * @returns {{ times: string, precision: string }} without an interval, `times` begins with `about`, and `precision` is the number of
 *   repeats
 */
function renderTimes(pair, name) {
  const { a, b, ratio } = pair
  const invert = (/** @type {number | null} */ value) => (value === null ? null : 1 / value)
  const [times, low, high] =
    name === a ? [ratio.median, ratio.low, ratio.high] : [ratio.median, ratio.high, ratio.low].map(invert)
  const digits = Number(times) >= MULTIPLE_LEAST ? 1 : 2
  const about = hasNoInterval(pair) ? 'about ' : ''
  return {
    times: `${about}${Number(times).toFixed(digits)} × ${name === a ? b : a}`,
    precision:
      about || low === null || high === null
        ? `${renderNounCount(countRatios(pair), 'repeat')}: no interval yet`
        : `95 % CI ${low.toFixed(digits)} to ${high.toFixed(digits)}`,
  }
}

/** Says whether the ratio of a comparison has no interval. @param {Comparison} comparison with a ratio */
function hasNoInterval({ verdict }) {
  return verdict === 'indicative'
}

/** Says whether no difference was shown, or the gap is small and has no interval. @param {Comparison} comparison with a verdict */
function isAlike(comparison) {
  return comparison.verdict === 'no-difference-shown' || isSmallWithoutInterval(comparison)
}
