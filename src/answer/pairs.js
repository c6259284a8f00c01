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
/** From this many proxies against the first on, a sentence names only the ends: the picture has the ratio of each. */
const EXTREMES_LEAST = 3

/**
 * Renders the verdicts on a quantity. One pair has a sentence with the gap, its interval and other quantities; several proxies
 * have one together; with points of an axis, there is one for each proxy against the first.
 * @param {{ comparisons: Comparison[], primary?: string, others?: string[] }} options comparisons: those of A/A pairs,
 *   contrasts and single sidecars are left out; primary, others: names of quantities
 * @returns {string[]} empty: no two planes were compared in the primary quantity
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
  if (contenders.size > 1) return [renderAgainstFirst(ofFirst)]
  return ofFirst.map(comparison => {
    const beside = pairs.filter(c => c.a === comparison.a && c.b === comparison.b && others.includes(c.quantity))
    return renderPair(comparison, beside)
  })
}

/**
 * Renders `pipy uses 57.4 % less CPU per request than envoy (95 % CI 56.8 to 57.9) and 75 % less memory.`, or why there is no
 * verdict. @param {Comparison} comparison @param {Comparison[]} others of the same pair in further quantities
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

/** Says whether a ratio without an interval is within the smallest gap that counts as a difference. @param {Comparison} comparison */
function isOpenAndSmall({ verdict, ratio, gapLeast }) {
  return verdict === 'indicative' && Math.abs(Number(ratio.median) - 1) < (gapLeast ?? GAP_LEAST)
}

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

/** Renders ` (95 % CI 56.8 to 57.9)`: in percent, or as multiples beside a multiple; without an interval, the number of repeats. @param {Comparison} comparison */
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
 * Renders which proxies the first uses less and more than, each with its multiple of the first.
 * @param {Comparison[]} comparisons of the first (`a`) and each other
 */
function renderAgainstFirst(comparisons) {
  const [{ a, quantity }] = comparisons
  const label = labelOfQuantity(quantity)
  const list = (/** @type {(c: Comparison) => boolean} */ isOf) =>
    comparisons.filter(isOf).map(c => `${c.b} (${(1 / Number(c.ratio.median)).toFixed(1)} ×)`)
  const names = (/** @type {string} */ verdict) => comparisons.filter(c => c.verdict === verdict).map(({ b }) => b)
  const isOpen = (/** @type {Comparison} */ c) => c.verdict === 'indicative' && c.ratio.median !== null
  const [less, more, open] = [list(c => c.verdict === 'lower'), list(c => c.verdict === 'higher'), list(isOpen)].map(
    joinWords,
  )
  const repeats = Math.max(...comparisons.map(countValues))
  const clauses = [
    ...(less ? [`${a} uses less ${label} than ${less}`] : []),
    ...(more ? [`${less ? 'more' : `${a} uses more ${label}`} than ${more}`] : []),
    ...(open
      ? [
          `${less || more ? 'against' : 'Against'} ${a}, ${label}: ${open}; ${count(repeats, 'repeat')}: no interval yet`,
        ]
      : []),
  ]
  const same = joinWords(names('no-difference-shown'))
  const lacks = joinWords(names('invalid'))
  const differing = clauses.join(', and ')
  const rest = [
    ...(same ? [`${differing ? 'no' : 'No'} difference found between ${a} and ${same}`] : []),
    ...(lacks ? [`${differing || same ? 'no' : 'No'} verdict on ${lacks}`] : []),
  ]
  return `${[differing, ...rest].filter(Boolean).join('; ')}.`
}

/**
 * Renders which of many proxies use the least and which the most, as multiples of the baseline with their intervals. Proxies
 * between which no difference was shown are named together. @param {Comparison[]} comparisons of all pairs; `a` of the first is the baseline
 */
function renderExtremes(comparisons) {
  const [{ a: baseline, quantity }] = comparisons
  const label = labelOfQuantity(quantity)
  const measured = comparisons.filter(c => c.ratio.median !== null && c.verdict !== 'invalid')
  const ofBaseline = new Map(measured.flatMap(c => (c.a === baseline ? [[c.b, c]] : [])))
  const absent = comparisons.filter(c => c.a === baseline && !measured.includes(c)).map(({ b }) => b)
  const noVerdict = absent.length > 0 ? [`no verdict on ${joinWords(absent)}`] : []
  if (ofBaseline.size === 0) return `${capitalise(noVerdict[0])}.`
  const names = [baseline, ...ofBaseline.keys()]
  // The ratio of a comparison is that of the baseline to the proxy: the largest belongs to the cheapest.
  const ratioOf = (/** @type {string} */ name) => Number(ofBaseline.get(name)?.ratio.median ?? 1)
  const ranked = names.toSorted((x, y) => ratioOf(y) - ratioOf(x))
  const [least, most] = [ranked[0], ranked[ranked.length - 1]]
  const findTie = (/** @type {string} */ x, /** @type {string} */ y) =>
    measured.find(c => c.verdict === 'no-difference-shown' && [c.a, c.b].includes(x) && [c.a, c.b].includes(y))
  const listTied = (/** @type {string[]} */ [end, ...others]) => {
    const tied = [end]
    for (const name of others) if (tied.every(one => findTie(one, name))) tied.push(name)
    return names.filter(name => tied.includes(name))
  }
  const tie = findTie(least, most)
  if (tie) {
    const within = `within ${findNoise(tie).toFixed(1)} % of each other`
    const sentence = `No difference found in ${label}: ${joinWords(names)} are ${within}`
    return `${[sentence, ...noVerdict].join('; ')}.`
  }
  const [cheapest, dearest] = [listTied(ranked), listTied(ranked.toReversed())]
  const isUse = QUANTITIES[quantity]?.compared?.less.startsWith('uses')
  const [lowest, highest] = isUse ? ['the least', 'the most'] : ['the lowest', 'the highest']
  const isOne = cheapest.length === 1
  const verb = isUse ? `use${isOne ? 's' : ''}` : isOne ? 'has' : 'have'
  const sureness = isOne ? renderTimes(ofBaseline.get(least)) : ' (no difference found)'
  return `${[
    `${joinWords(cheapest)} ${verb} ${lowest} ${label}${sureness}`,
    `${joinWords(dearest)} ${highest}${renderTimes(ofBaseline.get(most))}`,
    ...noVerdict,
  ].join('; ')}.`
}

/** Renders `, 2.8 × pipy (95 % CI 2.6 to 3.0)`. @param {Comparison} [comparison] of the baseline (`a`) and a proxy; absent: of the baseline itself, empty */
function renderTimes(comparison) {
  if (!comparison) return ''
  const { a, ratio, verdict } = comparison
  const [times, low, high] = [ratio.median, ratio.high, ratio.low].map(value => (value === null ? null : 1 / value))
  const digits = Number(times) >= MULTIPLE_LEAST ? 1 : 2
  const about = verdict === 'indicative' ? 'about ' : ''
  const sureness =
    verdict === 'indicative' || low === null || high === null
      ? `${count(countValues(comparison), 'repeat')}: no interval yet`
      : `95 % CI ${low.toFixed(digits)} to ${high.toFixed(digits)}`
  return `, ${about}${Number(times).toFixed(digits)} × ${a} (${sureness})`
}

/** Counts the repeats that have a ratio. @param {Comparison} comparison */
export const countValues = ({ ratio }) => ratio.values.filter(value => value !== null).length

/** Renders at how many points of the axes one proxy uses less than another, and by how much. @param {Comparison[]} comparisons of one pair, one for each point */
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
 * Renders how an axis changes the primary quantity of each proxy: up to two values have a sentence each, more have one together.
 * @param {{ comparisons: Comparison[], primary?: string }} options @returns {string[]} empty: no contrast has a ratio
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

/** Renders a change: `+35 %`, `~+35 %` without an interval, `±0` without a shown difference, from 1000 % on `12 ×`; empty: no verdict. @param {Comparison} comparison */
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
 * ratio, so the ends swap).
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

/** Puts a reason into the words of reports. @param {string} reason of a comparison */
export function renderReason(reason) {
  return REASONS.reduce((text, [pattern, words]) => text.replace(pattern, words), reason)
}

/** @param {string} quantity */
const labelOfQuantity = quantity => QUANTITIES[quantity]?.compared?.label ?? quantity

/** @param {Comparison} comparison */
const wordOf = ({ quantity }) => (quantity === MEMORY ? 'memory' : labelOfQuantity(quantity))
