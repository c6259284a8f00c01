import { QUANTITIES } from '../judge/quantities.js'
import { renderNounCount } from '../lib/units.js'
import { GAP_LEAST } from '../model/bounds.js'

/**
 * The verdict on one pair of proxies: as a sentence, and as what stands in the cells of tables. Pure.
 * @import { Comparison } from '../model/types.ts'
 * @import { Cell } from './picture.js'
 */

/** The quantity that a sentence names beside the primary one. */
export const MEMORY = 'rss'
/** A gap below this that has no interval may be noise: A/A pairs of a few short repeats differ by up to 5 % on two shared CPUs. */
const INDICATIVE_GAP_LEAST = 0.05
/** A ratio of this or more is rendered as a multiple, since "150 % more" is misread. */
const MULTIPLE_LEAST = 2

/**
 * Renders the verdict on a pair: `pipy uses 57.4 % less CPU per request than envoy (95 % CI 56.8 to 57.9) and 75 %
 * less memory.`, that no difference was found and within how many percent, or why there is no verdict.
 * @param {Comparison} comparison of a quantity with words for comparisons (`compared` in QUANTITIES)
 * @param {Comparison[]} [others] of the same pair in further quantities. Those without a verdict are left out; all are, if the pair
 *   has no verdict, or only a small gap without an interval.
 * @returns {string} one sentence
 */
export function renderPair(comparison, others = []) {
  const { a, b, quantity, verdict, ratio, reasons } = comparison
  const label = renderQuantityLabel(quantity)
  if (verdict === 'invalid' || ratio.median === null) {
    const reason = reasons.length > 0 ? renderReason(reasons[0]) : 'it was not measured'
    return `No verdict on ${label} of ${a} and ${b}: ${reason}.`
  }
  if (verdict === 'no-difference-shown') {
    const clauses = others.flatMap(renderClauseOfEqualPair).map(clause => `; ${clause}`)
    return `No difference found in ${label}: ${a} and ${b} are within ${computeNoisePercent(comparison).toFixed(1)} % of each other${clauses.join('')}.`
  }
  if (isSmallWithoutInterval(comparison))
    return `No difference shown in ${label} of ${a} and ${b}: less than ${100 * INDICATIVE_GAP_LEAST} % apart${renderIntervalOrRepeats(comparison)}.`
  const clauses = others.flatMap(renderClauseOfUnequalPair).map(clause => ` and ${clause}`)
  return `${a} ${renderPredicate(comparison)} ${b}${renderIntervalOrRepeats(comparison)}${clauses.join('')}.`
}

/**
 * Renders a further quantity of a pair that does not differ in the primary one.
 * @param {Comparison} comparison
 * @returns {string[]} one clause; []: there is no verdict, or no interval
 */
function renderClauseOfEqualPair(comparison) {
  const { a, verdict } = comparison
  if (verdict === 'no-difference-shown') return [`no difference in ${renderQuantityWord(comparison)} either`]
  if (verdict !== 'lower' && verdict !== 'higher') return []
  return [`${a} uses ${renderGap(comparison)} ${renderQuantityWord(comparison)}`]
}

/**
 * Renders a further quantity of a pair that differs in the primary one, as the end of its sentence.
 * @param {Comparison} comparison
 * @returns {string[]} one phrase, such as `75 % less memory`; []: there is no verdict
 */
function renderClauseOfUnequalPair(comparison) {
  const { verdict, ratio } = comparison
  const word = renderQuantityWord(comparison)
  if (ratio.median === null || verdict === 'invalid') return []
  if (verdict === 'no-difference-shown') return [`as much ${word}`]
  if (isSmallWithoutInterval(comparison)) return [`about as much ${word}`]
  return [`${verdict === 'indicative' ? 'about ' : ''}${renderGap(comparison)} ${word}`]
}

/**
 * Renders a ratio as the cell `1.24 × [1.20, 1.29]`: the second proxy as a multiple of the first, with the 95 % interval. It is
 * the inverse of the comparison's ratio, so the ends of the interval swap.
 * @param {Comparison} comparison of the first proxy (`a`) and the second (`b`)
 * @returns {Cell | null} text alone; `1.24 × (no interval yet)` without an interval; null: no verdict
 */
export function renderRatio({ ratio, verdict }) {
  const { median, low, high } = ratio
  if (median === null || verdict === 'invalid') return null
  const times = `${(1 / median).toFixed(2)} ×`
  if (low === null || high === null) return { text: `${times} (no interval yet)` }
  return { text: `${times} [${(1 / high).toFixed(2)}, ${(1 / low).toFixed(2)}]` }
}

/**
 * Renders the change from `b` to `a` of a comparison: `+35 %`, `~+35 %` without an interval, `±0` without a
 * shown difference, from 1000 % on `12 ×`.
 * @param {Comparison} comparison
 * @returns {string} empty: there is no verdict
 */
export function renderChange({ ratio, verdict }) {
  if (ratio.median === null || verdict === 'invalid') return ''
  if (verdict === 'no-difference-shown') return '±0'
  const change = 100 * (ratio.median - 1)
  const percent = `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(0)} %`
  const text = Math.abs(change) >= 1000 ? `${ratio.median.toFixed(0)} ×` : percent
  return verdict === 'indicative' ? `~${text}` : text
}

/**
 * Computes the largest gap that a comparison without a shown difference cannot exclude: the largest of the smallest gap
 * that counts, the A/A difference if it is known, and the farther end of the interval if it contains 1.
 * @param {Comparison} comparison
 * @returns {number} in percent
 */
export function computeNoisePercent({ ratio: { low, high }, aaSpread, gapLeast }) {
  const hasInterval = low !== null && high !== null
  const width = hasInterval && low <= 1 && high >= 1 ? Math.max(1 - low, high - 1) : 0
  return 100 * Math.max(gapLeast ?? GAP_LEAST, aaSpread ?? 0, width)
}

/**
 * Says whether a ratio has no interval and is so close to 1 that it may be noise.
 * @param {Comparison} comparison with a ratio
 * @returns {boolean}
 */
export function isSmallWithoutInterval({ verdict, ratio, gapLeast }) {
  return verdict === 'indicative' && Math.abs(Number(ratio.median) - 1) < Math.max(INDICATIVE_GAP_LEAST, gapLeast ?? 0)
}

/** Counts the repeats that have a ratio. @param {Comparison} comparison @returns {number} */
export function countRatios({ ratio }) {
  return ratio.values.filter(value => value !== null).length
}

/** Words in the reasons of comparisons, and those that reports print instead. @type {[RegExp, string][]} */
const REASONS = [
  [/^parity-([\w-]+): /, 'unequal work ($1): '],
  [/^users bound/, 'not saturated'],
  [/^rate bound/, 'not saturated at the rate'],
  [/^host bound/, 'machine saturated'],
  [/^(generator|application|worker|sidecar) bound/, '$1 saturated'],
  [/\brounds\b/g, 'repeats'],
]

/**
 * Renders a reason of a comparison in the words of reports; a reason without such words stays as it is.
 * @param {string} reason
 * @returns {string}
 */
export function renderReason(reason) {
  return REASONS.reduce((text, [pattern, words]) => text.replace(pattern, words), reason)
}

/**
 * Renders the predicate of a verdict: `uses 57.4 % less CPU per request than`; from MULTIPLE_LEAST on, `has 2.4 × the
 * CPU per request of`. Without an interval, the number follows `about`.
 * @param {Comparison} comparison with a ratio, of a quantity with words for comparisons
 * @returns {string} the words between the names of both proxies
 */
function renderPredicate({ quantity, verdict, ratio, gapLeast }) {
  const about = verdict === 'indicative' ? 'about ' : ''
  const median = Number(ratio.median)
  const digits = verdict === 'indicative' || gapLeast === undefined ? 0 : 1
  const { label = quantity, less, more } = QUANTITIES[quantity]?.compared ?? {}
  if (median >= MULTIPLE_LEAST) return `has ${about}${median.toFixed(1)} × the ${label} of`
  const gap = `${about}${(100 * Math.abs(median - 1)).toFixed(digits)} %`
  return `${`${median < 1 ? less : more}`.replace('%', gap)} than`
}

/**
 * Renders the gap of a pair: `75 % less`; from MULTIPLE_LEAST on, `2.4 × the`.
 * @param {Comparison} comparison with a ratio
 * @returns {string}
 */
function renderGap({ ratio }) {
  const median = Number(ratio.median)
  if (median >= MULTIPLE_LEAST) return `${median.toFixed(1)} × the`
  return `${(100 * Math.abs(median - 1)).toFixed(0)} % ${median < 1 ? 'less' : 'more'}`
}

/**
 * Renders the interval of a verdict: ` (95 % CI 56.8 to 57.9)`, in percent, or as multiples beside a multiple;
 * without an interval, the number of repeats.
 * @param {Comparison} comparison with a ratio; its interval, if it has one, does not contain 1
 * @returns {string} begins with a space
 */
function renderIntervalOrRepeats(comparison) {
  const { ratio, gapLeast } = comparison
  const { median, low, high } = ratio
  if (low === null || high === null) return ` (${renderNounCount(countRatios(comparison), 'repeat')}: no interval yet)`
  if (Number(median) >= MULTIPLE_LEAST) return ` (95 % CI ${low.toFixed(1)} to ${high.toFixed(1)})`
  const digits = gapLeast === undefined ? 0 : 1
  const ends = [low, high].map(end => 100 * Math.abs(end - 1)).sort((x, y) => x - y)
  return ` (95 % CI ${ends.map(end => end.toFixed(digits)).join(' to ')})`
}

/**
 * Renders the label of a quantity in comparisons, such as `CPU per request`; its name if the table has no label.
 * @param {string} quantity its name
 * @returns {string}
 */
export function renderQuantityLabel(quantity) {
  return QUANTITIES[quantity]?.compared?.label ?? quantity
}

/**
 * Renders the label of a comparison's quantity, shortened to `memory` for MEMORY.
 * @param {Comparison} comparison
 * @returns {string}
 */
function renderQuantityWord({ quantity }) {
  return quantity === MEMORY ? 'memory' : renderQuantityLabel(quantity)
}
