import { QUANTITIES } from '../judge/quantities.js'
import { formatValue } from '../judge/quantity.js'
import { nameOf } from '../model/arms.js'

/** Renders fitted lines with their points. Pure. @import { CpuLine, Slope, Summary } from '../model/types.ts' */

/** Renders CPU over the rate. @param {Pick<Summary, 'lines'>} summary */
export function renderCpuLines({ lines }) {
  return lines.length === 0
    ? []
    : [
        'CPU over the rate, a robust line through the measured points (no more than that):',
        ...lines.flatMap(renderLine),
      ]
}

/** @param {CpuLine} line */
function renderLine(line) {
  const { baseMillicores: base, slopeMillicoresPerRequestPerSecond: slope, points, service, services } = line
  const whose = `${nameOf(line)}, ${service ? `${service}'s sidecar` : 'all sidecars'}${services > 1 ? `, ${services} services` : ''}`
  const largest = Math.max(...points.map(p => Math.abs(p.residualMillicores)))
  const of = (/** @type {number} */ value) => value.toFixed(0)
  return [
    `  ${whose}: ${base.toFixed(0)} millicores + ${(100 * slope).toFixed(1)} per 100 requests/s, off by at most ${largest.toFixed(0)}`,
    `    ${points.map(p => `${p.ratePerSecond}/s ${of(p.millicores)} (${p.residualMillicores >= 0 ? '+' : ''}${of(p.residualMillicores)})`).join('  ')}`,
  ]
}

/** Renders slopes over time. @param {Pick<Summary, 'slopes'>} summary */
export function renderSlopes({ slopes }) {
  return slopes.length === 0
    ? []
    : ['Over the time of the run, an hour [95 % interval]:', ...slopes.map(slope => `  ${renderSlope(slope)}`)]
}

/** @param {Slope} slope */
function renderSlope({ armId, quantity, perHour, low, high, rounds }) {
  const row = { ...QUANTITIES[quantity], digits: 2 }
  const show = (/** @type {number} */ value) => formatValue(row, value)
  const interval =
    low === null || high === null ? `: too few windows (${rounds}) for an interval` : ` [${show(low)}, ${show(high)}]`
  const isFlat = low !== null && high !== null && low <= 0 && high >= 0
  const words = low === null ? '' : isFlat ? ': no change shown' : perHour > 0 ? ': it grows' : ': it falls'
  return `${armId}: ${row.label} ${perHour >= 0 ? '+' : ''}${show(perHour)}${interval}${words}`
}
