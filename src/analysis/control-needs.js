import { groupBy } from '../lib/group-by.js'
import { choiceOf, nameOf } from '../model/arms.js'
import { fitMemory, fitOverSidecars } from './growths.js'

/**
 * The needs of the control plane of so many sidecars, from rollouts of several sizes. Pure.
 * @import { ControlNeed, TrialRecord } from '../model/types.ts'
 */

const ROOM = { ofMemory: 1.25, ofCpu: 1.5 }
// The kernel takes no smaller quota.
const CORES_LEAST = 0.01

/** @typedef {NonNullable<TrialRecord['rollout']>} Rollout */

/**
 * @param {{ records: TrialRecord[], sidecars: number }} run sidecars: that are asked for
 * @returns {ControlNeed[]} one of each plane of which a rollout came to its end
 */
export function findControlNeeds({ records, sidecars }) {
  const whole = records.flatMap(({ trial, outcome, rollout }) =>
    rollout && outcome !== 'failed' ? [{ arm: trial.arm, rollout }] : [],
  )
  return [...groupBy(whole, ({ arm }) => nameOf(arm)).values()].map(own => ({
    ...choiceOf(own[0].arm),
    ...findNeed({ rollouts: own.map(({ rollout }) => rollout), sidecars }),
  }))
}

/**
 * @param {{ rollouts: Rollout[], sidecars: number }} of one plane
 * @returns {Omit<ControlNeed, 'plane' | 'variant' | 'profile'>}
 */
function findNeed({ rollouts, sidecars }) {
  const memory = fitMemory(listPoints(rollouts, r => r.controlPeakBytes ?? r.controlAnonBytes.peak))
  const coresMost = findCoresMost(rollouts)
  return {
    sidecars,
    measuredMost: Math.max(...rollouts.map(rollout => rollout.sidecars)),
    memory,
    coresMost,
    rolloutCpu: fitCpu(listPoints(rollouts, r => r.first.controlCpuSeconds)),
    changeCpu: fitCpu(listPoints(rollouts, r => r.change?.controlCpuSeconds ?? null)),
    limits:
      memory === null || coresMost === null
        ? null
        : {
            cores: Math.max(CORES_LEAST, ROOM.ofCpu * coresMost),
            bytes: ROOM.ofMemory * predictMost(memory, sidecars),
          },
  }
}

/**
 * The memory by the line, and what may be above it: the largest residual, and beyond what was measured the high end of the
 * slope.
 * @param {NonNullable<ControlNeed['memory']>} line
 * @param {number} sidecars
 */
function predictMost({ baseBytes, bytesPerSidecar, high, points }, sidecars) {
  const measuredMost = Math.max(...points.map(point => point.sidecars))
  const beyond = Math.max(0, sidecars - measuredMost) * Math.max(0, (high ?? bytesPerSidecar) - bytesPerSidecar)
  const above = Math.max(0, ...points.map(point => point.residualBytes))
  return baseBytes + bytesPerSidecar * sidecars + beyond + above
}

/**
 * @param {Rollout[]} rollouts
 * @param {(rollout: Rollout) => number | null} of
 * @returns {[number, number][]} sidecars, value
 */
function listPoints(rollouts, of) {
  return rollouts.flatMap(rollout => {
    const value = of(rollout)
    return value === null ? [] : [/** @type {[number, number]} */ ([rollout.sidecars, value])]
  })
}

/**
 * @param {[number, number][]} seen
 * @returns {ControlNeed['rolloutCpu']}
 */
function fitCpu(seen) {
  const fit = fitOverSidecars(seen)
  if (fit === null) return null
  const { base, slope, low, high, points } = fit
  return {
    baseSeconds: base,
    secondsPerSidecar: slope,
    low,
    high,
    points: points.map(({ sidecars, value, residual }) => ({ sidecars, seconds: value, residualSeconds: residual })),
  }
}

/** @param {Rollout[]} rollouts */
function findCoresMost(rollouts) {
  const cores = rollouts
    .flatMap(({ first, change }) => [first, ...(change ? [change] : [])])
    .flatMap(({ controlCpuSeconds, seconds }) => (controlCpuSeconds && seconds ? controlCpuSeconds / seconds : []))
  return cores.length > 0 ? Math.max(...cores) : null
}
