import { renderRatioWithInterval } from '../analysis/claims/answers.js'
import { findPlateaus, PLATEAU_RATIO_MOST } from '../analysis/fits.js'
import { formatValue, QUANTITIES } from '../judge/quantities.js'
import { renderInterval, renderPercent, renderWithResidual } from '../lib/units.js'
import { AXES, listVariedAxes, renderArmName, renderAxes } from '../model/arms.js'
import { listArms } from '../model/results.js'

/**
 * Renders fitted lines with their points, slopes and plateaus. Pure.
 * @import { Plateau } from '../analysis/fits.js'
 */
/** @import { AxisName, CpuLine, Slope, Summary } from '../model/types.ts' */

/**
 * Renders each fitted line of CPU over the rate, with its points, below a heading.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {string[]} lines of text; [] if none was fitted
 */
export function renderCpuLines({ results }) {
  const lines = results.flatMap(result => result.lines)
  return lines.length === 0
    ? []
    : [
        'CPU over the rate, a robust line through the measured points (no more than that):',
        ...lines.flatMap(renderCpuLine),
      ]
}

/**
 * Renders a fitted line with its largest residual, then its points, each with its own.
 * @param {CpuLine} line
 * @returns {string[]} two lines
 */
function renderCpuLine(line) {
  const { baseMillicores: base, slopeMillicoresPerRequestPerSecond: slope, service, services } = line
  const sidecars = service ? `${service}'s sidecar` : 'all sidecars'
  const subject = `${renderArmName(line)}, ${sidecars}${services > 1 ? `, ${services} services` : ''}`
  const largestResidual = Math.max(...line.points.map(point => Math.abs(point.residualMillicores)))
  const points = line.points.map(({ ratePerSecond, millicores, residualMillicores }) => {
    return `${ratePerSecond}/s ${renderWithResidual(millicores, residualMillicores, { digits: 0 })}`
  })
  return [
    `  ${subject}: ${base.toFixed(0)} millicores + ${(100 * slope).toFixed(1)} per 100 requests/s, off by at most ${largestResidual.toFixed(0)}`,
    `    ${points.join('  ')}`,
  ]
}

/**
 * Renders by how much each quantity with a fitted slope changes in an hour of the run, below a heading.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {string[]} lines; [] if no slope was fitted
 */
export function renderSlopes({ results }) {
  const slopes = results.flatMap(result => result.slopes)
  return slopes.length === 0
    ? []
    : ['Over the time of the run, an hour [95 % interval]:', ...slopes.map(slope => `  ${renderSlope(slope)}`)]
}

/**
 * Renders the change in an hour, and whether its interval excludes 0.
 * @param {Slope} slope
 * @returns {string} without an interval, the number of windows takes its place, and nothing is concluded
 */
function renderSlope({ armId, quantity, perHour, low, high, rounds }) {
  const row = { ...QUANTITIES[quantity], digits: 2 }
  const formatQuantity = (/** @type {number} */ value) => formatValue(row, value)
  const interval = renderInterval({ low, high }, formatQuantity, `: too few windows (${rounds}) for an interval`)
  const change = `${armId}: ${row.label} ${perHour >= 0 ? '+' : ''}${formatQuantity(perHour)}${interval}`
  if (low === null || high === null) return change
  if (low <= 0 && high >= 0) return `${change}: no change shown`
  return `${change}${perHour > 0 ? ': it grows' : ': it falls'}`
}

/**
 * Renders from which value of the axis on a quantity is near its least, below a heading.
 * @param {Pick<Summary, 'results' | 'shows' | 'run'>} summary
 * @returns {string[]} lines; [] if the experiment asks for no plateaus, or no plane has one (`findPlateau`)
 */
export function renderPlateaus({ results, shows, run }) {
  const plateaus = findPlateaus({ results, shows, run })
  if (plateaus.length === 0) return []
  const variedAxes = listVariedAxes(listArms({ results })).filter(name => name !== shows.across)
  return [
    `Plateau, the smallest value that is within ${renderPercent(PLATEAU_RATIO_MOST - 1)} of the best (ratio to the best, round by round [95 % interval]):`,
    ...plateaus.map(plateau => {
      const conditions = renderAxes(plateau.arm, variedAxes)
      return `  ${renderArmName(plateau.arm)}${conditions ? `, ${conditions}` : ''}: ${renderPlateau(plateau, shows.across)}`
    }),
  ]
}

/**
 * Renders at which value a quantity is least, where its plateau begins, how sure that is, and the values without a measurement.
 * @param {Plateau} plateau
 * @param {AxisName | null} across the axis of the values
 * @returns {string} clauses, with semicolons between them
 */
function renderPlateau(plateau, across) {
  const { quantity, best, from, last, ratio, missing } = plateau
  const row = QUANTITIES[quantity]
  const label = across === null ? '' : AXES[across].label
  return [
    `${row.label} is least at ${label} ${best.at} (${formatValue(row, best.median)})`,
    from === last
      ? `no plateau up to ${last}${renderNearest(plateau)}${renderDoubt(plateau)}`
      : `the plateau begins at ${label} ${from}, ratio ${renderRatioWithInterval(ratio)}${renderDoubt(plateau)}`,
    ...(missing.length > 0 ? [`no value at ${missing.join(', ')}`] : []),
  ].join('; ')
}

/** Renders the smaller value whose ratio is nearest to the best. @param {Plateau} plateau @returns {string} empty: none has a ratio */
function renderNearest({ nearest }) {
  if (nearest === null) return ''
  return `: of the smaller values ${nearest.at} is nearest, ratio ${renderRatioWithInterval(nearest.ratio)}`
}

/** Renders why the begin of a plateau is not sure. @param {Plateau} plateau @returns {string} empty if it is */
function renderDoubt({ isSure, ratio }) {
  if (isSure) return ''
  return ratio.low === null ? ', indicative only' : ', not told apart by intervals'
}
