import { formatRatio } from '../analysis/claims/answers.js'
import { findPlateaus, WITHIN } from '../analysis/fits.js'
import { renderWithResidual } from '../judge/over-sidecars.js'
import { formatValue, QUANTITIES } from '../judge/quantities.js'
import { renderInterval, renderPercent } from '../lib/units.js'
import { AXES, listVariedAxes, renderArmName, renderAxes } from '../model/arms.js'
import { listArms } from '../model/results.js'

/**
 * Renders fitted lines with their points, and plateaus. Pure.
 * @import { Plateau } from '../analysis/fits.js'
 */
/** @import { CpuLine, Slope, Summary } from '../model/types.ts' */

/**
 * Renders each fitted line of CPU over the rate, with its points.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {string[]} lines; []: none was fitted
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
  const { baseMillicores: base, slopeMillicoresPerRequestPerSecond: slope, points, service, services } = line
  const subject = `${renderArmName(line)}, ${service ? `${service}'s sidecar` : 'all sidecars'}${services > 1 ? `, ${services} services` : ''}`
  const largest = Math.max(...points.map(p => Math.abs(p.residualMillicores)))
  return [
    `  ${subject}: ${base.toFixed(0)} millicores + ${(100 * slope).toFixed(1)} per 100 requests/s, off by at most ${largest.toFixed(0)}`,
    `    ${points.map(p => `${p.ratePerSecond}/s ${renderWithResidual(p.millicores, p.residualMillicores, { digits: 0 })}`).join('  ')}`,
  ]
}

/**
 * Renders how much each followed quantity changes in an hour of the run.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {string[]} lines; []: no slope was fitted
 */
export function renderSlopes({ results }) {
  const slopes = results.flatMap(result => result.slopes)
  return slopes.length === 0
    ? []
    : ['Over the time of the run, an hour [95 % interval]:', ...slopes.map(slope => `  ${renderSlope(slope)}`)]
}

/** Renders the change in an hour, and whether its interval excludes 0. @param {Slope} slope @returns {string} */
function renderSlope({ armId, quantity, perHour, low, high, rounds }) {
  const row = { ...QUANTITIES[quantity], digits: 2 }
  const formatQuantity = (/** @type {number} */ value) => formatValue(row, value)
  const interval = renderInterval({ low, high }, formatQuantity, `: too few windows (${rounds}) for an interval`)
  const isFlat = low !== null && high !== null && low <= 0 && high >= 0
  const words = low === null ? '' : isFlat ? ': no change shown' : perHour > 0 ? ': it grows' : ': it falls'
  return `${armId}: ${row.label} ${perHour >= 0 ? '+' : ''}${formatQuantity(perHour)}${interval}${words}`
}

/**
 * Renders from which value on a quantity is near its least.
 * @param {Pick<Summary, 'results' | 'shows' | 'run'>} summary
 * @returns {string[]} lines; []: the experiment asks for no plateaus, or fewer than three values were measured
 */
export function renderPlateaus({ results, shows, run }) {
  const plateaus = findPlateaus({ results, shows, run })
  const varied = listVariedAxes(listArms({ results })).filter(name => name !== shows.across)
  return plateaus.length === 0
    ? []
    : [
        `Plateau, the smallest value that is within ${renderPercent(WITHIN - 1)} of the best (ratio to the best, round by round [95 % interval]):`,
        ...plateaus.map(plateau => {
          const conditions = renderAxes(plateau.arm, varied)
          return `  ${renderArmName(plateau.arm)}${conditions ? `, ${conditions}` : ''}: ${renderPlateau(plateau, shows.across)}`
        }),
      ]
}

/**
 * Renders at which value a quantity is least, where its plateau begins, and how sure that is.
 * @param {Plateau} plateau
 * @param {import('../model/types.ts').Summary['shows']['across']} across the axis of the values
 * @returns {string}
 */
function renderPlateau({ quantity, best, from, last, ratio, nearest, isSure, missing }, across) {
  const row = QUANTITIES[quantity]
  const label = across === null ? '' : AXES[across].label
  const least = `${row.label} is least at ${label} ${best.at} (${formatValue(row, best.median)})`
  const sentence =
    from === last
      ? `no plateau up to ${last}${nearest ? `: of the smaller values ${nearest.at} is nearest, ratio ${formatRatio(nearest.ratio)}` : ''}`
      : `the plateau begins at ${label} ${from}, ratio ${formatRatio(ratio)}`
  const doubt = isSure ? '' : ratio.low === null ? ', indicative only' : ', not told apart by intervals'
  return `${least}; ${sentence}${doubt}${missing.length > 0 ? `; no value at ${missing.join(', ')}` : ''}`
}
