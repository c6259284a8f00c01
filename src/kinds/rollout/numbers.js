import { numericSort } from 'simple-statistics'
import { subtract } from '../../judge/record/compute-window.js'
import { renderMebibytes } from '../../lib/units.js'

/** The numbers of a rollout: a run computes them from its record in memory, `verify` again from the file. Pure. */
/**
 * @import { RolloutRecord, ConfigurationTimes, TrialRecord } from '../../model/types.ts'
 * @import { RecordPart } from '../parts.js'
 */

const NAMED_MOST = 20
const POINTS_MOST = 100
// The limits of the gates `resolution` and `probe-cost`: shares of a time, of the machine's CPU, and of the highest probe rate.
const CENSORED_MOST = 0.1
const OWN_MOST = 0.1
const ASKED_MOST = 0.9
// The period of CPU quotas, as both targets set it.
const CAP_PERIOD_SECONDS = 0.1
/** From this share of a phase at its limit on, the control plane bound the phase. */
export const BOUND_LEAST = 0.25
/** The limit of the gate `fidelity` (docs/evidence/simulated-envoys.md). */
const INFIDELITY_MOST = 0.15

/** @typedef {NonNullable<TrialRecord['rollout']>} RolloutNumbers */
/** @typedef {NonNullable<RolloutRecord['first']['control']['start']>} Edge */
/** A phase. @typedef {'first' | 'change' | 'withdrawal' | 'removal'} Part */

/** @type {RecordPart<RolloutRecord, RolloutNumbers>} */
export const rolloutPart = {
  judge: judgeRollout,
  hasWindow: true,
  tell({ sidecars, simulated = 0, change }, textOf) {
    const who = simulated > 0 ? `${sidecars - simulated} real of ${sidecars}` : sidecars
    const changed = change ? `, changed within ${textOf('changeAllSeconds')}` : ''
    return `${who} sidecars configured within ${textOf('rolloutSeconds')}${changed}`
  },
}

/**
 * Computes the numbers of a rollout from its record.
 * @param {RolloutRecord} rollout
 * @returns {RolloutNumbers} a phase is absent if it was not started; a number is null if it was not measured
 */
export function judgeRollout(rollout) {
  const { members, simulated, fidelity, cpus, askedPerSecondMost, control } = rollout
  const anon = (control ?? []).flatMap(({ anonBytes }) => anonBytes ?? [])
  return {
    sidecars: members.length + (simulated?.count ?? 0),
    ...(simulated && { simulated: simulated.count }),
    ...(fidelity && { fidelity: judgeFidelity(fidelity) }),
    ...(members.some(({ pod }) => pod) && { pods: judgePods(members) }),
    cpus,
    askedPerSecondMost,
    first: judgePhase({ members, simulated, name: 'first', phase: rollout.first }),
    ...(rollout.change && { change: judgePhase({ members, simulated, name: 'change', phase: rollout.change }) }),
    ...(rollout.withdrawal && { withdrawal: judgeWithdrawal(rollout) }),
    ...(rollout.removal && { removal: judgeRemoval(members, rollout.removal) }),
    controlAnonBytes: {
      empty: control?.[0]?.anonBytes ?? null,
      stable: rollout.first.control.end?.anonBytes ?? null,
      peak: anon.length > 0 ? Math.max(...anon) : null,
    },
    controlPeakBytes: control?.at(-1)?.peakBytes ?? null,
  }
}

/**
 * A time of a phase.
 * @typedef {object} Time
 * @property {string} name
 * @property {number | null} seconds null: too few sidecars had the configuration
 * @property {number | null} unknownSeconds between a sidecar's last answer by the old configuration and the first by the new
 */

/**
 * Lists the times of a phase: `all` until the last sidecar has the configuration, and `p50`, `p99` and `max` of
 * single sidecars.
 * @param {RolloutNumbers['first']} phase
 * @returns {Time[]}
 */
export function listPhaseTimes({ seconds, each, censoredSeconds, lastCensoredSeconds }) {
  return [
    { name: 'all', seconds, unknownSeconds: lastCensoredSeconds },
    ...Object.entries(each).map(([name, value]) => ({ name, seconds: value, unknownSeconds: censoredSeconds })),
  ]
}

/**
 * Says whether more than CENSORED_MOST of a time is unknown.
 * @param {Time} time
 * @returns {boolean} false also: the time has no value
 */
export function isCoarse({ seconds, unknownSeconds }) {
  return seconds !== null && (unknownSeconds ?? 0) > CENSORED_MOST * seconds
}

/**
 * Says whether the kit sent so many probes that their highest rate may have bound the phase.
 * @param {RolloutNumbers['first']} phase
 * @param {number} askedPerSecondMost the highest rate
 * @returns {boolean}
 */
export function isBudgetUsed({ askedPerSecond }, askedPerSecondMost) {
  return askedPerSecond > ASKED_MOST * askedPerSecondMost
}

/**
 * Says whether the kit itself used more than OWN_MOST of the machine's CPUs in a phase.
 * @param {RolloutNumbers['first']} phase
 * @param {number} cpus of the machine
 * @returns {boolean}
 */
export function isCostly({ ownCores }, cpus) {
  return ownCores > OWN_MOST * cpus
}

/**
 * Lists the phases that the control plane bound.
 * @param {Record<'rollout' | 'change', number | null>} atLimit shares of each phase; null: unknown, which counts as
 *   not bound
 * @returns {string[]} []: it bound none
 */
export function listBoundPhases(atLimit) {
  return Object.entries(atLimit).flatMap(([phase, share]) => (Number(share) >= BOUND_LEAST ? [phase] : []))
}

/**
 * Says whether a rollout has a phase, and probes did not stretch its times.
 * @param {RolloutNumbers} numbers
 * @param {Part} part
 * @returns {boolean}
 */
export function isMeasured({ cpus, askedPerSecondMost, ...phases }, part) {
  const phase = phases[part]
  return phase !== undefined && !isCostly(phase, cpus) && !isBudgetUsed(phase, askedPerSecondMost)
}

/** @typedef {'CPU time in the rollout' | 'CPU time in the change' | 'memory'} Resource */

/**
 * Lists the resources of the control plane that simulated sidecars take over INFIDELITY_MOST more or less of than
 * real ones, or that were not measured.
 * @param {Pick<RolloutNumbers, 'fidelity'>} numbers
 * @returns {{ resource: Resource, reason: string }[]} []: none are simulated, or all resources are alike
 */
export function listInfidelities({ fidelity }) {
  if (!fidelity) return []
  const { sidecars, rolloutCpuSeconds, changeCpuSeconds, anonBytes } = fidelity
  const formatMilliseconds = (/** @type {number} */ seconds) => `${(1000 * seconds).toFixed(0)} ms`
  /** @type {{ resource: Resource, real: number | null, simulated: number | null, render: (of: number) => string }[]} */
  const rows = [
    { resource: 'CPU time in the rollout', ...rolloutCpuSeconds, render: formatMilliseconds },
    { resource: 'CPU time in the change', ...changeCpuSeconds, render: formatMilliseconds },
    { resource: 'memory', ...anonBytes, render: bytes => `${renderMebibytes(bytes)} MiB more than empty` },
  ]
  return rows.flatMap(({ resource, real, simulated, render }) => {
    const withheld = `its ${resource} has no value`
    if (real === null || simulated === null)
      return [
        {
          resource,
          reason: `the control plane was not measured for ${sidecars} sidecars, real and simulated: ${withheld}`,
        },
      ]
    if (Math.abs(simulated - real) <= INFIDELITY_MOST * real) return []
    const bothSizes = `${render(simulated)} for ${sidecars} sidecars of which 1 is real, and ${render(real)} where all are`
    return [{ resource, reason: `the control plane took ${bothSizes}, more than 15 % apart: ${withheld}` }]
  })
}

/**
 * Says whether simulated sidecars take about as much of a resource as real ones.
 * @param {Pick<RolloutNumbers, 'fidelity'>} numbers
 * @param {Resource} resource
 * @returns {boolean} true also: none are simulated; false also: the resource was not measured
 */
export function isFaithful(numbers, resource) {
  return listInfidelities(numbers).every(infidelity => infidelity.resource !== resource)
}

/**
 * Computes what the control plane took for the same number of sidecars: all real, and all but one simulated.
 * @param {NonNullable<RolloutRecord['fidelity']>} fidelity
 * @returns {RolloutNumbers['fidelity']}
 */
function judgeFidelity(fidelity) {
  const [real, simulated] = [judgeRollout(fidelity.real), judgeRollout(fidelity.simulated)]
  // Compare growth: the memory of an empty control plane is the same in both, and would hide a difference.
  const computeGrownBytes = (/** @type {RolloutNumbers} */ { controlAnonBytes: { empty, peak } }) =>
    peak === null || empty === null ? null : peak - empty
  return {
    sidecars: real.sidecars,
    rolloutCpuSeconds: { real: real.first.controlCpuSeconds, simulated: simulated.first.controlCpuSeconds },
    changeCpuSeconds: {
      real: real.change?.controlCpuSeconds ?? null,
      simulated: simulated.change?.controlCpuSeconds ?? null,
    },
    anonBytes: { real: computeGrownBytes(real), simulated: computeGrownBytes(simulated) },
  }
}

/**
 * Computes the numbers of a shard's removal. Its times are those of the sidecars that moved.
 * @param {RolloutRecord['members']} members
 * @param {NonNullable<RolloutRecord['removal']>} phase
 * @returns silent: names of the other sidecars that missed an answer
 */
function judgeRemoval(members, phase) {
  const moved = members.filter(({ movedTo }) => movedTo !== undefined)
  const stayed = members.flatMap(({ name, stayed }) => (stayed ? [{ name, ...stayed }] : []))
  const ofMoved = judgePhase({ members: moved, name: 'moved', phase, fromMs: phase.endedMs })
  const requestsToStayed = stayed.reduce((sum, { asked }) => sum + asked, 0)
  return {
    ...ofMoved,
    askedPerSecond: ofMoved.askedPerSecond + (1000 * requestsToStayed) / (phase.endMs - phase.startMs),
    moved: moved.length,
    stayed: stayed.length,
    silent: stayed.filter(({ asked, answered }) => answered < asked).map(({ name }) => name),
  }
}

/**
 * Computes the numbers of a withdrawal of services.
 * @param {RolloutRecord} options
 * @returns {RolloutNumbers['withdrawal']} undefined: there was none
 */
function judgeWithdrawal({ members, withdrawal: phase }) {
  if (!phase) return undefined
  const { sidecarBytes, controlBytes } = phase
  return { ...judgePhase({ members, name: 'withdrawn', phase }), sidecarBytes, controlBytes }
}

/**
 * Computes the numbers of a phase.
 * @param {Pick<RolloutRecord, 'members' | 'simulated'> & { name: 'first' | 'change' | 'withdrawn' | 'moved', phase:
 *   RolloutRecord['first'], fromMs?: number }} options name: of the phase, by which members have their times; fromMs: the start of
 *   each sidecar's time, in epoch ms; absent: each has its own `sinceMs`
 * @returns {RolloutNumbers['first']} seconds: null: a sidecar lacks the configuration, one outside of the sample was late, or none
 *   is configured; toldSeconds: 0 if no sidecar was timed; missing: at most NAMED_MOST names
 */
function judgePhase({ members, simulated, name: phaseName, phase, fromMs }) {
  const { startMs, endMs, host, control, ownCpuSeconds, sample } = phase
  const timed = sample ? members.filter(({ name }) => sample.includes(name)) : members
  const late = members.filter(member => !timed.includes(member) && isLate(member[phaseName])).length
  const missing = members.filter(member => typeof member[phaseName]?.yesMs !== 'number')
  const probes = timed.flatMap(member => member[phaseName] ?? [])
  const configured = probes.filter(isConfigured).sort((a, b) => a.yesMs - b.yesMs)
  const last = configured.at(-1)
  const phaseSeconds = (endMs - startMs) / 1000
  const sinceMs = probes.map(probe => probe.sinceMs)
  const beganMs = fromMs ?? (sinceMs.length === 0 ? startMs : Math.min(...sinceMs))
  const seconds = numericSort(configured.map(probe => (probe.yesMs - (fromMs ?? probe.sinceMs)) / 1000))
  const censored = numericSort(configured.map(computeCensoredSeconds))
  const [before, after] = [control.start, control.end]
  return {
    converged: members.length - missing.length,
    seconds: missing.length + late > 0 || !last ? null : (last.yesMs - beganMs) / 1000,
    toldSeconds: (Math.max(beganMs, ...sinceMs) - beganMs) / 1000,
    // The p99 and the maximum of a sample are not those of all sidecars.
    each: sample ? { ...computePercentiles(seconds), p99: null, max: null } : computePercentiles(seconds),
    ...(sample && { sampled: timed.length, late }),
    censoredSeconds: findQuantile(censored, 0.5),
    lastCensoredSeconds: last ? computeCensoredSeconds(last) : null,
    askedPerSecond: probes.reduce((sum, { asked }) => sum + asked, 0) / phaseSeconds,
    curve: computeCurve(probes, { all: timed.length, startMs: beganMs }),
    controlCpuSeconds: subtract(after?.cpuSeconds, before?.cpuSeconds),
    ...judgeShards({ before, after, phaseSeconds }),
    hostIdleFraction: (host.end.idle - host.start.idle) / Math.max(1, host.end.total - host.start.total),
    ownCores: ownCpuSeconds / phaseSeconds,
    missing: missing.slice(0, NAMED_MOST).map(({ name }) => name),
    ...(simulated &&
      (phaseName === 'first' || phaseName === 'change') && {
        isOfSimulated: typeof simulated[phaseName]?.yesMs === 'number',
      }),
  }
}

/**
 * Says whether a sidecar outside of the sample did not have its configuration yet when it was first asked.
 * @param {RolloutRecord['members'][number]['first'] | undefined} probe
 * @returns {boolean} false: it was not asked
 */
function isLate(probe) {
  return !!probe && (typeof probe.lastNoMs === 'number' || probe.asked > 1)
}

/**
 * Computes how many pods became ready, and how many seconds after their creation.
 * @param {RolloutRecord['members']} members
 * @returns {RolloutNumbers['pods']}
 */
function judgePods(members) {
  const ready = members.flatMap(({ pod }) =>
    pod && pod.readyMs !== null ? [(pod.readyMs - pod.createdMs) / 1000] : [],
  )
  return { ready: ready.length, readySeconds: computePercentiles(numericSort(ready)) }
}

/**
 * Computes the median, the p99 and the maximum.
 * @param {number[]} sorted rising
 * @returns {Record<'p50' | 'p99' | 'max', number | null>} null: there are no values
 */
function computePercentiles(sorted) {
  return { p50: findQuantile(sorted, 0.5), p99: findQuantile(sorted, 0.99), max: sorted.at(-1) ?? null }
}

/**
 * Computes each shard's CPU time, and the share of the phase in which the busiest was at its limit: throttled by its
 * CPU limit (for whole periods if the kernel does not count the time), or with all its threads running.
 * @param {{ before: Edge | null, after: Edge | null, phaseSeconds: number }} options
 * @returns shardCpuSeconds, controlAtLimit (a fraction); {}: no shard was read
 */
function judgeShards({ before, after, phaseSeconds }) {
  if (!before?.each || !after?.each) return {}
  const starts = before.each
  const shares = after.each.flatMap(({ cpuSeconds, throttledPeriods, throttledSeconds, workers }, i) => {
    const ran = subtract(cpuSeconds, starts[i].cpuSeconds)
    const periods = subtract(throttledPeriods, starts[i].throttledPeriods)
    // throttledSeconds adds up the time of all CPUs: the throttled periods are its upper bound. A small cap stops a burst for less.
    const throttledMostSeconds = (periods ?? 0) * CAP_PERIOD_SECONDS
    const throttled = Math.min(
      throttledMostSeconds,
      subtract(throttledSeconds, starts[i].throttledSeconds) ?? throttledMostSeconds,
    )
    return ran === null && periods === null ? [] : [Math.max((ran ?? 0) / workers, throttled)]
  })
  return {
    shardCpuSeconds: after.each.map(({ cpuSeconds }, i) => subtract(cpuSeconds, starts[i].cpuSeconds)),
    controlAtLimit: shares.length > 0 ? Math.min(1, Math.max(...shares) / phaseSeconds) : null,
  }
}

/**
 * Computes a curve of about POINTS_MOST points.
 * @param {ConfigurationTimes[]} members
 * @param {{ all: number, startMs: number }} of all: the number of sidecars
 * @returns {[number, number][]} seconds, and the share of sidecars that have the configuration by then
 */
function computeCurve(members, { all, startMs }) {
  const times = numericSort(members.filter(isConfigured).map(({ yesMs }) => (yesMs - startMs) / 1000))
  const every = Math.ceil(times.length / POINTS_MOST)
  return times.flatMap((seconds, i) =>
    (i + 1) % every === 0 || i === times.length - 1 ? [/** @type {[number, number]} */ ([seconds, (i + 1) / all])] : [],
  )
}

/**
 * Says whether a sidecar has the configuration.
 * @param {ConfigurationTimes} times
 * @returns {times is ConfigurationTimes & { yesMs: number }}
 */
function isConfigured(times) {
  return times.yesMs !== null
}

/**
 * Computes the unknown part of a sidecar's time: from its last answer by the old configuration, else its start or
 * commit, to its first answer by the new one.
 * @param {ConfigurationTimes & { yesMs: number }} options
 * @returns {number} seconds
 */
function computeCensoredSeconds({ sinceMs, lastNoMs, yesMs }) {
  return (yesMs - Math.max(lastNoMs ?? 0, sinceMs)) / 1000
}

/**
 * Finds a quantile, as the nearest rank.
 * @param {number[]} sorted rising
 * @param {number} q 0 to 1
 * @returns {number | null} null: there are no values
 */
function findQuantile(sorted, q) {
  return sorted[Math.ceil(q * sorted.length) - 1] ?? null
}
