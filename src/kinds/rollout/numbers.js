import { numericSort } from 'simple-statistics'
import { computeRise } from '../../lib/counters.js'

/** The numbers of a rollout: a run computes them from its record in memory, `verify` again from the file. Pure. */
/**
 * @import { RolloutRecord, ConfigurationTimes, TrialRecord } from '../../model/types.ts'
 * @import { RecordPart } from '../parts.js'
 */

const NAMED_MOST = 20
const POINTS_MOST = 100
// The period of CPU quotas, as both targets set it.
const CAP_PERIOD_SECONDS = 0.1
/** The least share of a phase at its limit that shows that the control plane bound the phase. */
export const BOUND_LEAST = 0.25

/** @typedef {NonNullable<TrialRecord['rollout']>} RolloutNumbers */
/** @typedef {NonNullable<RolloutRecord['first']['control']['start']>} Edge */
/** @typedef {'first' | 'change' | 'withdrawal' | 'removal'} PhaseName */

/** @type {RecordPart<RolloutRecord, RolloutNumbers>} */
export const rolloutPart = {
  judge: computeRolloutNumbers,
  hasWindow: true,
  renderProgress({ sidecars, simulated = 0, change }, renderQuantity) {
    const renderTime = (/** @type {string} */ name) => renderQuantity(name) ?? 'not timed'
    const count = simulated > 0 ? `${sidecars - simulated} real of ${sidecars}` : sidecars
    const changeText = change ? `, change ${renderTime('changeAllSeconds')}` : ''
    return `${count} sidecars: rollout ${renderTime('rolloutSeconds')}${changeText}`
  },
}

/**
 * Computes the numbers of a rollout from its record.
 * @param {RolloutRecord} rollout
 * @returns {RolloutNumbers} a phase is absent if it was not started; simulated, fidelity: absent: all sidecars are real; pods:
 *   absent: sidecars are no pods; a number is null if it was not measured
 */
export function computeRolloutNumbers(rollout) {
  const { members, simulated, fidelity, cpus, askedPerSecondMost, control } = rollout
  const observedBytes = (control ?? []).flatMap(({ anonBytes }) => anonBytes ?? [])
  return {
    sidecars: members.length + (simulated?.count ?? 0),
    ...(simulated && { simulated: simulated.count }),
    ...(fidelity && { fidelity: computeFidelity(fidelity) }),
    ...(members.some(({ pod }) => pod) && { pods: computePodNumbers(members) }),
    cpus,
    askedPerSecondMost,
    first: computePhaseNumbers({ members, simulated, name: 'first', phase: rollout.first }),
    ...(rollout.change && {
      change: computePhaseNumbers({ members, simulated, name: 'change', phase: rollout.change }),
    }),
    ...(rollout.withdrawal && { withdrawal: computeWithdrawalNumbers(rollout) }),
    ...(rollout.removal && { removal: computeRemovalNumbers(members, rollout.removal) }),
    controlAnonBytes: {
      empty: control?.[0]?.anonBytes ?? null,
      stable: rollout.first.control.end?.anonBytes ?? null,
      peak: observedBytes.length > 0 ? Math.max(...observedBytes) : null,
    },
    controlPeakBytes: control?.at(-1)?.peakBytes ?? null,
  }
}

/**
 * Computes the CPU time and the memory of the control plane for the same number of sidecars: all real, and all but one simulated.
 * @param {NonNullable<RolloutRecord['fidelity']>} fidelity
 * @returns {RolloutNumbers['fidelity']} a number is null if it was not measured; anonBytes: beyond those of the empty control plane
 */
function computeFidelity(fidelity) {
  const [real, simulated] = [computeRolloutNumbers(fidelity.real), computeRolloutNumbers(fidelity.simulated)]
  // Growth is compared: the memory of an empty control plane is the same in both, and would hide a difference.
  const computeBytesBeyondEmpty = (/** @type {RolloutNumbers} */ { controlAnonBytes: { empty, peak } }) =>
    peak === null || empty === null ? null : peak - empty
  return {
    sidecars: real.sidecars,
    rolloutCpuSeconds: { real: real.first.controlCpuSeconds, simulated: simulated.first.controlCpuSeconds },
    changeCpuSeconds: {
      real: real.change?.controlCpuSeconds ?? null,
      simulated: simulated.change?.controlCpuSeconds ?? null,
    },
    anonBytes: { real: computeBytesBeyondEmpty(real), simulated: computeBytesBeyondEmpty(simulated) },
  }
}

/**
 * Computes the numbers of a shard's removal.
 * @param {RolloutRecord['members']} members
 * @param {NonNullable<RolloutRecord['removal']>} phase
 * @returns times: of the sidecars that moved, from the end of the shard on; askedPerSecond: of all sidecars; moved, stayed: counts;
 *   silent: names of the sidecars that stayed and missed an answer
 */
function computeRemovalNumbers(members, phase) {
  const moved = members.filter(({ movedTo }) => movedTo !== undefined)
  const stayed = members.flatMap(({ name, stayed }) => (stayed ? [{ name, ...stayed }] : []))
  const numbersOfMoved = computePhaseNumbers({ members: moved, name: 'moved', phase, fromMs: phase.endedMs })
  const requestsToStayed = stayed.reduce((sum, { asked }) => sum + asked, 0)
  return {
    ...numbersOfMoved,
    askedPerSecond: numbersOfMoved.askedPerSecond + (1000 * requestsToStayed) / (phase.endMs - phase.startMs),
    moved: moved.length,
    stayed: stayed.length,
    silent: stayed.filter(({ asked, answered }) => answered < asked).map(({ name }) => name),
  }
}

/**
 * Computes the numbers of a withdrawal of services, with the memory before the services and with them.
 * @param {RolloutRecord} rollout
 * @returns {RolloutNumbers['withdrawal']} undefined: there was none
 */
function computeWithdrawalNumbers({ members, withdrawal: phase }) {
  if (!phase) return undefined
  const { sidecarBytes, controlBytes } = phase
  return { ...computePhaseNumbers({ members, name: 'withdrawn', phase }), sidecarBytes, controlBytes }
}

/**
 * Computes the numbers of a phase.
 * @param {Pick<RolloutRecord, 'members' | 'simulated'> & { name: 'first' | 'change' | 'withdrawn' | 'moved', phase:
 *   RolloutRecord['first'], fromMs?: number }} options name: of the phase, by which members have their times; fromMs: the start of
 *   each sidecar's time, in epoch ms; absent: each has its own `sinceMs`
 * @returns {RolloutNumbers['first']} seconds: null: a sidecar lacks the configuration, one outside of the sample was late, or none
 *   is configured; each: p99 and max are null for a sample; sampled, late: absent: all sidecars were timed; missing: at most
 *   NAMED_MOST names; isOfSimulated: absent: none are simulated, or the phase is not one of theirs; other numbers: null: not measured
 */
function computePhaseNumbers({ members, simulated, name: phaseName, phase, fromMs }) {
  const { startMs, endMs, host, control, ownCpuSeconds, sample } = phase
  const timed = sample ? members.filter(({ name }) => sample.includes(name)) : members
  const late = members.filter(member => !timed.includes(member) && isLate(member[phaseName])).length
  const missing = members.filter(member => typeof member[phaseName]?.yesMs !== 'number')
  const probes = timed.flatMap(member => member[phaseName] ?? [])
  const times = computeTimes(probes, { startMs, fromMs })
  const phaseSeconds = (endMs - startMs) / 1000
  const [before, after] = [control.start, control.end]
  return {
    converged: members.length - missing.length,
    seconds: missing.length + late > 0 ? null : times.allSeconds,
    toldSeconds: times.toldSeconds,
    // The p99 and the maximum of a sample are not those of all sidecars.
    each: sample ? { ...times.each, p99: null, max: null } : times.each,
    ...(sample && { sampled: timed.length, late }),
    censoredSeconds: times.censoredSeconds,
    lastCensoredSeconds: times.lastCensoredSeconds,
    askedPerSecond: probes.reduce((sum, { asked }) => sum + asked, 0) / phaseSeconds,
    curve: computeCurve(probes, { count: timed.length, startMs: times.beganMs }),
    controlCpuSeconds: computeRise(after?.cpuSeconds, before?.cpuSeconds),
    ...computeShardNumbers({ before, after, phaseSeconds }),
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
 * Computes the times of a phase from those of its timed sidecars.
 * @param {ConfigurationTimes[]} probes
 * @param {{ startMs: number, fromMs?: number }} options startMs: of the phase, in epoch ms; fromMs: as of `computePhaseNumbers`
 * @returns beganMs: the first start or commit, `startMs` without probes; toldSeconds: from it to the last start or commit;
 *   allSeconds: until the last that is configured; allSeconds, the values of each, and both censored times: null: none is configured
 */
function computeTimes(probes, { startMs, fromMs }) {
  const configured = probes.filter(isConfigured).sort((a, b) => a.yesMs - b.yesMs)
  const last = configured.at(-1)
  const sinceMs = probes.map(probe => probe.sinceMs)
  const beganMs = fromMs ?? (sinceMs.length === 0 ? startMs : Math.min(...sinceMs))
  const seconds = numericSort(configured.map(probe => (probe.yesMs - (fromMs ?? probe.sinceMs)) / 1000))
  return {
    beganMs,
    toldSeconds: (Math.max(beganMs, ...sinceMs) - beganMs) / 1000,
    allSeconds: last ? (last.yesMs - beganMs) / 1000 : null,
    each: computePercentiles(seconds),
    censoredSeconds: findQuantile(numericSort(configured.map(computeCensoredSeconds)), 0.5),
    lastCensoredSeconds: last ? computeCensoredSeconds(last) : null,
  }
}

/**
 * Says whether a sidecar outside of the sample did not have its configuration yet when it was first asked.
 * @param {RolloutRecord['members'][number]['first'] | undefined} probe
 * @returns {boolean} false also: it was not asked
 */
function isLate(probe) {
  return !!probe && (typeof probe.lastNoMs === 'number' || probe.asked > 1)
}

/**
 * Computes how many pods became ready, and how many seconds after their creation.
 * @param {RolloutRecord['members']} members
 * @returns {RolloutNumbers['pods']} the values of readySeconds are null if no pod became ready
 */
function computePodNumbers(members) {
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
 * @returns shardCpuSeconds: null: not read; controlAtLimit: a fraction, null: no shard was read at both ends; {}: an end of the phase
 *   has no readings
 */
function computeShardNumbers({ before, after, phaseSeconds }) {
  if (!before?.each || !after?.each) return {}
  const starts = before.each
  const atLimitSeconds = after.each.flatMap(({ cpuSeconds, throttledPeriods, throttledSeconds, workers }, i) => {
    const cpuUsedSeconds = computeRise(cpuSeconds, starts[i].cpuSeconds)
    const periods = computeRise(throttledPeriods, starts[i].throttledPeriods)
    // throttledSeconds adds up the time of all CPUs: the throttled periods are its upper bound. A period may be throttled in part.
    const throttledMostSeconds = (periods ?? 0) * CAP_PERIOD_SECONDS
    const stoppedSeconds = Math.min(
      throttledMostSeconds,
      computeRise(throttledSeconds, starts[i].throttledSeconds) ?? throttledMostSeconds,
    )
    const isUnread = cpuUsedSeconds === null && periods === null
    return isUnread ? [] : [Math.max((cpuUsedSeconds ?? 0) / workers, stoppedSeconds)]
  })
  return {
    shardCpuSeconds: after.each.map(({ cpuSeconds }, i) => computeRise(cpuSeconds, starts[i].cpuSeconds)),
    controlAtLimit: atLimitSeconds.length > 0 ? Math.min(1, Math.max(...atLimitSeconds) / phaseSeconds) : null,
  }
}

/**
 * Computes the share of configured sidecars over time, at most POINTS_MOST points.
 * @param {ConfigurationTimes[]} probes
 * @param {{ count: number, startMs: number }} options count: of all timed sidecars; startMs: of the curve, in epoch ms
 * @returns {[number, number][]} seconds, and the share of sidecars that have the configuration by then; []: none has it
 */
function computeCurve(probes, { count, startMs }) {
  const times = numericSort(probes.filter(isConfigured).map(({ yesMs }) => (yesMs - startMs) / 1000))
  const step = Math.ceil(times.length / POINTS_MOST)
  return times.flatMap((seconds, i) => {
    const isDrawn = (i + 1) % step === 0 || i === times.length - 1
    return isDrawn ? [/** @type {[number, number]} */ ([seconds, (i + 1) / count])] : []
  })
}

/** @param {ConfigurationTimes} times @returns {times is ConfigurationTimes & { yesMs: number }} */
function isConfigured(times) {
  return times.yesMs !== null
}

/**
 * Computes the unknown part of a sidecar's time: from its last answer by the old configuration, else its start or
 * commit, to its first answer by the new one.
 * @param {ConfigurationTimes & { yesMs: number }} times
 * @returns {number} seconds
 */
function computeCensoredSeconds({ sinceMs, lastNoMs, yesMs }) {
  return (yesMs - Math.max(lastNoMs ?? 0, sinceMs)) / 1000
}

/**
 * Finds a quantile, as the nearest rank.
 * @param {number[]} sorted rising
 * @param {number} share of the values that are at most the quantile, 0 to 1
 * @returns {number | null} null: there are no values, or the share is 0
 */
function findQuantile(sorted, share) {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null
}
