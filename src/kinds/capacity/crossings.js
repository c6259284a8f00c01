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

/** @typedef {{ at: number, arm: SummaryArm, quantity: Quantity }} Point of a plane, by rising values of the axis */

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
 * Renders a sentence for each pair of planes: where their lines cross, or that they do not.
 * @param {Pick<Result, 'arms'>} result
 * @param {Pick<Summary, 'shows'>} summary
 * @returns {string[]} []: the experiment asks for no crossings, or no two planes have two common values of the axis
 */
export function renderCrossings({ arms }, { shows }) {
  const { across } = shows
  if (across === null) return []
  const varied = listVariedAxes(arms).filter(name => name !== across)
  return findCrossings({ arms, shows }).map(crossing => {
    const place = renderAxes(crossing.lines[0][0].arm, varied)
    return `${place ? `${place}: ` : ''}${renderCrossing(crossing, AXES[across].label)}.`
  })
}

/**
 * Renders which plane takes less and from which value on, with the values at both ends of the axis.
 * @param {Crossing} crossing
 * @param {string} axis its label
 * @returns {string} a sentence without its point
 */
function renderCrossing({ quantity, lines, at, isOnce, isClear }, axis) {
  const row = QUANTITIES[quantity]
  const { median } = at
  const [less, more] = lines.map(([{ arm }]) => renderArmName(arm))
  const last = lines[0].length - 1
  const renderValuesAt = (/** @type {number} */ i) =>
    `${lines[0][i].at}: ${lines.map(points => formatValue(row, Number(points[i].quantity.median))).join(' and ')}`
  const values = `(${axis} ${renderValuesAt(0)}; ${renderValuesAt(last)})`
  if (median === null && !isClear)
    return `${row.label}: ${less} and ${more} are within ${renderPercent(GAP_LEAST)} at some number of ${axis}, and neither takes less at every one ${values}`
  if (median === null) return `${row.label}: ${less} takes less than ${more} at every number of ${axis} ${values}`
  if (!isOnce) return `${row.label}: ${less} and ${more} change places more than once ${values}`
  return `${row.label}: ${less} takes less than ${more} from ${median.toFixed(1)}${renderInterval(at, end => end.toFixed(1))} ${axis} on, and more below ${values}`
}

/**
 * Draws a chart for each quantity and each group of arms that differ only in the axis and the plane, with a line for
 * each plane.
 * @param {Drawn} drawn
 * @returns {KindChart[]} []: the experiment asks for no crossings
 */
export function drawCrossings({ summary, arms, colourFor }) {
  const { across, crossings = [] } = summary.shows
  if (across === null) return []
  const measured = arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
  const varied = listVariedAxes(measured).filter(name => name !== across)
  return [...groupBy(measured, arm => createGroupKey(arm, across)).values()].flatMap((group, i) =>
    crossings.map(quantity => {
      const { label, unit, scale = 1 } = QUANTITIES[quantity]
      const place = renderAxes(group[0], varied)
      return {
        form: /** @type {const} */ ('overAxis'),
        id: `over-axis-${quantity}-${i + 1}`,
        title: `${label} over ${AXES[across].label}${place ? `: ${place}` : ''}`,
        axes: [AXES[across].label, unit],
        lines: [...groupBy(group, renderContenderName).values()].map(planeArms => ({
          label: renderArmName(planeArms[0]),
          colour: colourFor(planeArms[0]),
          points: listPoints({ group: planeArms, across, quantity }).map(point => ({
            at: point.at,
            value: Number(point.quantity.median) / scale,
          })),
        })),
      }
    }),
  )
}

/**
 * Finds the crossings of each pair of planes, in the quantities that the experiment names; it includes pairs that do
 * not cross.
 * @param {Pick<Result, 'arms'> & Pick<Summary, 'shows'>} measured
 * @returns {Crossing[]} []: the experiment asks for none, or no two planes have two common values of the axis
 */
export function findCrossings({ arms, shows }) {
  const { across, crossings = [] } = shows
  if (across === null) return []
  const measured = arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
  return [...groupBy(measured, arm => createGroupKey(arm, across)).values()].flatMap(group =>
    crossings.flatMap(quantity => {
      const lines = [...groupBy(group, renderContenderName).values()].map(planeArms =>
        listPoints({ group: planeArms, across, quantity }),
      )
      return lines.flatMap((a, i) => lines.slice(i + 1).flatMap(b => findCrossing({ quantity, a, b })))
    }),
  )
}

/**
 * Lists the points of one plane that have a value, by rising values of the axis. Arms without a number on the axis
 * are left out.
 * @param {{ group: SummaryArm[], across: NonNullable<Summary['shows']['across']>, quantity: string }} options group:
 *   the arms of the plane; across: the axis
 * @returns {Point[]}
 */
function listPoints({ group, across, quantity }) {
  return group
    .map(arm => ({ at: Number(AXES[across].of(arm)), arm, quantity: findQuantity(arm, quantity) }))
    .filter(point => Number.isFinite(point.at) && point.quantity.median !== null)
    .sort((x, y) => x.at - y.at)
}

/**
 * Compares two lines, whether they cross or not.
 * @param {{ quantity: string, a: Point[], b: Point[] }} options
 * @returns {Crossing[]} one; []: the lines have fewer than two common values of the axis
 */
function findCrossing({ quantity, a, b }) {
  const [inA, inB] = [a.filter(p => b.some(({ at }) => at === p.at)), b.filter(p => a.some(({ at }) => at === p.at))]
  const last = inA.length - 1
  if (last < 1) return []
  const isFirstLess = Number(inA[last].quantity.median) <= Number(inB[last].quantity.median)
  /** @type {[Point[], Point[]]} */
  const lines = isFirstLess ? [inA, inB] : [inB, inA]
  const differencesBy = (/** @type {(quantity: Quantity) => number | null} */ select) =>
    lines[0].flatMap((p, i) => {
      const [value, other] = [select(p.quantity), select(lines[1][i].quantity)]
      return value === null || other === null ? [] : [{ at: p.at, more: value - other }]
    })
  const changes = listChanges(differencesBy(({ median }) => median))
  const rounds = Math.max(...lines.flat().map(p => p.quantity.values.length))
  const byRound = Array.from({ length: rounds }, (_, round) => {
    const [first, ...others] = listChanges(differencesBy(({ values }) => values[round] ?? null))
    return first === undefined || others.length > 0 ? null : first
  })
  // If some rounds do not cross exactly once, the others alone would give an interval that is too narrow.
  const { low, high } = byRound.includes(null) ? { low: null, high: null } : summariseValues(byRound)
  const isClear = lines[0].every(
    (p, i) => Math.abs(Number(p.quantity.median) / Number(lines[1][i].quantity.median) - 1) >= GAP_LEAST,
  )
  const at = { median: changes[0] ?? null, low, high, values: byRound }
  return [{ quantity, lines, at, isOnce: changes.length < 2, isClear }]
}

/**
 * Lists the values of the axis at which differences change their sign, by linear interpolation; 0 counts as negative.
 * @param {{ at: number, more: number }[]} differences
 * @returns {number[]} []: they do not
 */
function listChanges(differences) {
  return differences.slice(1).flatMap((next, i) => {
    const { at, more } = differences[i]
    return more > 0 === next.more > 0 ? [] : [at + ((next.at - at) * more) / (more - next.more)]
  })
}
