import { quantityOf } from '../judge/quantity.js'
import { groupBy } from '../lib/group-by.js'
import { summariseRatios } from '../lib/stats.js'
import { nameOfContender } from '../model/arms.js'
import { AXES, groupOf } from '../model/axes.js'

/** The value of an axis beyond which more of it gains nothing. Pure. */
/** @import { AxisName, Quantity, Summary, SummaryArm } from '../model/types.ts' */

/** The plateau begins at the smallest value whose quantity is at most this times the least of all values. */
export const WITHIN = 1.1

/**
 * @typedef {object} Plateau of one plane, where all else is equal
 * @property {SummaryArm} arm at the largest value, where most sidecars are simulated if any are
 * @property {string} quantity less of it is better
 * @property {{ at: number, median: number }} best the value with the least
 * @property {number} from its first value
 * @property {number} last the largest value
 * @property {Quantity} ratio there, of the quantity to that of the best, round by round
 * @property {{ at: number, ratio: Quantity } | null} nearest of the smaller values, the one with the least ratio; null: none has one
 * @property {boolean} isSure its interval and that of the value before are on either side of the limit
 * @property {number[]} missing values of the axis without a value of the quantity
 */

/**
 * Finds plateaus where an experiment asks for them and at least three values were measured.
 * @param {Pick<Summary, 'arms' | 'shows'> & { run: Pick<Summary['run'], 'seed'> }} summary @returns {Plateau[]}
 */
export function findPlateaus({ arms, shows: { across, plateaus = [] }, run }) {
  if (across === null) return []
  const own = arms.filter(arm => arm.repeatOf === null)
  const groups = [...groupBy(own, arm => `${nameOfContender(arm)} ${groupOf(arm, across)}`).values()]
  return plateaus.flatMap(quantity => groups.flatMap(group => findPlateau({ group, across, quantity, seed: run.seed })))
}

/**
 * Finds one, or none; group: alike but for the axis.
 * @param {{ group: SummaryArm[], across: AxisName, quantity: string, seed: number }} options @returns {Plateau[]}
 */
export function findPlateau({ group, across, quantity, seed }) {
  const all = group.map(arm => ({ arm, at: Number(AXES[across].of(arm)), ...quantityOf(arm, quantity) }))
  const points = all.flatMap(({ median, ...p }) => (median === null ? [] : [{ ...p, median }]))
  if (points.length < 3) return []
  points.sort((a, b) => a.at - b.at)
  const largest = points[points.length - 1]
  const best = points.reduce((least, point) => (point.median < least.median ? point : least))
  const ratios = points.map(({ values }) =>
    summariseRatios(
      values.map((value, i) => (value && best.values[i] ? value / best.values[i] : null)),
      seed,
    ),
  )
  const index = ratios.findIndex(({ median }) => median !== null && median <= WITHIN)
  const ratio = ratios[index]
  const smaller = points
    .slice(0, index)
    .flatMap(({ at }, i) => (ratios[i].median === null ? [] : [{ at, ratio: ratios[i] }]))
  const isInside = ratio.high !== null && ratio.high <= WITHIN
  const isBeforeOutside = index === 0 || Number(ratios[index - 1].low) > WITHIN
  return [
    {
      arm: largest.arm,
      quantity,
      ratio,
      from: points[index].at,
      last: largest.at,
      best: { at: best.at, median: best.median },
      nearest: smaller.toSorted((a, b) => Number(a.ratio.median) - Number(b.ratio.median))[0] ?? null,
      isSure: isInside && isBeforeOutside,
      missing: all.flatMap(({ at, median }) => (median === null ? [at] : [])),
    },
  ]
}
