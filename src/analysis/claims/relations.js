import { linearRegression, linearRegressionLine } from 'simple-statistics'
import { divideRounds } from '../../judge/record/measures.js'
import { summariseSequence, summariseValues } from '../../lib/stats.js'
import { AXES } from '../../model/arms.js'
import { listArms } from '../../model/results.js'
import { findPlateau } from '../fits.js'
import { chooseRoundsLeast, countCuringRounds } from '../verdict.js'
import {
  CLAIM_QUANTITIES,
  createUntestableAnswer,
  formatRatio,
  judgeRatios,
  listRoundValues,
  NOT_TESTABLE,
  renderCaveats,
  renderSpoiledArms,
  renderUnboundPhase,
} from './answers.js'
import { findPair, findSeries, readAxisValue, renderArmConditions } from './arms.js'

/**
 * Judges a published ratio, shape over an axis or plateau by a run. Pure.
 * @import { ClaimAnswer } from './answers.js'
 */
/**
 * @import { Quantity, Summary, SummaryArm } from '../../model/types.ts'
 * @import { Plateau, Ratio, Shape } from './schema.js'
 */

/**
 * @typedef {{ at: number | string, arm: SummaryArm, values: (number | null)[] }} Point
 * @typedef {{ status: ClaimAnswer['status'], why: string }} Finding
 * @typedef {object} Series
 * @property {Point[]} points in the order of the axis
 * @property {number} tolerance a share
 * @property {typeof summariseValues} summarise
 * @property {(over: Point, under: Point) => ReturnType<typeof judgeRatios>} judgePoints
 */

/** Each shape with the fewest points that it needs. @type {Record<Shape['shape'], { least: number, find: (series: Series) => Finding }>} */
const KINDS = {
  rises: { least: 2, find: series => judgeDirection(series, 'higher') },
  falls: { least: 2, find: series => judgeDirection(series, 'lower') },
  flat: { least: 2, find: judgeFlat },
  line: {
    least: 3,
    find: series => judgeOffLine(series, ({ median }, most) => (median <= most ? 'reproduced' : 'direction only')),
  },
  bends: {
    least: 3,
    find: series =>
      judgeOffLine(series, ({ low, high }, most) => {
        if (low > most) return 'reproduced'
        return high <= most ? 'contradicted' : NOT_TESTABLE
      }),
  },
}

/**
 * Tests a shape over an axis or over planes. Spoiled points are left out, and the reason names them. Not testable: the run
 * lacks such arms, or has fewer points or rounds than the shape and an interval need.
 * @param {Shape} relation
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if no point is left
 */
export function testShape({ shape, quantity, over, among, tolerance }, summary) {
  const listArmValues = (/** @type {SummaryArm} */ arm) => listRoundValues(arm, quantity, among.service)
  const selection = findSeries({ arms: listArms(summary), among, over, valuesOf: listArmValues })
  if ('why' in selection) return createUntestableAnswer(selection.why)

  const allPoints = selection.series.map(arm => ({ at: readAxisValue(arm, over), arm, values: listArmValues(arm) }))
  const isSequence = summary.precision !== undefined || summary.isCutShort === true
  const points = allPoints.filter(p => p.values.length > 0 && countCuringRounds(p.values, isSequence) === 0)
  const spoiled = allPoints.filter(p => !points.includes(p))
  const label = over === 'plane' ? 'plane' : AXES[over].label
  const leftOutReasons = spoiled.map(p => `${label} ${p.at} left out: spoiled${renderSpoiledArms([p.arm], quantity)}`)
  const { isAtCap } = selection
  const arms = points.map(p => p.arm)
  const caveats = points.length > 0 ? renderCaveats({ arms, quantity, isAtCap, namedLimit: among.cpuLimitCores }) : []
  const answer = (/** @type {Finding} */ { status, why }) => ({
    status,
    ours: points.length > 0 ? renderPoints() : null,
    reason: [why, ...caveats, ...leftOutReasons].filter(Boolean).join('; '),
  })
  const { least, find } = KINDS[shape]
  if (points.length < least)
    return answer({ status: NOT_TESTABLE, why: `${points.length} of the ${least} points that are needed` })
  const rounds = Math.min(...points.map(p => p.values.filter(value => value !== null).length))
  const roundsLeast = chooseRoundsLeast(isSequence)
  if (rounds < roundsLeast)
    return answer({ status: NOT_TESTABLE, why: `indicative only: ${rounds} rounds, ${roundsLeast} are needed` })
  const summarise = isSequence ? summariseSequence : summariseValues
  return answer(find({ points, tolerance, summarise, judgePoints }))

  /**
   * Judges the ratio of two points.
   * @type {Series['judgePoints']}
   */
  function judgePoints(x, y) {
    return judgeRatios({ summary, quantity, a: x.arm, b: y.arm, ratios: divideRounds(x.values, y.values) })
  }

  /**
   * Renders the medians of the points, with the values of the axis and the shared conditions.
   * @returns {string}
   */
  function renderPoints() {
    const { format, label: quantityLabel } = CLAIM_QUANTITIES[quantity]
    const medians = points.map(p => format(computeMedian(p))).join(', ')
    const conditions = renderArmConditions(arms, { hasCap: isAtCap })
    return `${quantityLabel} ${medians} at ${label} ${points.map(p => p.at).join(', ')} (${conditions})`
  }
}

/**
 * Judges the last point against the first. A step back between two neighbours leaves the direction only.
 * @param {Series} series
 * @param {'higher' | 'lower'} direction
 * @returns {Finding} why: the factor from the first point to the last, or why it is not shown
 */
function judgeDirection({ points, judgePoints }, direction) {
  const { ratio, verdict, why } = judgePoints(/** @type {Point} */ (points.at(-1)), points[0])
  if (verdict !== 'higher' && verdict !== 'lower') return { status: NOT_TESTABLE, why }
  const factor = `last over first ${formatRatio(ratio)}`
  if (verdict !== direction) return { status: 'contradicted', why: factor }
  const opposite = direction === 'higher' ? 'lower' : 'higher'
  const back = points.slice(1).find((point, i) => judgePoints(point, points[i]).verdict === opposite)
  return back
    ? { status: 'direction only', why: `${factor}, but a step back at ${back.at}` }
    : { status: 'reproduced', why: factor }
}

/**
 * Judges the largest median against the smallest, by the tolerance.
 * @param {Series} series
 * @returns {Finding} why: the factor between the two, or why it is not shown
 */
function judgeFlat({ points, tolerance, judgePoints }) {
  const sorted = points.toSorted((x, y) => computeMedian(x) - computeMedian(y))
  const { ratio, verdict, why } = judgePoints(/** @type {Point} */ (sorted.at(-1)), sorted[0])
  if (verdict === 'invalid' || ratio.median === null || ratio.low === null) return { status: NOT_TESTABLE, why }
  const factor = `largest over smallest ${formatRatio(ratio)}`
  if (ratio.median <= 1 + tolerance) return { status: 'reproduced', why: factor }
  if (ratio.low > 1 + tolerance) return { status: 'contradicted', why: factor }
  return { status: NOT_TESTABLE, why: `not clear: ${factor}` }
}

/**
 * Judges how far rising points are off a straight line. Points that fall, or show no difference, are judged by their direction.
 * @param {Series} series its axis has numbers
 * @param {(off: Record<'median' | 'low' | 'high', number>, most: number) => ClaimAnswer['status']} judge chooses the status from the
 *   median distance with its interval, and from the tolerance; all are fractions of the rise
 * @returns {Finding} why: the distance with its interval, or why it is not shown
 */
function judgeOffLine(series, judge) {
  const rise = judgeDirection(series, 'higher')
  if (rise.status === NOT_TESTABLE || rise.status === 'contradicted') return rise
  const off = computeBend(series)
  if (off.low === null) return { status: NOT_TESTABLE, why: 'too few rounds have a value at every point' }
  const [median, low, high] = [off.median, off.low, off.high].map(Number)
  const [middle, ...ends] = [median, low, high].map(share => (100 * share).toFixed(0))
  const why = `off a straight line by ${middle} % of the rise [${ends.join(', ')}]`
  const status = judge({ median, low, high }, series.tolerance)
  return { status, why: status === NOT_TESTABLE ? `not clear: ${why}` : why }
}

/**
 * Computes for each round the largest distance of its points from their least-squares line, as a fraction of their range.
 * @param {Series} series
 * @returns {Quantity} over the rounds; a round that lacks a point has the value null
 */
function computeBend({ points, summarise }) {
  const rounds = points[0].values.map((_, round) => {
    if (points.some(p => p.values[round] === null)) return null
    const coordinates = points.map(p => [Number(p.at), Number(p.values[round])])
    const line = linearRegressionLine(linearRegression(coordinates))
    const heights = coordinates.map(([, y]) => y)
    return (
      Math.max(...coordinates.map(([x, y]) => Math.abs(y - line(x)))) / (Math.max(...heights) - Math.min(...heights))
    )
  })
  return summarise(rounds)
}

/**
 * Computes the median of a point's values over the rounds.
 * @param {Point} point
 * @returns {number}
 */
function computeMedian({ values }) {
  return Number(summariseValues(values).median)
}

/**
 * Tests a ratio. Reproduced: clearly on the same side of 1, the median within the tolerance. Direction only: outside of the
 * tolerance, or at another CPU limit if only the direction carries over. Contradicted: clearly on the other side. Not testable:
 * the run has no such pair, no difference is shown, or shards were compared that the control plane did not need.
 * @param {Ratio} relation
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if the pair has no ratio
 */
export function testRatio(
  { quantity, toQuantity = quantity, of: numerator, to, ratio: theirs, tolerance, otherCaps },
  summary,
) {
  const computeRatios = (/** @type {SummaryArm} */ a, /** @type {SummaryArm} */ b) =>
    divideRounds(listRoundValues(a, quantity, numerator.service), listRoundValues(b, toQuantity, to.service))
  const selection = findPair({ arms: listArms(summary), of: numerator, to, otherCaps, valuesOf: computeRatios })
  if ('why' in selection) {
    const missing = summary.notMeasured.filter(({ plane }) => plane === numerator.plane || plane === to.plane)
    // The report gives the reason of a plane that was not measured once, for the whole run.
    const reason = missing.length > 0 ? `not measured: ${missing.map(m => m.plane).join(', ')}` : selection.why
    return createUntestableAnswer(reason)
  }
  const { pair, isAtCap } = selection
  const { a, b } = pair
  const { ratio, verdict, why } = judgeRatios({ summary, quantity, a, b, ratios: computeRatios(a, b) })
  const conditions = renderArmConditions([a, b], { hasCap: isAtCap })
  const namedLimit = numerator.cpuLimitCores ?? to.cpuLimitCores
  const caveats = renderCaveats({ arms: a === b ? [a] : [a, b], quantity, isAtCap, namedLimit })
  const answer = (/** @type {ClaimAnswer['status']} */ status, /** @type {string[]} */ ...reasons) => ({
    status,
    ours: ratio.median === null ? null : `${formatRatio(ratio)} (${conditions})`,
    reason: [...reasons, ...caveats].join('; '),
  })
  const unbound = renderUnboundByShards([a, b], quantity)
  if (unbound !== null) return answer(NOT_TESTABLE, unbound)
  if (ratio.median === null || (verdict !== 'lower' && verdict !== 'higher')) return answer(NOT_TESTABLE, why)
  if (verdict !== (theirs < 1 ? 'lower' : 'higher')) return answer('contradicted', 'on the other side of 1')
  if (!isAtCap && otherCaps === 'direction') return answer('direction only', 'only the direction carries over')
  const isWithin = Math.abs(ratio.median / theirs - 1) <= tolerance
  return isWithin ? answer('reproduced') : answer('direction only', 'outside of the tolerance')
}

/**
 * Renders that the control plane did not bind with fewer shards, so that more shards cannot help.
 * @param {SummaryArm[]} pair
 * @param {string} quantity
 * @returns {string | null} null: it did bind, or the arms have the same number of shards
 */
function renderUnboundByShards(pair, quantity) {
  const [fewer, more] = pair.toSorted((x, y) => (x.conditions.shards ?? 1) - (y.conditions.shards ?? 1))
  if (fewer.conditions.shards === more.conditions.shards) return null
  return renderUnboundPhase({ arm: fewer, quantity, over: 'shards' })
}

/**
 * Tests a plateau. Reproduced: it begins at the published value. Direction only: at another value. Contradicted: the quantity
 * falls up to the last value. Not testable: fewer than three values or a published one were not measured, intervals are missing
 * or too wide, or the control plane did not bind.
 * @param {Plateau} relation
 * @param {Summary} summary
 * @returns {ClaimAnswer} ours: null if fewer than three values were measured
 */
export function testPlateau({ quantity, over, among, before, from }, summary) {
  const listArmValues = (/** @type {SummaryArm} */ arm) => listRoundValues(arm, quantity, among.service)
  const selection = findSeries({ arms: listArms(summary), among, over, valuesOf: listArmValues })
  if ('why' in selection) return createUntestableAnswer(selection.why)
  const [plateau] = findPlateau({ group: selection.series, across: over, quantity, seed: summary.run.seed })
  if (!plateau) return createUntestableAnswer('fewer than three values were measured')
  const { ratio, isSure, last } = plateau
  const conditions = renderArmConditions(selection.series, { hasCap: selection.isAtCap })
  const { label } = CLAIM_QUANTITIES[quantity]
  const ours = `${label} from ${plateau.from} on, ${formatRatio(ratio)} of the least (${conditions})`
  if (!isSure)
    return createUntestableAnswer(
      ratio.low === null ? 'indicative only: too few rounds for an interval' : 'not clear',
      ours,
    )
  const measured = selection.series.filter(arm => listArmValues(arm).some(value => value !== null))
  const missing = [before, from].filter(at => !measured.some(arm => readAxisValue(arm, over) === at))
  if (missing.length > 0) return createUntestableAnswer(`no value at ${missing.join(' and ')}`, ours)
  const unbound = renderUnboundPhase({ arm: measured[0], quantity, over })
  if (unbound !== null) return createUntestableAnswer(unbound, ours)
  if (plateau.from === last) return { status: 'contradicted', ours, reason: `no plateau up to ${last}` }
  return plateau.from === from
    ? { status: 'reproduced', ours, reason: '' }
    : { status: 'direction only', ours, reason: 'a plateau, from another value on' }
}
