import { renderNounCount, renderPercent } from '../lib/units.js'
import { listVariedAxes, renderAxes } from '../model/arms.js'

/**
 * How near a run is to the precision that was asked for, in words. Pure.
 * @import { Precision } from '../model/types.ts'
 */

/**
 * The distance of a run from its precision.
 * @typedef {object} PrecisionSummary
 * @property {boolean} isReached
 * @property {boolean} hasPairs false: no pair is left to compare
 * @property {number | null} roundsMore the most that a pair still needs; null: unknown, or no pair is left
 * @property {string} sentence begins with `after 12 rounds: `
 */

/**
 * Summarises how close a run is to its precision, by the pair with the widest interval; a pair without an interval counts as the
 * widest. Pairs that are not precise come first: their interval is too wide, or too many of their rounds are spoiled.
 * @param {Precision} precision
 * @returns {PrecisionSummary}
 */
export function summarisePrecision({ width: widthMost, rounds, isReached, pairs }) {
  const start = `after ${renderNounCount(rounds, 'round')}`
  if (pairs.length === 0)
    return { isReached, hasPairs: false, roundsMore: null, sentence: `${start}: no pair is left to compare` }
  const roundsMoreOfPairs = pairs.map(pair => pair.roundsMore)
  const roundsMore = roundsMoreOfPairs.includes(null) ? null : Math.max(...roundsMoreOfPairs.map(Number))
  const widePairs = pairs.filter(pair => !pair.isNarrow)
  const candidates = widePairs.length > 0 ? widePairs : pairs
  const [widest] = candidates.toSorted((x, y) => (y.width ?? Infinity) - (x.width ?? Infinity))
  const conditions = renderAxes(widest, listVariedAxes(pairs))
  const pair = `${widest.a} and ${widest.b}${conditions ? ` (${conditions})` : ''}`
  const others = pairs.length > 1 ? `, the widest of ${pairs.length}` : ''
  const outlook = isReached
    ? `at most ${renderPercent(widthMost, 1)} was asked for`
    : renderRoundsMore(roundsMore, widthMost)
  const sentence = `${start}: CPU per request of ${pair} ${renderIntervalWidth(widest, widthMost)}${others}; ${outlook}`
  return { isReached, hasPairs: true, roundsMore, sentence }
}

/**
 * Renders how wide the interval of a pair is. If it is narrow enough, but too many rounds were spoiled, it renders that, too.
 * @param {Precision['pairs'][number]} pair
 * @param {number} widthMost as asked for
 * @returns {string} a predicate
 */
function renderIntervalWidth({ width, isNarrow }, widthMost) {
  if (width === null) return 'has no interval yet'
  const isSpoiled = width <= widthMost && !isNarrow
  return `is ${renderPercent(width, 1)} wide${isSpoiled ? ', and more than one round in ten was excluded' : ''}`
}

/**
 * Renders how many more rounds a precision takes.
 * @param {number | null} roundsMore null: not known
 * @param {number} widthMost as asked for
 * @returns {string} a clause
 */
function renderRoundsMore(roundsMore, widthMost) {
  if (roundsMore === null) return `what ${renderPercent(widthMost, 1)} takes is not known`
  return `for ${renderPercent(widthMost, 1)} it needs about ${renderNounCount(roundsMore, 'more round')}`
}

/**
 * Renders why a run with a precision to reach ended, and what that means for its intervals.
 * @param {{ precision?: Precision }} summary
 * @returns {string[]} two entries of one or more sentences; [] if the number of rounds was fixed
 */
export function renderPrecision({ precision }) {
  if (!precision) return []
  const { rounds, mostRounds, ended } = precision
  const { sentence } = summarisePrecision(precision)
  const bound = rounds >= mostRounds ? `The ${mostRounds} rounds of its plan` : 'The time'
  const reasons = {
    reached: 'The precision was reached',
    'no-pair': 'This run ended early, and the precision was NOT reached',
    time: `${bound} ended this run, and the precision was NOT reached`,
  }
  const why = ended ? reasons[ended] : 'This run was cut short'
  return [
    `${why}: ${sentence}.`,
    'Each interval of a ratio or a quantity holds at 95 % whenever the run ends, and not all of them at once: they are confidence sequences of the median, wider than those of a fixed number of rounds.',
  ]
}
