import { linearRegression, linearRegressionLine } from 'simple-statistics'
import { divideRounds } from '../../judge/record/measures.js'
import { summariseSequence, summariseValues } from '../../lib/stats.js'
import { AXES } from '../../model/arms.js'
import { listArms } from '../../model/results.js'
import { chooseRoundsLeast, computeRoundsUntilFewSpoiled } from '../verdict.js'
import {
  CLAIM_QUANTITIES,
  createUntestableAnswer,
  isSequentialRun,
  judgeRatios,
  listRoundValues,
  NOT_TESTABLE,
  renderCaveats,
  renderRatioWithInterval,
  renderSpoiledArms,
} from './answers.js'
import { findSeries, readAxisOrPlane, renderArmConditions } from './arms.js'

/**
 * Judges a published shape of a quantity over an axis by a run. Pure.
 * @import { Quantity, Summary, SummaryArm } from '../../model/types.ts'
 * @import { ClaimAnswer } from './answers.js'
 * @import { Shape } from './schema.js'
 */

/**
 * @typedef {{ at: number | string, arm: SummaryArm, values: (number | null)[] }} Point values: by round; null: a spoiled round
 * @typedef {{ status: ClaimAnswer['status'], why: string }} Finding
 */

/**
 * The points of a shape, and the functions that judge them.
 * @typedef {object} Series
 * @property {Point[]} points in the order of the axis
 * @property {number} tolerance a share
 * @property {typeof summariseValues} summarise
 * @property {(over: Point, under: Point) => ReturnType<typeof judgeRatios>} judgePoints judges the ratio of two points
 */

/**
 * Each shape with the fewest points that it needs, and the function that judges it.
 * @type {Record<Shape['shape'], { pointsLeast: number, judge: (series: Series) => Finding }>}
 */
const SHAPE_RULES = {
  rises: { pointsLeast: 2, judge: series => judgeDirection(series, 'higher') },
  falls: { pointsLeast: 2, judge: series => judgeDirection(series, 'lower') },
  flat: { pointsLeast: 2, judge: judgeFlat },
  line: {
    pointsLeast: 3,
    judge: series => judgeOffLine(series, ({ median }, most) => (median <= most ? 'reproduced' : 'direction only')),
  },
  bends: {
    pointsLeast: 3,
    judge: series =>
      judgeOffLine(series, ({ low, high }, most) => {
        if (low > most) return 'reproduced'
        return high <= most ? 'contradicted' : NOT_TESTABLE
      }),
  },
}

/**
 * Tests a shape over an axis or over planes. Spoiled points are left out, and the reason names them. Not testable: the run
 * lacks such arms, has fewer points or rounds than the shape and an interval need, or shows no shape clearly.
 * @param {Shape} relation
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if no point is left
 */
export function testShape({ shape, quantity, over, among, tolerance }, summary) {
  const listValues = (/** @type {SummaryArm} */ arm) => listRoundValues(arm, quantity, among.service)
  const selection = findSeries({ arms: listArms(summary), among, over, listValues })
  if ('why' in selection) return createUntestableAnswer(selection.why)
  const { series, isAtCap } = selection
  const isSequential = isSequentialRun(summary)
  const isSpoiled = (/** @type {Point} */ { values }) =>
    values.length === 0 || computeRoundsUntilFewSpoiled(values, isSequential) > 0
  const allPoints = series.map(arm => ({ at: readAxisOrPlane(arm, over), arm, values: listValues(arm) }))
  const points = allPoints.filter(point => !isSpoiled(point))
  const label = over === 'plane' ? 'plane' : AXES[over].label
  const leftOutReasons = allPoints
    .filter(isSpoiled)
    .map(({ at, arm }) => `${label} ${at} left out: spoiled${renderSpoiledArms([arm], quantity)}`)
  const arms = points.map(point => point.arm)
  const caveats = points.length > 0 ? renderCaveats({ arms, quantity, isAtCap, namedLimit: among.cpuLimitCores }) : []
  const { status, why } = judgeShape(shape, {
    points,
    tolerance,
    isSequential,
    judgePoints: (x, y) =>
      judgeRatios({ summary, quantity, a: x.arm, b: y.arm, ratios: divideRounds(x.values, y.values) }),
  })
  return {
    status,
    ours: points.length > 0 ? renderMedians(points, { quantity, label, isAtCap }) : null,
    reason: [why, ...caveats, ...leftOutReasons].filter(Boolean).join('; '),
  }
}

/**
 * Judges whether points have a shape.
 * @param {Shape['shape']} shape
 * @param {Omit<Series, 'summarise'> & { isSequential: boolean }} options
 * @returns {Finding} not testable also: there are fewer points or rounds than the shape and an interval need
 */
function judgeShape(shape, { points, isSequential, ...series }) {
  const { pointsLeast, judge } = SHAPE_RULES[shape]
  if (points.length < pointsLeast)
    return { status: NOT_TESTABLE, why: `${points.length} of the ${pointsLeast} points that are needed` }
  const rounds = Math.min(...points.map(({ values }) => values.filter(value => value !== null).length))
  const roundsLeast = chooseRoundsLeast(isSequential)
  if (rounds < roundsLeast)
    return { status: NOT_TESTABLE, why: `indicative only: ${rounds} rounds, ${roundsLeast} are needed` }
  return judge({ ...series, points, summarise: isSequential ? summariseSequence : summariseValues })
}

/**
 * Renders the medians of points, with the values of the axis and the shared conditions.
 * @param {Point[]} points at least one
 * @param {{ quantity: string, label: string, isAtCap: boolean }} options label: of the axis
 * @returns {string}
 */
function renderMedians(points, { quantity, label, isAtCap }) {
  const { format, label: quantityLabel } = CLAIM_QUANTITIES[quantity]
  const medians = points.map(point => format(computeMedian(point))).join(', ')
  const arms = points.map(({ arm }) => arm)
  const conditions = renderArmConditions(arms, { hasCap: isAtCap })
  return `${quantityLabel} ${medians} at ${label} ${points.map(({ at }) => at).join(', ')} (${conditions})`
}

/**
 * Judges the last point against the first. A step back between two neighbours leaves the direction only.
 * @param {Series} series
 * @param {'higher' | 'lower'} direction
 * @returns {Finding} why: the factor from the first point to the last, or the reason why it is not shown
 */
function judgeDirection({ points, judgePoints }, direction) {
  const { ratio, verdict, why } = judgePoints(/** @type {Point} */ (points.at(-1)), points[0])
  if (verdict !== 'higher' && verdict !== 'lower') return { status: NOT_TESTABLE, why }
  const factor = `last over first ${renderRatioWithInterval(ratio)}`
  if (verdict !== direction) return { status: 'contradicted', why: factor }
  const opposite = direction === 'higher' ? 'lower' : 'higher'
  const stepBack = points.slice(1).find((point, i) => judgePoints(point, points[i]).verdict === opposite)
  return stepBack
    ? { status: 'direction only', why: `${factor}, but a step back at ${stepBack.at}` }
    : { status: 'reproduced', why: factor }
}

/**
 * Judges the largest median against the smallest, by the tolerance.
 * @param {Series} series
 * @returns {Finding} why: the factor between the two, or the reason why it is not shown
 */
function judgeFlat({ points, tolerance, judgePoints }) {
  const sorted = points.toSorted((x, y) => computeMedian(x) - computeMedian(y))
  const { ratio, verdict, why } = judgePoints(/** @type {Point} */ (sorted.at(-1)), sorted[0])
  if (verdict === 'invalid' || ratio.median === null || ratio.low === null) return { status: NOT_TESTABLE, why }
  const factor = `largest over smallest ${renderRatioWithInterval(ratio)}`
  if (ratio.median <= 1 + tolerance) return { status: 'reproduced', why: factor }
  if (ratio.low > 1 + tolerance) return { status: 'contradicted', why: factor }
  return { status: NOT_TESTABLE, why: `not clear: ${factor}` }
}

/**
 * Judges how far rising points are off a straight line. Points that fall, or show no difference, are judged by their direction.
 * @param {Series} series its axis has numbers
 * @param {(distance: Record<'median' | 'low' | 'high', number>, most: number) => ClaimAnswer['status']} judge chooses the status by
 *   the median distance with its interval, and by the tolerance (most); all are fractions of the rise
 * @returns {Finding} why: the distance with its interval, or the reason why it is not shown
 */
function judgeOffLine(series, judge) {
  const rise = judgeDirection(series, 'higher')
  if (rise.status === NOT_TESTABLE || rise.status === 'contradicted') return rise
  const bend = computeBend(series)
  if (bend.low === null) return { status: NOT_TESTABLE, why: 'too few rounds have a value at every point' }
  const [median, low, high] = [bend.median, bend.low, bend.high].map(Number)
  const [middle, ...ends] = [median, low, high].map(share => (100 * share).toFixed(0))
  const why = `off a straight line by ${middle} % of the rise [${ends.join(', ')}]`
  const status = judge({ median, low, high }, series.tolerance)
  return { status, why: status === NOT_TESTABLE ? `not clear: ${why}` : why }
}

/**
 * Computes for each round the largest distance of its points from their least-squares line, as a fraction of their range.
 * @param {Series} series
 * @returns {Quantity} over the rounds; a round that lacks a point, or in which all points are the same,
 *   has the value null
 */
function computeBend({ points, summarise }) {
  const rounds = points[0].values.map((_, round) => {
    if (points.some(({ values }) => values[round] === null)) return null
    const coordinates = points.map(({ at, values }) => [Number(at), Number(values[round])])
    const line = linearRegressionLine(linearRegression(coordinates))
    const heights = coordinates.map(([, y]) => y)
    const largestDistance = Math.max(...coordinates.map(([x, y]) => Math.abs(y - line(x))))
    const range = Math.max(...heights) - Math.min(...heights)
    return range === 0 ? null : largestDistance / range
  })
  return summarise(rounds)
}

/** Computes the median of a point's values over the rounds. @param {Point} point @returns {number} 0: no round has a value */
function computeMedian({ values }) {
  return Number(summariseValues(values).median)
}
