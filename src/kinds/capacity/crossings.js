import { formatValue, QUANTITIES } from '../../judge/quantities.js'
import { groupBy } from '../../lib/group-by.js'
import { percent, renderInterval } from '../../lib/units.js'
import { AXES, renderAxes, findVaried, groupOf, renderArmName, renderContenderName } from '../../model/arms.js'
import { GAP_LEAST } from '../../model/bounds.js'
import { findCrossings, listPoints } from './find-crossings.js'

/** Sentences and charts of crossings. Pure. @import { Crossing } from './find-crossings.js' */
/** @import { Result, Summary } from '../../model/types.ts' @import { Drawn, KindChart } from '../sections.js' */

/**
 * Renders a sentence for each pair of planes: where they cross, or that they do not.
 * @param {Pick<Result, 'arms'>} result @param {Pick<Summary, 'shows'>} summary
 * @returns {string[]} []: the experiment asks for no crossings, or no two planes have two common values of the axis
 */
export function renderCrossings({ arms }, { shows }) {
  const { across } = shows
  if (across === null) return []
  const varied = findVaried(arms).filter(name => name !== across)
  return findCrossings({ arms, shows }).map(crossing => {
    const place = renderAxes(crossing.lines[0][0].arm, varied)
    return `${place ? `${place}: ` : ''}${renderCrossing(crossing, AXES[across].label)}.`
  })
}

/** Renders which plane takes less and from where on, with the values at both ends of the axis. @param {Crossing} crossing @param {string} axis its label */
function renderCrossing({ quantity, lines, at, isOnce, isClear }, axis) {
  const row = QUANTITIES[quantity]
  const { median } = at
  const [less, more] = lines.map(([{ arm }]) => renderArmName(arm))
  const last = lines[0].length - 1
  const valuesAt = (/** @type {number} */ i) =>
    `${lines[0][i].at}: ${lines.map(points => formatValue(row, Number(points[i].quantity.median))).join(' and ')}`
  const values = `(${axis} ${valuesAt(0)}; ${valuesAt(last)})`
  if (median === null && !isClear)
    return `${row.label}: ${less} and ${more} are within ${percent(GAP_LEAST)} at some number of ${axis}, and neither takes less at every one ${values}`
  if (median === null) return `${row.label}: ${less} takes less than ${more} at every number of ${axis} ${values}`
  if (!isOnce) return `${row.label}: ${less} and ${more} change places more than once ${values}`
  return `${row.label}: ${less} takes less than ${more} from ${median.toFixed(1)}${renderInterval(at, end => end.toFixed(1))} ${axis} on, and more below ${values}`
}

/**
 * Draws a chart for each quantity and each group of arms that are equal but for the axis, with a line for each plane.
 * @param {Drawn} drawn @returns {KindChart[]} []: the experiment asks for no crossings
 */
export function drawCrossings({ summary, arms, colourFor }) {
  const { across, crossings = [] } = summary.shows
  if (across === null) return []
  const measured = arms.filter(arm => arm.repeatOf === null && arm.hasSidecars)
  const varied = findVaried(measured).filter(name => name !== across)
  return [...groupBy(measured, arm => groupOf(arm, across)).values()].flatMap((alike, i) =>
    crossings.map(quantity => {
      const { label, unit, scale = 1 } = QUANTITIES[quantity]
      const place = renderAxes(alike[0], varied)
      return {
        form: /** @type {const} */ ('overAxis'),
        id: `over-axis-${quantity}-${i + 1}`,
        title: `${label} over ${AXES[across].label}${place ? `: ${place}` : ''}`,
        axes: [AXES[across].label, unit],
        lines: [...groupBy(alike, renderContenderName).values()].map(group => ({
          label: renderArmName(group[0]),
          colour: colourFor(group[0]),
          points: listPoints({ group, across, quantity }).map(point => ({
            at: point.at,
            value: Number(point.quantity.median) / scale,
          })),
        })),
      }
    }),
  )
}
