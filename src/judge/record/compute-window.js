import { computeRise, finiteOrNull } from '../../lib/counters.js'
import { computeSteadyGrowth } from '../../model/memory-growth.js'
import { sumCores } from '../../model/process-records.js'

/** The numbers of a trial from its observed window: the run has it in memory, `verify` on disk. Pure. */
/**
 * @import { ClosedConnections, Edge, Look, ObservationRecord, ObservedProcess, ProcessRecord } from '../../model/types.ts'
 * @import { Reading, Sample, ThreadCpu, TrialRecord, Window } from '../../model/types.ts'
 */

// Memory that grows with requests grows in each of these parts of the window.
const PARTS = 4
const READING_FIELDS = /** @type {const} */ ([
  ...['atSeconds', 'cpuSeconds', 'periods', 'throttledPeriods', 'throttledSeconds'],
  ...['anonBytes', 'workingSetBytes', 'peakBytes', 'oomKills'],
])

/**
 * Computes the numbers of a trial in its window.
 * @param {{ observation: ObservationRecord, samples: Sample[], armId?: string }} observed samples: the window's edges are among
 *   them; armId: of the arm, if several stood at the same time; processes of other arms are then left out
 * @returns {Pick<TrialRecord, 'window' | 'processes' | 'host' | 'loadHost' | 'samples' | 'orchestratorCpuSeconds' |
 *   'orchestratorPeakBytes'> | null} loadHost: absent if the load was made on the machine of the services; orchestratorPeakBytes:
 *   absent if it was not read; null: an edge of the window has no sample
 */
export function computeWindow({ observation, samples, armId }) {
  const { window, start, end, onHost, loadHost, cpus, sampleSource, clockOffsetMs } = observation
  const [first, last] = ['start', 'end'].map(edge => samples.find(sample => sample.edge === edge))
  if (!first || !last) return null
  const processes = observation.processes.map(({ name, ...facts }, i) =>
    createProcessRecord({
      facts,
      start: { reading: first.readings[i], state: start.states[i], look: observation.before[i] },
      end: { reading: last.readings[i], state: end.states[i], look: observation.after[i] },
      grownBytes: computeGrownBytes({ samples, readingIndex: i, first, last }),
      overflows: observation.overflows[i],
      received: observation.received?.[i] ?? null,
      closed: observation.closedConnections?.[i] ?? null,
      receivedByPod: observation.receivedByPod?.[i] ?? null,
    }),
  )
  const ownCpuSeconds = end.ownCpuSeconds - start.ownCpuSeconds
  const seconds = (last.epochMs - first.epochMs) / 1000
  const isOnHost = (/** @type {number} */ i) => onHost === null || onHost.includes(i)
  return {
    window: {
      ...window,
      seconds: (window.endMs - window.startMs) / 1000,
      startLateMs: first.epochMs - window.startMs,
      endLateMs: last.epochMs - window.endMs,
    },
    processes: processes.filter(p => p.armId === undefined || p.armId === armId),
    host: computeHostUse({
      start: start.host,
      end: end.host,
      cpus,
      ownCores: sumCores(processes.filter((_, i) => isOnHost(i))) + ownCpuSeconds / seconds,
    }),
    ...(loadHost && {
      loadHost: {
        ...computeHostUse({ ...loadHost, ownCores: sumCores(processes.filter((_, i) => !isOnHost(i))) }),
        clockAheadMs: loadHost.clockAheadMs,
        roundTripMs: loadHost.roundTripMs,
      },
    }),
    samples: { ...summariseSamples(samples, window), source: sampleSource, clockOffsetMs },
    orchestratorCpuSeconds: ownCpuSeconds,
    ...(end.ownPeakBytes === undefined ? {} : { orchestratorPeakBytes: end.ownPeakBytes }),
  }
}

/**
 * Computes how busy a machine was, by the kernel's counters of all its CPUs, including those that this process may not use.
 * @param {{ start: ObservationRecord['start']['host'], end: ObservationRecord['start']['host'], cpus: number, ownCores: number
 *   }} options start, end: clock ticks since boot; cpus: those that the kit may use; ownCores: used by the trial's processes on
 *   this machine, and by the kit
 * @returns {NonNullable<TrialRecord['host']>} idleFraction, stealFraction: from 0 to 1; foreignCores: used by other programs, at least
 *   0; all three are NaN if no tick passed
 */
function computeHostUse({ start, end, cpus, ownCores }) {
  const share = (/** @type {'idle' | 'steal' | 'busy'} */ kind) => (end[kind] - start[kind]) / (end.total - start.total)
  return {
    cpus,
    idleFraction: share('idle'),
    stealFraction: share('steal'),
    foreignCores: Math.max(0, share('busy') * end.cpus - ownCores),
  }
}

/**
 * Computes by how many bytes a process's anonymous memory grew in a window.
 * @param {{ samples: Sample[], readingIndex: number, first: Sample, last: Sample }} options readingIndex: of the process;
 *   first, last: the samples at the edges
 * @returns {number | null} null: it did not grow steadily over the PARTS (`computeSteadyGrowth`), or the first edge or a part has no
 *   reading
 */
function computeGrownBytes({ samples, readingIndex, first, last }) {
  const points = samples.flatMap(({ epochMs, readings }) => {
    const bytes = finiteOrNull(readings[readingIndex]?.anonBytes)
    return bytes !== null && epochMs >= first.epochMs && epochMs <= last.epochMs ? [{ epochMs, bytes }] : []
  })
  const partMs = (last.epochMs - first.epochMs) / PARTS
  const ends = Array.from({ length: PARTS + 1 }, (_, part) =>
    points.findLast(({ epochMs }) => epochMs <= first.epochMs + part * partMs),
  )
  // A part without a reading of its own has no end, or that of the part before it.
  const distinctEnds = [...new Set(ends)].filter(end => end !== undefined)
  return distinctEnds.length > PARTS ? computeSteadyGrowth(distinctEnds.map(({ bytes }) => bytes)) : null
}

/**
 * Summarises the samples of a window: their number, the largest gap between them, and the readings that lack a number.
 * @param {Sample[]} samples
 * @param {Window} window
 * @returns {{ count: number, largestGapSeconds: number, missing: number }} largestGapSeconds: the longest time without a
 *   sample, the edges included; missing: readings with a number missing (NaN; null is a number that the kernel does not offer)
 */
export function summariseSamples(samples, { startMs, endMs }) {
  const inside = samples.filter(({ epochMs }) => epochMs >= startMs && epochMs <= endMs)
  const moments = [startMs, ...inside.map(({ epochMs }) => epochMs), endMs]
  let largestGapMs = 0
  for (const [i, moment] of moments.slice(1).entries()) largestGapMs = Math.max(largestGapMs, moment - moments[i])
  const lacksNumber = (/** @type {Reading} */ reading) =>
    READING_FIELDS.some(name => reading[name] !== null && finiteOrNull(reading[name]) === null)
  return {
    count: inside.length,
    largestGapSeconds: largestGapMs / 1000,
    missing: inside.flatMap(({ readings }) => readings).filter(lacksNumber).length,
  }
}

/**
 * A process at one edge of the window.
 * @typedef {{ reading: Reading, state: Edge['states'][number], look: Look }} AtEdge
 */

/**
 * The readings of a process at both edges of the window. A member is null if it could not be read.
 * @typedef {object} ProcessReadings
 * @property {Omit<ObservedProcess, 'name'>} facts
 * @property {AtEdge} start its look is from before any load
 * @property {AtEdge} end its look is from after the window
 * @property {number | null} [grownBytes] of anonymous memory in the window; null also, and by default: it did not grow steadily
 * @property {number | null} overflows requests that it refused by a limit of its own
 * @property {number | null} received bytes
 * @property {number[] | null} [receivedByPod] bytes of each pod that it serves
 * @property {ClosedConnections | null} [closed] connections that closed in the window
 */

/**
 * Creates the record of a process between the edges: counters are differences; memory is that of the end, except
 * `idleRssBytes`, which is from before any load. The CPU limit is read back at both edges; if one edge does not have the
 * requested limit, the record has its value.
 * @param {ProcessReadings} options
 * @returns {ProcessRecord} members that could not be read are null or absent, but `cpuSeconds` and `cpuCores` are NaN
 */
export function createProcessRecord({
  facts,
  start,
  end,
  grownBytes = null,
  overflows,
  received,
  receivedByPod,
  closed = null,
}) {
  const [first, last] = [start.reading, end.reading]
  const seconds = last.atSeconds - first.atSeconds
  const cpuSeconds = last.cpuSeconds - first.cpuSeconds
  const threads = computeThreadTimes(start.state.threads, end.state.threads)
  const byProcesses = computeCpuByProcesses(start.state, end.state)
  const outside = [...new Set([...(start.state.outside ?? []), ...(end.state.outside ?? [])])]
  const pods = facts.pods?.map((pod, i) => ({ ...pod, ...(receivedByPod && { receivedBytes: receivedByPod[i] }) }))
  return {
    ...facts,
    ...(pods && { pods }),
    // The edge that does not have the cap, if there is one, for the gate `cap`.
    cpuLimitReadBackCores:
      start.state.cpuLimitCores === facts.cpuLimitCores ? end.state.cpuLimitCores : start.state.cpuLimitCores,
    workers: end.look.workers,
    connections: end.look.connections,
    ...(received === null ? {} : { receivedBytes: received }),
    ...(start.look.idleCpuCores == null ? {} : { idleCpuCores: start.look.idleCpuCores }),
    ...(closed === null ? {} : { closedConnections: closed }),
    cpuSet: end.state.cpuSet,
    isReplaced: end.state.identity.join() !== start.look.identity.join(),
    overflows: finiteOrNull(overflows),
    cpuSeconds,
    cpuCores: cpuSeconds / seconds,
    ...(byProcesses !== null && { byProcesses }),
    ...(outside.length > 0 && { outside }),
    throttledFraction: computeThrottledFraction(first, last),
    throttledSeconds: computeRise(last.throttledSeconds, first.throttledSeconds),
    oomKills: finiteOrNull(last.oomKills),
    busiestThreadCores: threads.length > 0 ? Math.max(0, ...threads.map(t => t.cpuSeconds)) / seconds : null,
    threads,
    memory: {
      anonBytes: finiteOrNull(last.anonBytes),
      rssBytes: finiteOrNull(end.look.memory?.rssBytes),
      workingSetBytes: finiteOrNull(last.workingSetBytes),
      pssBytes: finiteOrNull(end.look.memory?.pssBytes),
      peakBytes: finiteOrNull(last.peakBytes),
      idleRssBytes: finiteOrNull(start.look.memory?.rssBytes),
      ...(grownBytes === null ? {} : { grownBytes }),
    },
  }
}

/**
 * Computes the share of the scheduler's periods in the window in which a process was throttled.
 * @param {Reading} first
 * @param {Reading} last
 * @returns {number | null} 0: no period passed; null: the periods could not be read
 */
function computeThrottledFraction(first, last) {
  const periods = computeRise(last.periods, first.periods)
  const throttled = computeRise(last.throttledPeriods, first.throttledPeriods)
  if (periods === null || throttled === null) return null
  return periods > 0 ? throttled / periods : 0
}

/**
 * Computes CPU time in the window from the counters of each process of a group that is there at the end.
 * @param {Edge['states'][number]} start
 * @param {Edge['states'][number]} end
 * @returns {NonNullable<ProcessRecord['byProcesses']> | null} leastSeconds: the processes' own time; mostSeconds: with that of
 *   their ended children, null: a process ended in the window; groupSeconds: that of the group, at least 0, absent if it could not
 *   be read; null: no process was read at the end
 */
function computeCpuByProcesses(start, end) {
  const [before, after] = [start.usage ?? [], end.usage ?? []]
  if (after.length === 0) return null
  const rises = after.map(usage => {
    const earlier = before.find(({ pid }) => pid === usage.pid)
    return {
      cpuSeconds: Math.max(0, usage.cpuSeconds - (earlier?.cpuSeconds ?? 0)),
      childrenSeconds: Math.max(0, usage.childrenSeconds - (earlier?.childrenSeconds ?? 0)),
    }
  })
  const leastSeconds = rises.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const childrenSeconds = rises.reduce((sum, rise) => sum + rise.childrenSeconds, 0)
  const groupSeconds = computeRise(end.cpu?.cpuSeconds, start.cpu?.cpuSeconds)
  const isWhole = before.every(({ pid }) => after.some(usage => usage.pid === pid))
  return {
    leastSeconds,
    mostSeconds: isWhole ? leastSeconds + childrenSeconds : null,
    processes: after.length,
    ...(groupSeconds !== null && { groupSeconds: Math.max(0, groupSeconds) }),
  }
}

/**
 * Computes the times of threads in the window. A thread that began in it counts from 0; one that ended in it is left out.
 * @param {ThreadCpu[]} before
 * @param {ThreadCpu[]} after
 * @returns {ThreadCpu[]} cpuSeconds, waitSeconds: in the window; waitSeconds: absent if it could not be read; []: no threads were
 *   read
 */
function computeThreadTimes(before, after) {
  return after.map(({ waitSeconds, ...thread }) => {
    const earlier = before.find(t => t.id === thread.id)
    return {
      ...thread,
      cpuSeconds: thread.cpuSeconds - (earlier?.cpuSeconds ?? 0),
      ...(waitSeconds !== undefined && { waitSeconds: waitSeconds - (earlier?.waitSeconds ?? 0) }),
    }
  })
}
