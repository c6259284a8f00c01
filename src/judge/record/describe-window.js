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
 *   them; armId: of the arm, if several stood at the same time
 * @returns {Pick<TrialRecord, 'window' | 'processes' | 'host' | 'loadHost' | 'samples' | 'orchestratorCpuSeconds' | 'orchestratorPeakBytes'> | null} null: no
 *   sample of an edge
 */
export function describeWindow({ observation, samples, armId }) {
  const { window, start, end, before, after, overflows, received, receivedByPod, ...others } = observation
  const { closedConnections, onHost, loadHost, cpus, ...readings } = others
  const { sampleSource, clockOffsetMs } = readings
  const [first, last] = ['start', 'end'].map(edge => samples.find(s => s.edge === edge))
  if (!first || !last) return null
  const processes = observation.processes.map(({ name, ...facts }, i) =>
    describeProcess({
      facts,
      start: { reading: first.readings[i], state: start.states[i], look: before[i] },
      end: { reading: last.readings[i], state: end.states[i], look: after[i] },
      grownBytes: findGrowth({ samples, place: i, first, last }),
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
    host: describeHost({
      start: start.host,
      end: end.host,
      cpus,
      ownCores: sumCores(processes.filter(isHere)) + ownCpuSeconds / seconds,
    }),
    ...(loadHost && {
      loadHost: {
        ...describeHost({ ...loadHost, ownCores: sumCores(processes.filter((_, i) => !isHere(_, i))) }),
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
 * Computes how busy a machine was, by the kernel's counters of all its CPUs: with those that this process may not use.
 * @param {{ start: ObservationRecord['start']['host'], end: ObservationRecord['start']['host'], cpus: number, ownCores: number }} options
 *   ownCores: used by the trial's processes on this machine, and by the kit
 */
function describeHost({ start, end, cpus, ownCores }) {
  const share = (/** @type {'idle' | 'steal' | 'busy'} */ kind) => (end[kind] - start[kind]) / (end.total - start.total)
  return {
    cpus,
    idleFraction: share('idle'),
    stealFraction: share('steal'),
    foreignCores: Math.max(0, share('busy') * end.cpus - ownCores),
  }
}

/**
 * Finds by how much memory grew in a window; null: not in each quarter of it, or it was not read.
 * @param {{ samples: Sample[], place: number, first: Sample, last: Sample }} options place: of the process; first, last: at the edges
 */
function findGrowth({ samples, place, first, last }) {
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

/** Counts the samples of a window and those with a number missing (NaN; null is a number that the kernel does not offer). @param {Sample[]} samples @param {Window} window */
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

/** @param {ProcessRecord[]} processes */
function sumCores(processes) {
  return processes.reduce((sum, p) => sum + p.cpuCores, 0)
}

/** A process at one edge of the window. @typedef {{ reading: Reading, state: Edge['states'][number], look: Look }} AtEdge */

/**
 * Makes the record of a process between the edges: counters are differences, memory is that of the end. Pure.
 * @param {{ facts: Omit<ObservedProcess, 'name'>, start: AtEdge, end: AtEdge, grownBytes?: number | null, overflows: number | null,
 *   received: number | null, receivedByPod?: number[] | null, closed?: ClosedConnections | null }} options
 *   the looks are from before any load and from after the window; null: not read
 * @returns {ProcessRecord}
 */
export function describeProcess({
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
  const threads = threadsBetween(start.state.threads, end.state.threads)
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
    ...describeUsage(start.state, end.state),
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

/** Returns a number that could be read, else null: a reading may be NaN. @param {number | null | undefined} value */
export function finiteOrNull(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Finds a counter's rise; null: it was not read. @param {(number | null | undefined)[]} ends later, earlier */
export function subtract(...ends) {
  const [later, earlier] = ends.map(finiteOrNull)
  return later === null || earlier === null ? null : later - earlier
}

/**
 * Computes CPU time from the counters of each process (mostSeconds null: one ended), and lists where one left its group; {} if neither
 * was read. @param {Edge['states'][number]} start @param {Edge['states'][number]} end
 * @returns {Pick<ProcessRecord, 'byProcesses' | 'outside'>}
 */
function describeUsage(start, end) {
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
  const isWhole = before.every(({ pid }) => after.some(usage => usage.pid === pid))
  const mostSeconds = isWhole ? leastSeconds + childrenSeconds : null
  return {
    ...(after.length > 0 && { byProcesses: { leastSeconds, mostSeconds, processes: after.length } }),
    ...(outside.length > 0 && { outside }),
  }
}

/**
 * Computes the times of threads in the window. A thread that began in it counts from 0; one that ended in it is left out.
 * @param {ThreadCpu[]} before @param {ThreadCpu[]} after
 */
function threadsBetween(before, after) {
  return after.map(({ waitSeconds, ...thread }) => {
    const earlier = before.find(t => t.id === thread.id)
    return {
      ...thread,
      cpuSeconds: thread.cpuSeconds - (earlier?.cpuSeconds ?? 0),
      ...(waitSeconds !== undefined && { waitSeconds: waitSeconds - (earlier?.waitSeconds ?? 0) }),
    }
  })
}
