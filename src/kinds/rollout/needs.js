import { fitCpuOverSidecars, fitMemoryOverSidecars } from '../../judge/fit-over-sidecars.js'
import { groupBy } from '../../lib/group-by.js'
import { MIB, renderInterval, renderWithResidual } from '../../lib/units.js'
import { pickPlaneChoice, renderArmName } from '../../model/arms.js'
import { renderResourcesYaml, roundLimitsUp } from '../../model/container-limits.js'

/** The CPU and memory that a control plane needs for a number of sidecars, from rollouts of several sizes. Pure. */
/**
 * @import { ControlNeed, TrialRecord } from '../../model/types.ts'
 * @import { RolloutNumbers } from './numbers.js'
 */

/** Factors: a limit is the measured or predicted use times its factor. */
const ROOM = { ofMemory: 1.25, ofCpu: 1.5 }
// The kernel refuses a CPU quota below 1 ms, which is this share of a period of 100 ms.
const CORES_LEAST = 0.01

/**
 * Computes the need of each plane's control plane, from its rollouts that did not fail.
 * @param {{ records: TrialRecord[], sidecars: number }} run sidecars: the number for which the need is computed
 * @returns {ControlNeed[]} limits: null: fewer than three numbers of sidecars, or no CPU times; []: all rollouts
 *   failed, or there are none
 */
export function computeControlNeeds({ records, sidecars }) {
  const completed = records.flatMap(({ trial, outcome, rollout }) =>
    rollout && outcome !== 'failed' ? [{ arm: trial.arm, rollout }] : [],
  )
  return [...groupBy(completed, ({ arm }) => renderArmName(arm)).values()].map(trials => ({
    ...pickPlaneChoice(trials[0].arm),
    ...computeNeed({ rollouts: trials.map(({ rollout }) => rollout), sidecars }),
  }))
}

/**
 * Computes the need of one control plane. Limits have room above the use, and the CPU limit is at least CORES_LEAST.
 * @param {{ rollouts: RolloutNumbers[], sidecars: number }} options rollouts: of one plane, at least one
 * @returns {Omit<ControlNeed, 'plane' | 'variant' | 'profile' | 'control'>} limits: null: memory or coresMost is null; a fit is null
 *   below three numbers of sidecars
 */
function computeNeed({ rollouts, sidecars }) {
  const memory = fitMemoryOverSidecars(listRolloutPoints(rollouts, r => r.controlPeakBytes ?? r.controlAnonBytes.peak))
  const coresMost = computeCoresMost(rollouts)
  return {
    sidecars,
    measuredMost: Math.max(...rollouts.map(rollout => rollout.sidecars)),
    memory,
    coresMost,
    rolloutCpu: fitCpuOverSidecars(listRolloutPoints(rollouts, r => r.first.controlCpuSeconds)),
    changeCpu: fitCpuOverSidecars(listRolloutPoints(rollouts, r => r.change?.controlCpuSeconds ?? null)),
    limits:
      memory === null || coresMost === null
        ? null
        : {
            cores: Math.max(CORES_LEAST, ROOM.ofCpu * coresMost),
            bytes: ROOM.ofMemory * computeMostBytes(memory, sidecars),
          },
  }
}

/**
 * Computes the highest memory to expect: that of the fitted line, the largest residual above it and, beyond the
 * measured sizes, what the upper end of the slope's interval adds.
 * @param {NonNullable<ControlNeed['memory']>} line fitted; without an interval its slope counts
 * @param {number} sidecars
 * @returns {number} bytes
 */
function computeMostBytes({ baseBytes, bytesPerSidecar, high, points }, sidecars) {
  const measuredMost = Math.max(...points.map(point => point.sidecars))
  const beyond = Math.max(0, sidecars - measuredMost) * Math.max(0, (high ?? bytesPerSidecar) - bytesPerSidecar)
  const above = Math.max(0, ...points.map(point => point.residualBytes))
  return baseBytes + bytesPerSidecar * sidecars + beyond + above
}

/**
 * Lists the sizes and values of rollouts. Those without a value are left out.
 * @param {RolloutNumbers[]} rollouts
 * @param {(rollout: RolloutNumbers) => number | null} readValue null: the rollout has none
 * @returns {[number, number][]} the number of sidecars, the value; []: no rollout has one
 */
function listRolloutPoints(rollouts, readValue) {
  return rollouts.flatMap(rollout => {
    const value = readValue(rollout)
    return value === null ? [] : [/** @type {[number, number]} */ ([rollout.sidecars, value])]
  })
}

/**
 * Computes the highest mean CPU use of the control plane over a phase.
 * @param {RolloutNumbers[]} rollouts
 * @returns {number | null} cores; null: no phase has both its seconds and a CPU time
 */
function computeCoresMost(rollouts) {
  const phases = rollouts.flatMap(({ first, change }) => (change ? [first, change] : [first]))
  const cores = phases.flatMap(({ controlCpuSeconds, seconds }) =>
    controlCpuSeconds && seconds ? controlCpuSeconds / seconds : [],
  )
  return cores.length > 0 ? Math.max(...cores) : null
}

/**
 * Renders the first line of a need: the limits of a control plane, or why there are none.
 * @param {ControlNeed} need
 * @returns {string}
 */
function renderControlLimits(need) {
  const { sidecars, measuredMost, limits, ...choice } = need
  if (limits === null) return renderLackOfLimits(need)
  const name = renderArmName(choice)
  const { millicores, mebibytes } = roundLimitsUp(limits)
  const basis = measuredMost < sidecars ? `EXTRAPOLATED from at most ${measuredMost}` : 'measured up to there'
  return `${name}: the control plane of ${sidecars} sidecars needs ${millicores}m and ${mebibytes}Mi (${basis})`
}

/**
 * Renders that a need has no limits, and why.
 * @param {ControlNeed} need without limits
 * @returns {string} a sentence without its full stop
 */
export function renderLackOfLimits({ sidecars, memory, ...choice }) {
  const why =
    memory === null
      ? 'its memory was read for fewer than three numbers of sidecars'
      : 'no time and CPU time of a rollout were read'
  return `${renderArmName(choice)}: no limits for the control plane of ${sidecars} sidecars: ${why}`
}

/**
 * Renders a need: its limits, the fitted lines with their points, and the resources of a pod spec.
 * @param {ControlNeed} need
 * @returns {string[]} lines; those of a fit, the cores or the resources are left out if the need lacks them
 */
export function renderControlNeed(need) {
  const { memory, limits, coresMost } = need
  const lines = [renderControlLimits(need)]
  if (memory) {
    const { baseBytes, bytesPerSidecar, points, ...ends } = memory
    const slope = renderSlopeAndInterval(bytesPerSidecar, ends, 1000)
    const sizes = points.map(p => `${p.sidecars}: ${renderWithResidual(p.bytes / MIB, p.residualBytes / MIB)}`)
    lines.push(
      `  memory: ${(baseBytes / MIB).toFixed(1)} MiB + ${slope} kB a sidecar`,
      `    MiB at ${sizes.join('  ')}`,
    )
  }
  lines.push(
    ...renderCpuFit(need.rolloutCpu, 'a rollout', need),
    ...renderCpuFit(need.changeCpu, 'a change of all', need),
  )
  if (coresMost !== null) lines.push(`  at most ${coresMost.toFixed(3)} cores, at the pace of this machine`)
  if (limits === null) return lines
  lines.push(
    '  with room (1.5 × the CPU, 1.25 × the memory), for its pod spec:',
    ...renderResourcesYaml(roundLimitsUp(limits)),
  )
  return lines
}

/**
 * Renders a fit of CPU time, with its points.
 * @param {ControlNeed['rolloutCpu']} line fitted; null: there is none
 * @param {string} noun of the phase
 * @param {ControlNeed} need
 * @returns {string[]} two lines; []: there is no fit
 */
function renderCpuFit(line, noun, { sidecars }) {
  if (line === null) return []
  const { baseSeconds, secondsPerSidecar, points, ...ends } = line
  const times = points.map(p => `${p.sidecars}: ${renderWithResidual(p.seconds, p.residualSeconds, { digits: 2 })}`)
  return [
    `  CPU of ${noun}: ${renderSlopeAndInterval(secondsPerSidecar, ends, 0.001)} ms a sidecar, ${(baseSeconds + secondsPerSidecar * sidecars).toFixed(2)} s of ${sidecars}`,
    `    s at ${times.join('  ')}`,
  ]
}

/**
 * Renders a slope with its interval, or that there are too few sizes for an interval.
 * @param {number} slope
 * @param {{ low: number | null, high: number | null }} ends of the 95 % interval
 * @param {number} unit by which the values are divided
 * @returns {string}
 */
function renderSlopeAndInterval(slope, ends, unit) {
  const format = (/** @type {number} */ value) => (value / unit).toFixed(2)
  return `${format(slope)}${renderInterval(ends, format, ' (too few sizes for an interval)')}`
}
