import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { count } from '../lib/units.js'
import { groupOf } from '../model/arms.js'
import { GAP_LEAST } from '../model/bounds.js'

/** Verdicts on pairs of proxies as sentences. Pure. @import { Comparison } from '../model/types.ts' */

const MEMORY = 'rss'
const CONCLUDED = ['lower', 'higher']
/** A ratio of this or more is rendered as a multiple, since "150 % more" is misread. */
const MULTIPLE_LEAST = 2
/** From this many proxies beside the baseline on, a sentence names only both ends: the picture has the ratio of each. */
const EXTREMES_LEAST = 3

/**
 * Renders the verdicts on a quantity. One pair has a sentence with the gap, its interval and other quantities; several proxies
 * have one together; with points of an axis, there is one for each proxy against the first. A/A pairs, contrasts and single
 * sidecars are left out.
 * @param {{ comparisons: Comparison[], primary?: string, others?: string[] }} options primary: by default CPU per request; others:
 *   names of quantities, by default memory, which only the sentence of one pair has
 * @returns {string[]} []: no two planes were compared in the primary quantity
 */
export function renderPairs({ comparisons, primary = PRIMARY.name, others = [MEMORY] }) {
  const pairs = comparisons.filter(c => !c.isControl && c.contrast === null && c.service === null)
  const ofPrimary = pairs.filter(c => c.quantity === primary)
  if (ofPrimary.length === 0) return []
  const groups = [...groupBy(ofPrimary, c => groupOf(c)).values()]
  const ofFirst = ofPrimary.filter(({ a }) => a === ofPrimary[0].a)
  const contenders = new Set(ofFirst.map(({ b }) => b))
  if (groups.length > 1) return [...groupBy(ofFirst, c => c.b).values()].map(renderPoints)
  if (contenders.size >= EXTREMES_LEAST) return [renderExtremes(ofPrimary)]
  if (contenders.size > 1) return [renderAgainstBaseline(ofPrimary)]
  return ofFirst.map(comparison => {
    const beside = pairs.filter(c => c.a === comparison.a && c.b === comparison.b && others.includes(c.quantity))
    return renderPair(comparison, beside)
  })
}

/**
 * Renders `pipy uses 57.4 % less CPU per request than envoy (95 % CI 56.8 to 57.9) and 75 % less memory.`, that no difference was
 * found and within how much, or why there is no verdict.
 * @param {Comparison} comparison @param {Comparison[]} others of the same pair in further quantities; those without a verdict are
 *   left out
 */
export function renderPair(comparison, others = []) {
  const { a, b, quantity, verdict, ratio, reasons } = comparison
  const label = labelOfQuantity(quantity)
  if (verdict === 'invalid' || ratio.median === null) {
    const why = reasons.length > 0 ? renderReason(reasons[0]) : 'it was not measured'
    return `No verdict on ${label} of ${a} and ${b}: ${why}.`
  }
  if (verdict === 'no-difference-shown') {
    const clauses = others.flatMap(other => {
      if (other.verdict === 'no-difference-shown') return [`no difference in ${wordOf(other)} either`]
      return CONCLUDED.includes(other.verdict) ? [`${a} uses ${renderGap(other, 0)} ${wordOf(other)}`] : []
    })
    return `No difference found in ${label}: ${a} and ${b} are within ${findNoise(comparison).toFixed(1)} % of each other${clauses.map(clause => `; ${clause}`).join('')}.`
  }
  if (isOpenAndSmall(comparison))
    return `No difference in ${label} of ${a} and ${b} so far${renderSureness(comparison)}.`
  const clauses = others.flatMap(other => {
    if (other.ratio.median === null || other.verdict === 'invalid') return []
    if (other.verdict === 'no-difference-shown' || isOpenAndSmall(other)) return [` and as much ${wordOf(other)}`]
    return [` and ${other.verdict === 'indicative' ? 'about ' : ''}${renderGap(other, 0)} ${wordOf(other)}`]
  })
  return `${a} ${renderPredicate(comparison)} ${b}${renderSureness(comparison)}${clauses.join('')}.`
}

/** @param {Comparison} comparison */
const isMeasured = ({ verdict, ratio }) => ratio.median !== null && verdict !== 'invalid'

/** @param {Comparison} comparison */
const isOpen = ({ verdict }) => verdict === 'indicative'

/** Says whether a ratio without an interval is within the smallest gap that counts as a difference. @param {Comparison} comparison */
function isOpenAndSmall({ verdict, ratio, gapLeast }) {
  return verdict === 'indicative' && Math.abs(Number(ratio.median) - 1) < (gapLeast ?? GAP_LEAST)
}

/** Says whether no difference was shown, or the gap is small and has no interval. @param {Comparison} comparison that was measured */
const isAlike = comparison => comparison.verdict === 'no-difference-shown' || isOpenAndSmall(comparison)

/** Renders `uses 57.4 % less CPU per request than`; from twice as much on, `has 2.4 × the CPU per request of`. @param {Comparison} comparison */
function renderPredicate({ quantity, verdict, ratio, gapLeast }) {
  const about = verdict === 'indicative' ? 'about ' : ''
  const median = Number(ratio.median)
  const digits = verdict === 'indicative' || gapLeast === undefined ? 0 : 1
  const { label = quantity, less, more } = QUANTITIES[quantity]?.compared ?? {}
  if (median >= MULTIPLE_LEAST) return `has ${about}${median.toFixed(1)} × the ${label} of`
  const gap = `${about}${(100 * Math.abs(median - 1)).toFixed(digits)} %`
  return `${`${median < 1 ? less : more}`.replace('%', gap)} than`
}

/** Renders `75 % less`; from twice as much on, `2.4 × the`. @param {Comparison} comparison @param {number} digits */
function renderGap({ ratio }, digits) {
  const median = Number(ratio.median)
  if (median >= MULTIPLE_LEAST) return `${median.toFixed(1)} × the`
  return `${(100 * Math.abs(median - 1)).toFixed(digits)} % ${median < 1 ? 'less' : 'more'}`
}

/**
 * Renders ` (95 % CI 56.8 to 57.9)`: in percent, or as multiples beside a multiple; without an interval, the number of repeats.
 * @param {Comparison} comparison
 */
function renderSureness(comparison) {
  const { ratio, verdict, gapLeast } = comparison
  const { median, low, high } = ratio
  if (verdict === 'indicative' || low === null || high === null)
    return ` (${count(countValues(comparison), 'repeat')}: no interval yet)`
  if (Number(median) >= MULTIPLE_LEAST) return ` (95 % CI ${low.toFixed(1)} to ${high.toFixed(1)})`
  const digits = gapLeast === undefined ? 0 : 1
  const ends = [low, high].map(end => 100 * Math.abs(end - 1)).sort((x, y) => x - y)
  return ` (95 % CI ${ends.map(end => end.toFixed(digits)).join(' to ')})`
}

/**
 * Takes the first proxy that has a verdict as the baseline, since one failed repeat of a proxy invalidates all its pairs. Without
 * any verdict it is the first proxy.
 * @param {Comparison[]} comparisons of all pairs of several proxies
 * @returns {{ baseline: string, measured: Comparison[], ofBaseline: Comparison[], lacks: string[] }} measured: pairs with a
 *   ratio; ofBaseline: those of the baseline; lacks: at most one clause, about the proxies without one
 */
function findBaseline(comparisons) {
  const measured = comparisons.filter(isMeasured)
  const [{ a: baseline }] = [...measured, ...comparisons]
  const ofBaseline = measured.filter(c => c.a === baseline)
  const names = new Set([baseline, ...ofBaseline.map(({ b }) => b)])
  const all = [...new Set(comparisons.flatMap(({ a, b }) => [a, b]))]
  if (measured.length === 0) {
    const label = labelOfQuantity(comparisons[0].quantity)
    return { baseline, measured, ofBaseline, lacks: [`no verdict on ${label} of ${joinWords(all)}`] }
  }
  const others = all.filter(name => !names.has(name))
  const hasOtherPairs = measured.some(({ a, b }) => others.includes(a) || others.includes(b))
  const lacks = `no verdict on ${joinWords(others)}${hasOtherPairs ? ` against ${baseline}` : ''}`
  return { baseline, measured, ofBaseline, lacks: others.length > 0 ? [lacks] : [] }
}

/**
 * Renders which of two proxies the baseline stands below, above and level with, each with its multiple of the baseline:
 * `pipy uses less CPU per request than envoy (2.0 ×), and more than haproxy (0.8 ×); no verdict on caddy.`
 * @param {Comparison[]} comparisons of all pairs
 */
function renderAgainstBaseline(comparisons) {
  const { baseline, ofBaseline, lacks } = findBaseline(comparisons)
  const [{ quantity }] = comparisons
  const { less, more } = comparativesOf(quantity)
  const of = (/** @type {Comparison['verdict']} */ verdict) => ofBaseline.filter(c => c.verdict === verdict)
  const list = (/** @type {Comparison[]} */ some) =>
    joinWords(some.map(({ b, ratio }) => `${b} (${(1 / Number(ratio.median)).toFixed(1)} ×)`))
  const [lower, higher, open] = [list(of('lower')), list(of('higher')), list(ofBaseline.filter(isOpen))]
  const same = joinWords(of('no-difference-shown').map(({ b }) => b))

  /** @type {string[]} */
  const ratios = []
  if (lower) ratios.push(`${baseline} ${less.predicate} than ${lower}`)
  if (higher) ratios.push(`${ratios.length > 0 ? more.short : `${baseline} ${more.predicate}`} than ${higher}`)
  if (open) {
    const repeats = count(Math.max(...ofBaseline.map(countValues)), 'repeat')
    const against = ratios.length > 0 ? 'against' : 'Against'
    ratios.push(`${against} ${baseline}, ${labelOfQuantity(quantity)}: ${open}; ${repeats}: no interval yet`)
  }
  const clauses = ratios.length > 0 ? [ratios.join(', and ')] : []
  if (same) clauses.push(`${clauses.length > 0 ? 'no' : 'No'} difference found between ${baseline} and ${same}`)
  for (const lack of lacks) clauses.push(clauses.length > 0 ? lack : capitalise(lack))
  return `${clauses.join('; ')}.`
}

/**
 * Renders the comparatives of a quantity without a gap, from the words of its table: `uses % less CPU` as the predicate
 * `uses less CPU` and, after another predicate, the short `less`; `has a % lower p99` as `has a lower p99` and `a lower one`.
 * @param {string} quantity
 */
function comparativesOf(quantity) {
  const { less = `has % less ${quantity}`, more = `has % more ${quantity}` } = QUANTITIES[quantity]?.compared ?? {}
  const render = (/** @type {string} */ words) => {
    const [, article = '', comparative] = /(a )?% (\S+)/.exec(words) ?? []
    return { predicate: words.replace('% ', ''), short: article ? `${article}${comparative} one` : comparative }
  }
  return { less: render(less), more: render(more) }
}

/**
 * Renders which of many proxies use the least and which the most, as multiples of the baseline with their intervals.
 * @param {Comparison[]} comparisons of all pairs
 */
function renderExtremes(comparisons) {
  const { baseline, measured, ofBaseline, lacks } = findBaseline(comparisons)
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
 * Renders that no pair of many proxies differs, and within how much if each pair has an interval.
 * @param {{ names: string[], pairs: Comparison[] }} options
 */
function renderAlike({ names, pairs }) {
  const label = labelOfQuantity(pairs[0].quantity)
  const open = pairs.filter(isOpen)
  if (open.length > 0) {
    const repeats = Math.max(...open.map(countValues))
    return `No difference in ${label} of ${joinWords(names)} so far (${count(repeats, 'repeat')}: no interval yet)`
  }
  if (pairs.length < (names.length * (names.length - 1)) / 2)
    return `No difference found in ${label} of ${joinWords(names)}`
  const noise = Math.max(...pairs.map(findNoise)).toFixed(1)
  return `No difference found in ${label}: ${joinWords(names)} are within ${noise} % of each other`
}

/**
 * Finds the groups at both ends, around the pair that is farthest apart. Ties are not transitive: the members of a group tie
 * with each other, and each differs from each member of the other group.
 * @param {{ names: string[], ranked: string[], pairs: Comparison[], apart: Comparison[] }} options ranked: names, the cheapest
 *   first; apart: the pairs that differ, at least one
 * @returns {{ widest: Comparison, cheapest: string[], dearest: string[], isRanking: boolean, alike: string[] }} isRanking: each
 *   member differs from each proxy outside its group, as a superlative says; alike: proxies in no group that tie with all
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
    ...{ widest, cheapest, dearest },
    isRanking:
      names.length > 2 &&
      cheapest.every(member => above.every(name => isLess(member, name))) &&
      dearest.every(member => below.every(name => isLess(name, member))),
    alike: above.filter(x => !dearest.includes(x) && names.every(y => x === y || areAlike(x, y))),
  }
}

/**
 * Renders the groups at both ends: as the least and the most, if each differs from all other proxies, else by their gap.
 * @param {Parameters<typeof findEnds>[0] & { baseline: string }} options @returns {string[]} clauses
 */
function renderEnds({ baseline, ...options }) {
  const { ranked, pairs } = options
  const { widest, cheapest, dearest, isRanking, alike } = findEnds(options)
  const label = labelOfQuantity(widest.quantity)
  const isUse = QUANTITIES[widest.quantity]?.compared?.less.startsWith('uses')
  const isOne = cheapest.length === 1
  const verb = isUse ? `use${isOne ? 's' : ''}` : isOne ? 'has' : 'have'
  const soFar = pairs.some(isOpen) ? ' so far' : ''
  const noDifference = soFar ? 'no difference so far' : 'no difference found'
  const prefixOf = (/** @type {string[]} */ group, /** @type {string} */ name) => (group.length > 1 ? `${name} ` : '')
  if (!isRanking) {
    const [, high] = orderPair(widest)
    const { times, sureness } = renderTimes(widest, high)
    const gap = `(${prefixOf(dearest, high)}${times}, ${sureness})`
    return [
      `${joinWords(cheapest)} ${verb} ${isUse ? 'less' : 'a lower'} ${label} than ${joinWords(dearest)}${soFar} ${gap}`,
      ...(alike.length > 0 ? [`${noDifference} between ${alike.join(' or ')} and the others`] : []),
    ]
  }
  const renderFactor = (/** @type {string[]} */ group, /** @type {string} */ end) => {
    const pair = group.includes(baseline) ? undefined : findPair(pairs, baseline, end)
    if (!pair) return ''
    const { times, sureness } = renderTimes(pair, end)
    return `, ${prefixOf(group, end)}${times} (${sureness})`
  }
  const [lowest, highest] = isUse ? ['the least', 'the most'] : ['the lowest', 'the highest']
  const sureness = isOne ? soFar : ` (${noDifference})`
  return [
    `${joinWords(cheapest)} ${verb} ${lowest} ${label}${sureness}${renderFactor(cheapest, ranked[0])}`,
    `${joinWords(dearest)} ${highest}${renderFactor(dearest, ranked[ranked.length - 1])}`,
  ]
}

/** Finds the comparison of two proxies, in either order. @param {Comparison[]} pairs @param {string} x @param {string} y */
const findPair = (pairs, x, y) => pairs.find(({ a, b }) => (a === x && b === y) || (a === y && b === x))

/** Orders the proxies of a pair: the one that uses less comes first. @param {Comparison} pair */
const orderPair = ({ a, b, ratio }) => (Number(ratio.median) < 1 ? [a, b] : [b, a])

/** Renders `2.8 × pipy` and `95 % CI 2.6 to 3.0` of one proxy of a pair. @param {Comparison} pair @param {string} name of the proxy */
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
        ? `${count(countValues(pair), 'repeat')}: no interval yet`
        : `95 % CI ${low.toFixed(digits)} to ${high.toFixed(digits)}`,
  }
}

/** Counts the repeats that have a ratio. @param {Comparison} comparison */
export const countValues = ({ ratio }) => ratio.values.filter(value => value !== null).length

/**
 * Renders at how many points of the axes one proxy has less of a quantity than another, and by how much; the points without a
 * difference, an interval or a verdict are counted, too. @param {Comparison[]} comparisons of one pair, one for each point
 */
function renderPoints(comparisons) {
  const [{ a, b, quantity }] = comparisons
  const of = (/** @type {string} */ verdict) => comparisons.filter(c => c.verdict === verdict)
  const gaps = (/** @type {Comparison[]} */ some) => {
    const values = some.map(({ ratio }) => 100 * Math.abs(Number(ratio.median) - 1)).sort((x, y) => x - y)
    const [least, most] = [values[0], values[values.length - 1]].map(value => value.toFixed(0))
    return `${least === most ? least : `${least} to ${most}`} %`
  }
  const { less, more, label = quantity } = QUANTITIES[quantity]?.compared ?? {}
  for (const [verdict, words] of /** @type {const} */ ([
    ['lower', less],
    ['higher', more],
  ]))
    if (of(verdict).length === comparisons.length)
      return `${a} ${`${words}`.replace('%', gaps(comparisons))} than ${b}, at each of ${comparisons.length} points.`
  const clauses = [
    ['lower', 'less'],
    ['higher', 'more'],
  ].flatMap(([verdict, word]) => {
    const some = of(verdict)
    return some.length > 0 ? [`${word} at ${some.length} (${gaps(some)})`] : []
  })
  const same = of('no-difference-shown').length
  const open = of('indicative').filter(({ ratio }) => ratio.median !== null)
  const ratios = open.map(({ ratio }) => Number(ratio.median)).sort((x, y) => x - y)
  const lacks = comparisons.length - of('lower').length - of('higher').length - same - open.length
  const parts = [
    ...clauses,
    ...(same > 0 ? [`no difference at ${same}`] : []),
    ...(open.length > 0
      ? [`no interval yet at ${open.length} (${ratios[0].toFixed(2)} to ${ratios[ratios.length - 1].toFixed(2)} ×)`]
      : []),
    ...(lacks > 0 ? [`no verdict at ${lacks}`] : []),
  ]
  return `${label[0].toUpperCase()}${label.slice(1)} of ${a} against ${b} at ${count(comparisons.length, 'point')}: ${parts.join(', ')}.`
}

/** A proxy with more contrasts has one sentence, with the least and the most change. */
const CONTRASTS_MOST = 2

/**
 * Renders how an axis changes the primary quantity of each proxy: up to two values have a sentence each, more have one together, with
 * the least and the most change.
 * @param {{ comparisons: Comparison[], primary?: string }} options @returns {string[]} []: no contrast has a ratio
 */
export function renderContrasts({ comparisons, primary = PRIMARY.name }) {
  const contrasts = comparisons.filter(
    c => c.contrast !== null && !c.isControl && c.service === null && c.quantity === primary && c.ratio.median !== null,
  )
  return [...groupBy(contrasts, c => c.b).values()].flatMap(same => {
    if (same.length <= CONTRASTS_MOST) return same.map(c => renderPair(c))
    const sorted = same.toSorted((x, y) => Number(x.ratio.median) - Number(y.ratio.median))
    const [least, most] = [sorted[0], sorted[sorted.length - 1]].map(c => `${renderChange(c)} (${c.a})`)
    return [`Against ${same[0].b}, ${labelOfQuantity(primary)} is from ${least} to ${most}.`]
  })
}

/**
 * Renders a change: `+35 %`, `~+35 %` without an interval, `±0` without a shown difference, from 1000 % on `12 ×`.
 * @param {Comparison} comparison @returns {string} empty: no verdict
 */
export function renderChange({ ratio, verdict }) {
  if (ratio.median === null || verdict === 'invalid') return ''
  if (verdict === 'no-difference-shown') return '±0'
  const change = 100 * (ratio.median - 1)
  const text =
    Math.abs(change) >= 1000
      ? `${ratio.median.toFixed(0)} ×`
      : `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(0)} %`
  return verdict === 'indicative' ? `~${text}` : text
}

/**
 * Makes the cell `1.24 × [1.20, 1.29]`: how many times as much as the first a proxy uses, with its 95 % interval (of the inverse
 * ratio, so the ends swap), or that there is none yet.
 * @param {Comparison} comparison of the first (`a`) and the proxy @returns {import('./picture.js').Cell | null} null: no verdict
 */
export function renderRatio({ ratio, verdict }) {
  const { median, low, high } = ratio
  if (median === null || verdict === 'invalid') return null
  const times = `${(1 / median).toFixed(2)} ×`
  if (low === null || high === null) return { text: `${times} (no interval yet)` }
  return { text: `${times} [${(1 / high).toFixed(2)}, ${(1 / low).toFixed(2)}]` }
}

/**
 * Finds the largest gap, in percent, that a comparison without a shown difference cannot exclude: the largest of the smallest
 * gap that counts, the distance of the A/A pair, and the farther end of an interval around 1. @param {Comparison} comparison
 */
export function findNoise({ ratio: { low, high }, aaSpread, gapLeast }) {
  const width = low !== null && high !== null && low <= 1 && high >= 1 ? Math.max(1 - low, high - 1) : 0
  return 100 * Math.max(gapLeast ?? GAP_LEAST, aaSpread ?? 0, width)
}

/** Words in the reasons of comparisons, and those that reports print instead. @type {[RegExp, string][]} */
const REASONS = [
  [/^users bound/, 'not saturated'],
  [/^rate bound/, 'not saturated at the rate'],
  [/^host bound/, 'machine saturated'],
  [/^(generator|application|worker|sidecar) bound/, '$1 saturated'],
  [/\brounds\b/g, 'repeats'],
]

/** Renders a reason of a comparison in the words of reports. @param {string} reason */
export function renderReason(reason) {
  return REASONS.reduce((text, [pattern, words]) => text.replace(pattern, words), reason)
}

/** @param {string} quantity */
const labelOfQuantity = quantity => QUANTITIES[quantity]?.compared?.label ?? quantity

/** @param {Comparison} comparison */
const wordOf = ({ quantity }) => (quantity === MEMORY ? 'memory' : labelOfQuantity(quantity))
