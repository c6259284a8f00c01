import { computeSteadyGrowth } from '../../model/memory-growth.js'

/** The numbers of a trial from its observed window: the run has it in memory, `verify` on disk. Pure. */
/** @import { ClosedConnections, Edge, Look, ObservationRecord, ObservedProcess, ProcessRecord, Reading, Sample, ThreadCpu, TrialRecord, Window } from '../../model/types.ts' */

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
 *   'orchestratorPeakBytes'> | null} null: an edge of the window has no sample
 */
export function computeWindow({ observation, samples, armId }) {
  const { window, start, end, before, after, overflows, received, receivedByPod, ...others } = observation
  const { closedConnections, onHost, loadHost, cpus, ...readings } = others
  const { sampleSource, clockOffsetMs } = readings
  const [first, last] = ['start', 'end'].map(edge => samples.find(s => s.edge === edge))
  if (!first || !last) return null
  const processes = observation.processes.map(({ name, ...facts }, i) =>
    createProcessRecord({
      facts,
      start: { reading: first.readings[i], state: start.states[i], look: before[i] },
      end: { reading: last.readings[i], state: end.states[i], look: after[i] },
      grownBytes: computeGrownBytes({ samples, place: i, first, last }),
      overflows: overflows[i],
      received: received?.[i] ?? null,
      closed: closedConnections?.[i] ?? null,
      receivedByPod: receivedByPod?.[i] ?? null,
    }),
  )
  const ownCpuSeconds = end.ownCpuSeconds - start.ownCpuSeconds
  const seconds = (last.epochMs - first.epochMs) / 1000
  const isHere = (/** @type {unknown} */ _, /** @type {number} */ i) => onHost === null || onHost.includes(i)
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
      ownCores: sumCores(processes.filter(isHere)) + ownCpuSeconds / seconds,
    }),
    ...(loadHost && {
      loadHost: {
        ...computeHostUse({ ...loadHost, ownCores: sumCores(processes.filter((_, i) => !isHere(_, i))) }),
        clockAheadMs: loadHost.clockAheadMs,
        roundTripMs: loadHost.roundTripMs,
      },
    }),
    samples: { ...checkSamples(samples, window), source: sampleSource, clockOffsetMs },
    orchestratorCpuSeconds: ownCpuSeconds,
    ...(end.ownPeakBytes === undefined ? {} : { orchestratorPeakBytes: end.ownPeakBytes }),
  }
}

/**
 * Computes how busy a machine was, by the kernel's counters of all its CPUs, including those that this process may not use.
 * @param {{ start: ObservationRecord['start']['host'], end: ObservationRecord['start']['host'], cpus: number, ownCores: number
 *   }} options start, end: clock ticks since boot; cpus: those that the kit may use; ownCores: used by the trial's processes on
 *   this machine, and by the kit
 * @returns {NonNullable<TrialRecord['host']>} idleFraction, stealFraction: from 0 to 1; foreignCores: used by other programs,
 *   at least 0
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
 * Computes by how many bytes anonymous memory grew in a window.
 * @param {{ samples: Sample[], place: number, first: Sample, last: Sample }} options place: of the process in the readings;
 *   first, last: the samples at the edges
 * @returns {number | null} null: it did not grow in each quarter, or a quarter has no reading
 */
function computeGrownBytes({ samples, place, first, last }) {
  const readings = samples.flatMap(({ epochMs, readings }) => {
    const bytes = finiteOrNull(readings[place]?.anonBytes)
    return bytes !== null && epochMs >= first.epochMs && epochMs <= last.epochMs ? [{ epochMs, bytes }] : []
  })
  const partMs = (last.epochMs - first.epochMs) / PARTS
  const ends = Array.from({ length: PARTS + 1 }, (_, part) =>
    readings.findLast(({ epochMs }) => epochMs <= first.epochMs + part * partMs),
  )
  // If two ends share a reading, the part between them has none of its own.
  if (ends.includes(undefined) || new Set(ends).size < ends.length) return null
  return computeSteadyGrowth(ends.map(end => Number(end?.bytes)))
}

/**
 * Counts the samples of a window, and measures its gaps.
 * @param {Sample[]} samples
 * @param {Window} window
 * @returns {{ count: number, largestGapSeconds: number, missing: number }} largestGapSeconds: the longest time without a
 *   sample, the edges included; missing: readings with a number missing (NaN; null is a number that the kernel does not offer)
 */
export function checkSamples(samples, { startMs, endMs }) {
  const inside = samples.filter(({ epochMs }) => epochMs >= startMs && epochMs <= endMs)
  const moments = [startMs, ...inside.map(s => s.epochMs), endMs]
  let largestGapMs = 0
  for (const [i, at] of moments.slice(1).entries()) largestGapMs = Math.max(largestGapMs, at - moments[i])
  const isMissing = (/** @type {Sample['readings'][number]} */ reading) =>
    READING_FIELDS.some(name => reading[name] !== null && finiteOrNull(reading[name]) === null)
  return {
    count: inside.length,
    largestGapSeconds: largestGapMs / 1000,
    missing: inside.flatMap(s => s.readings).filter(isMissing).length,
  }
}

/**
 * Sums the CPU cores of processes.
 * @param {ProcessRecord[]} processes
 * @returns {number} 0: there are none
 */
function sumCores(processes) {
  return processes.reduce((sum, p) => sum + p.cpuCores, 0)
}

/**
 * A process at one edge of the window.
 * @typedef {{ reading: Reading, state: Edge['states'][number], look: Look }} AtEdge
 */

/**
 * The readings of a process at both edges of the window. A member is null if it was not read.
 * @typedef {object} ProcessReadings
 * @property {Omit<ObservedProcess, 'name'>} facts
 * @property {AtEdge} start its look is from before any load
 * @property {AtEdge} end its look is from after the window
 * @property {number | null} [grownBytes] of anonymous memory in the window; null also: it did not grow steadily
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
 * @returns {ProcessRecord} members that were not read are null or absent
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
  const [a, b] = [start.reading, end.reading]
  const seconds = b.atSeconds - a.atSeconds
  const threads = computeThreadTimes(start.state.threads, end.state.threads)
  const periods = subtract(b.periods, a.periods)
  const throttled = subtract(b.throttledPeriods, a.throttledPeriods)
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
    cpuSeconds: b.cpuSeconds - a.cpuSeconds,
    cpuCores: (b.cpuSeconds - a.cpuSeconds) / seconds,
    ...computeUsage(start.state, end.state),
    throttledFraction: periods === null || throttled === null ? null : periods > 0 ? throttled / periods : 0,
    throttledSeconds: subtract(b.throttledSeconds, a.throttledSeconds),
    oomKills: finiteOrNull(b.oomKills),
    busiestThreadCores: threads.length > 0 ? Math.max(0, ...threads.map(t => t.cpuSeconds)) / seconds : null,
    threads,
    memory: {
      anonBytes: finiteOrNull(b.anonBytes),
      rssBytes: finiteOrNull(end.look.memory?.rssBytes),
      workingSetBytes: finiteOrNull(b.workingSetBytes),
      pssBytes: finiteOrNull(end.look.memory?.pssBytes),
      peakBytes: finiteOrNull(b.peakBytes),
      idleRssBytes: finiteOrNull(start.look.memory?.rssBytes),
      ...(grownBytes === null ? {} : { grownBytes }),
    },
  }
}

/**
 * Replaces a number that could not be read (NaN, undefined) by null.
 * @param {number | null | undefined} value
 * @returns {number | null}
 */
export function finiteOrNull(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/**
 * Computes the rise of a counter.
 * @param {(number | null | undefined)[]} ends the later and the earlier value
 * @returns {number | null} below 0: the counter fell; null: one end was not read
 */
export function subtract(...ends) {
  const [later, earlier] = ends.map(finiteOrNull)
  return later === null || earlier === null ? null : later - earlier
}

/**
 * Computes CPU time from the counters of each process that is there at the end, and lists the processes that were outside of
 * the group.
 * @param {Edge['states'][number]} start
 * @param {Edge['states'][number]} end
 * @returns {Pick<ProcessRecord, 'byProcesses' | 'outside'>} byProcesses: leastSeconds: the processes' own time; mostSeconds:
 *   with that of their ended children, null: a process ended in the window; absent: no process was read; outside: absent if no
 *   process was outside
 */
function computeUsage(start, end) {
  const [before, after] = [start.usage ?? [], end.usage ?? []]
  const outside = [...new Set([...(start.outside ?? []), ...(end.outside ?? [])])]
  const rises = after.map(usage => {
    const earlier = before.find(({ pid }) => pid === usage.pid)
    return {
      cpuSeconds: Math.max(0, usage.cpuSeconds - (earlier?.cpuSeconds ?? 0)),
      childrenSeconds: Math.max(0, usage.childrenSeconds - (earlier?.childrenSeconds ?? 0)),
    }
  })
  const leastSeconds = rises.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const childrenSeconds = rises.reduce((sum, rise) => sum + rise.childrenSeconds, 0)
  const groupSeconds = subtract(end.cpu?.cpuSeconds, start.cpu?.cpuSeconds)
  const isWhole = before.every(({ pid }) => after.some(usage => usage.pid === pid))
  const mostSeconds = isWhole ? leastSeconds + childrenSeconds : null
  return {
    ...(after.length > 0 && {
      byProcesses: {
        leastSeconds,
        mostSeconds,
        processes: after.length,
        ...(groupSeconds !== null && { groupSeconds: Math.max(0, groupSeconds) }),
      },
    }),
    ...(outside.length > 0 && { outside }),
  }
}

/**
 * Computes the times of threads in the window. A thread that began in it counts from 0; one that ended in it is left out.
 * @param {ThreadCpu[]} before
 * @param {ThreadCpu[]} after
 * @returns {ThreadCpu[]} cpuSeconds, waitSeconds: in the window; waitSeconds: absent if it was not read
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
