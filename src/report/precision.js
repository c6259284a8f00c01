import { count, percent } from '../lib/units.js'
import { describeAxes, findVaried } from '../model/axes.js'

/** Tells how precise a run is that goes on until it is. Pure. @import { Precision } from '../model/types.ts' */

/** Tells the pair with the widest interval, and the rounds that are still needed. @param {Precision} precision */
export function tellPrecision({ width: wanted, rounds, isReached, pairs }) {
  const more = pairs.map(pair => pair.roundsMore)
  const roundsMore = more.includes(null) ? null : Math.max(...more.map(Number))
  const open = pairs.filter(pair => !pair.isNarrow)
  const among = open.length > 0 ? open : pairs
  const [widest] = among.toSorted((x, y) => (y.width ?? Infinity) - (x.width ?? Infinity))
  const place = describeAxes(widest, findVaried(pairs))
  const spoiled = widest.width !== null && widest.width <= wanted && !widest.isNarrow
  const is =
    widest.width === null
      ? 'has no interval yet'
      : `is ${percent(widest.width, 1)} wide${spoiled ? ', and more than one round in ten was spoiled' : ''}`
  const others = pairs.length > 1 ? `, the widest of ${pairs.length}` : ''
  const told =
    `after ${count(rounds, 'round')}: CPU per request of ${widest.a} and ${widest.b}${place ? ` (${place})` : ''} ${is}${others}; ` +
    (isReached
      ? `at most ${percent(wanted, 1)} was asked for`
      : roundsMore === null
        ? `what ${percent(wanted, 1)} takes is not known`
        : `for ${percent(wanted, 1)} it needs about ${count(roundsMore, 'more round')}`)
  return { isReached, roundsMore, told }
}

/** Says why a run ended whose rounds were not fixed. @param {{ precision?: Precision }} summary */
export function renderPrecision({ precision }) {
  if (!precision) return []
  const { rounds, mostRounds, ended } = precision
  const { told } = tellPrecision(precision)
  const late = rounds >= mostRounds ? `The ${mostRounds} rounds of its plan` : 'The time'
  const words = {
    reached: 'The precision was reached',
    time: `${late} ended this run, and the precision was NOT reached`,
  }
  const why = ended ? words[ended] : 'This run was cut short'
  return [
    `${why}: ${told}.`,
    'Each interval of a ratio or a quantity holds at 95 % whenever the run ends, and not all of them at once: they are confidence sequences of the median, wider than those of a fixed number of rounds.',
  ]
}
