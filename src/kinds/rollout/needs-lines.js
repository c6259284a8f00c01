import { MIB } from '../../lib/units.js'
import { nameOf } from '../../model/arms.js'
import { toLimits, toResources } from '../../model/container-limits.js'

/**
 * The needs of a control plane for so many sidecars, with the lines that say them. Pure.
 * @import { ControlNeed } from '../../model/types.ts'
 */

/** The needs in a sentence. @param {ControlNeed} need */
export const tellNeed = need => `${nameOf(need)}: ${tellLimits(need)}`

/** @param {ControlNeed} need */
function tellLimits({ sidecars, measuredMost, limits }) {
  if (limits === null) return `too few rollouts to say what the control plane of ${sidecars} sidecars needs`
  const { millicores, mebibytes } = toLimits(limits)
  const how = measuredMost < sidecars ? `EXTRAPOLATED from at most ${measuredMost}` : 'measured up to there'
  return `the control plane of ${sidecars} sidecars needs ${millicores}m and ${mebibytes}Mi (${how})`
}

/**
 * @param {ControlNeed} need
 * @returns {string[]} lines
 */
export function renderNeed(need) {
  const { memory, limits, coresMost } = need
  const lines = [tellNeed(need)]
  if (memory) {
    const { baseBytes, bytesPerSidecar, low, high, points } = memory
    const slope = renderSlope([bytesPerSidecar, low, high], 1000)
    const seen = points.map(p => `${p.sidecars}: ${renderOff(p.bytes / MIB, p.residualBytes / MIB, 1)}`)
    lines.push(`  memory: ${(baseBytes / MIB).toFixed(1)} MiB + ${slope} kB a sidecar`, `    MiB at ${seen.join('  ')}`)
  }
  lines.push(...renderCpu(need.rolloutCpu, 'a rollout', need), ...renderCpu(need.changeCpu, 'a change of all', need))
  if (coresMost !== null) lines.push(`  at most ${coresMost.toFixed(3)} cores, at the pace of this machine`)
  if (limits === null) return lines
  const resources = Object.entries(toResources(toLimits(limits)))
  return [
    ...[...lines, '  with room (1.5 × the CPU, 1.25 × the memory), for its pod spec:', '    resources:'],
    ...resources.map(([name, { cpu, memory }]) => `      ${name}: { cpu: ${cpu}, memory: ${memory} }`),
  ]
}

/**
 * @param {ControlNeed['rolloutCpu']} line
 * @param {string} what
 * @param {ControlNeed} need
 */
function renderCpu(line, what, { sidecars }) {
  if (line === null) return []
  const { baseSeconds, secondsPerSidecar, low, high, points } = line
  const seen = points.map(p => `${p.sidecars}: ${renderOff(p.seconds, p.residualSeconds, 2)}`)
  return [
    `  CPU of ${what}: ${renderSlope([secondsPerSidecar, low, high], 0.001)} ms a sidecar, ${(baseSeconds + secondsPerSidecar * sidecars).toFixed(2)} s of ${sidecars}`,
    `    s at ${seen.join('  ')}`,
  ]
}

/**
 * @param {(number | null)[]} slope with the ends of its interval
 * @param {number} unit
 */
function renderSlope([slope, low, high], unit) {
  const show = (/** @type {number | null} */ value) => (Number(value) / unit).toFixed(2)
  return `${show(slope)}${low === null || high === null ? ' (too few sizes for an interval)' : ` [${show(low)}, ${show(high)}]`}`
}

/** @param {number} value @param {number} residual @param {number} digits */
function renderOff(value, residual, digits) {
  return `${value.toFixed(digits)} (${residual >= 0 ? '+' : ''}${residual.toFixed(digits)})`
}
