import { findQuantity, formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { summariseValues } from '../../lib/stats.js'
import { renderInterval, renderPercent } from '../../lib/units.js'
import {
  AXES,
  createGroupKey,
  listVariedAxes,
  renderArmName,
  renderAxes,
  renderContenderName,
} from '../../model/arms.js'
import { GAP_LEAST } from '../../model/bounds.js'

/** Crossings: values of an axis from which on one plane takes less of a quantity than another, with their sentences and charts. Pure. */
/**
 * @import { Quantity, Result, Summary, SummaryArm } from '../../model/types.ts'
 * @import { Drawn, KindChart } from '../sections.js'
 */

/** @typedef {{ at: number, arm: SummaryArm, quantity: Quantity }} Point at: the arm's value on the axis */

/**
 * The crossing of two planes in arms that are equal but for the axis.
 * @typedef {object} Crossing
 * @property {string} quantity
 * @property {[Point[], Point[]]} lines of both planes, at the values at which both were measured; the first takes less at the
 *   last value
 * @property {Quantity} at the value of the axis, by linear interpolation between the measured ones. Its median is null if the
 *   order is the same at all values; it has no interval unless each round crosses exactly once
 * @property {boolean} isOnce false: the order changes more than once
 * @property {boolean} isClear the medians differ by as much as a verdict needs, at all values
 */

/**
 * Renders a sentence for each pair of planes and each quantity: where their lines cross, or that they do not.
 * @param {Pick<Result, 'arms'>} result
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {string[]} []: the experiment has no axis across or asks for no crossings, or no two planes have two common values of the
 *   axis
 */
export function renderCrossings({ arms }, { shows }) {
  const { across } = shows
  if (across === null) return []
  const varied = listVariedAxes(arms).filter(name => name !== across)
  return listCrossings({ arms, shows }).map(crossing => {
    const place = renderAxes(crossing.lines[0][0].arm, varied)
    return `${place ? `${place}: ` : ''}${renderCrossing(crossing, AXES[across].label)}.`
  })
}

/**
 * Renders which plane takes less and from which value on, or why that cannot be said, with the values at both ends of the axis.
 * @param {Crossing} crossing
 * @param {string} axis its label
 * @returns {string} a sentence without its full stop
 */
function renderCrossing({ quantity, lines, at, isOnce, isClear }, axis) {
  const row = QUANTITIES[quantity]
  const { median } = at
  const [less, more] = lines.map(([{ arm }]) => renderArmName(arm))
  const last = lines[0].length - 1
  const renderValuesAt = (/** @type {number} */ i) => {
    const values = lines.map(points => formatValue(row, Number(points[i].quantity.median)))
    return `${lines[0][i].at}: ${values.join(' and ')}`
  }
  const endValues = `(${axis} ${renderValuesAt(0)}; ${renderValuesAt(last)})`
  if (median === null && !isClear)
    return `${row.label}: ${less} and ${more} are within ${renderPercent(GAP_LEAST)} at some number of ${axis}, and neither takes less at every one ${endValues}`
  if (median === null) return `${row.label}: ${less} takes less than ${more} at every number of ${axis} ${endValues}`
  if (!isOnce) return `${row.label}: ${less} and ${more} change places more than once ${endValues}`
  return `${row.label}: ${less} takes less than ${more} from ${median.toFixed(1)}${renderInterval(at, end => end.toFixed(1))} ${axis} on, and more below ${endValues}`
}

/**
 * Draws a chart for each quantity and each group of arms that differ only in the axis and the plane, with a line for
 * each plane.
 * @param {Drawn} drawn
 * @returns {KindChart[]} []: the experiment has no axis across or asks for no crossings, or no arm has sidecars
 */
export function drawCrossings({ summary, arms, colourFor }) {
  const { across, crossings = [] } = summary.shows
  if (across === null) return []
  const measured = listArmsWithSidecars(arms)
  const varied = listVariedAxes(measured).filter(name => name !== across)
  const groups = [...groupBy(measured, arm => createGroupKey(arm, across)).values()]
  const drawPlane = (/** @type {SummaryArm[]} */ planeArms, /** @type {string} */ quantity) => ({
    label: renderArmName(planeArms[0]),
    colour: colourFor(planeArms[0]),
    points: listPlanePoints(planeArms, { across, quantity }).map(point => ({
      at: point.at,
      value: Number(point.quantity.median) / (QUANTITIES[quantity].scale ?? 1),
    })),
  })
  return groups.flatMap((group, i) =>
    crossings.map(quantity => {
      const { label, unit } = QUANTITIES[quantity]
      const place = renderAxes(group[0], varied)
      return {
        form: /** @type {const} */ ('overAxis'),
        id: `over-axis-${quantity}-${i + 1}`,
        title: `${label} over ${AXES[across].label}${place ? `: ${place}` : ''}`,
        axes: [AXES[across].label, unit],
        lines: groupByPlane(group).map(planeArms => drawPlane(planeArms, quantity)),
      }
    }),
  )
}

/**
 * Compares each pair of planes in the quantities that the experiment names, whether their lines cross or not.
 * @param {Pick<Result, 'arms'> & Pick<Summary, 'shows'>} result
 * @returns {Crossing[]} []: as `renderCrossings`
 */
export function listCrossings({ arms, shows }) {
  const { across, crossings = [] } = shows
  if (across === null) return []
  const groups = groupBy(listArmsWithSidecars(arms), arm => createGroupKey(arm, across))
  return [...groups.values()].flatMap(group =>
    crossings.flatMap(quantity => {
      const lines = groupByPlane(group).map(planeArms => listPlanePoints(planeArms, { across, quantity }))
      const pairs = lines.flatMap((line, i) => lines.slice(i + 1).map(other => ({ quantity, line, other })))
      return pairs.flatMap(compareLines)
    }),
  )
}

/** @param {SummaryArm[]} arms @returns {SummaryArm[]} without A/A arms and those without sidecars */
const listArmsWithSidecars = arms => arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)

/** @param {SummaryArm[]} arms @returns {SummaryArm[][]} one group for each plane */
const groupByPlane = arms => [...groupBy(arms, renderContenderName).values()]

/**
 * Lists the points of one plane that have a value, by rising values of the axis. Arms without a number on the axis
 * are left out.
 * @param {SummaryArm[]} arms of the plane
 * @param {{ across: NonNullable<Summary['shows']['across']>, quantity: string }} options across: the axis
 * @returns {Point[]} []: no arm has a value
 */
function listPlanePoints(arms, { across, quantity }) {
  return arms
    .map(arm => ({ at: Number(AXES[across].readValue(arm)), arm, quantity: findQuantity(arm, quantity) }))
    .filter(point => Number.isFinite(point.at) && point.quantity.median !== null)
    .sort((a, b) => a.at - b.at)
}

/**
 * Compares two lines, whether they cross or not.
 * @param {{ quantity: string, line: Point[], other: Point[] }} options
 * @returns {Crossing[]} one; []: the lines have fewer than two common values of the axis
 */
function compareLines({ quantity, line, other }) {
  const points = line.filter(({ at }) => other.some(point => point.at === at))
  const otherPoints = other.filter(({ at }) => line.some(point => point.at === at))
  const last = points.length - 1
  if (last < 1) return []
  const isFirstLess = Number(points[last].quantity.median) <= Number(otherPoints[last].quantity.median)
  /** @type {[Point[], Point[]]} */
  const lines = isFirstLess ? [points, otherPoints] : [otherPoints, points]
  const changes = listSignChanges(listDifferences(lines, ({ median }) => median))
  const rounds = Math.max(...lines.flat().map(point => point.quantity.values.length))
  const changeByRound = Array.from({ length: rounds }, (_, round) => {
    const roundChanges = listSignChanges(listDifferences(lines, ({ values }) => values[round] ?? null))
    return roundChanges.length === 1 ? roundChanges[0] : null
  })
  // If some rounds do not cross exactly once, the others alone would give an interval that is too narrow.
  const { low, high } = changeByRound.includes(null) ? { low: null, high: null } : summariseValues(changeByRound)
  const isClear = lines[0].every((point, i) => {
    const ratio = Number(point.quantity.median) / Number(lines[1][i].quantity.median)
    return Math.abs(ratio - 1) >= GAP_LEAST
  })
  const at = { median: changes[0] ?? null, low, high, values: changeByRound }
  return [{ quantity, lines, at, isOnce: changes.length < 2, isClear }]
}

/**
 * Lists the differences of two lines, the first minus the second.
 * @param {[Point[], Point[]]} lines at the same values of the axis
 * @param {(quantity: Quantity) => number | null} readValue null: the point has none
 * @returns {{ at: number, difference: number }[]} without the points at which a line has no value
 */
function listDifferences([first, second], readValue) {
  return first.flatMap(({ at, quantity }, i) => {
    const [value, other] = [readValue(quantity), readValue(second[i].quantity)]
    return value === null || other === null ? [] : [{ at, difference: value - other }]
  })
}

/**
 * Lists the values of the axis at which differences change their sign, by linear interpolation; 0 counts as negative.
 * @param {{ at: number, difference: number }[]} differences
 * @returns {number[]} []: they do not
 */
function listSignChanges(differences) {
  return differences.slice(1).flatMap((next, i) => {
    const { at, difference } = differences[i]
    if (difference > 0 === next.difference > 0) return []
    return [at + ((next.at - at) * difference) / (difference - next.difference)]
  })
}
