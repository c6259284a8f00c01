import { reading } from '../model/schemas.js'

/** The numbers of a trial from its observed window: the run has it in memory, `verify` on disk. Pure. */
/** @import { Edge, Look, ObservationRecord, ObservedProcess, ProcessRecord, Reading } from '../model/types.ts' */
/** @import { Sample, ThreadCpu, TrialRecord, Window } from '../model/types.ts' */

const READING_FIELDS = /** @type {(keyof Reading)[]} */ (Object.keys(reading.shape))

/** A process at one edge of the window. */
/** @typedef {{ reading: Reading, state: Edge['states'][number], look: Look }} AtEdge */
/** @typedef {ObservationRecord['start']['host']} HostCpu */

/**
 * Makes the numbers of a window; null without a sample of each edge, which are among the samples.
 * @param {{ observation: ObservationRecord, samples: Sample[], armId?: string }} observed armId: where arms stood together
 * @returns {Pick<TrialRecord, 'window' | 'processes' | 'host' | 'loadHost' | 'samples' | 'orchestratorCpuSeconds' |
 *   'orchestratorPeakBytes'> | null}
 */
export function describeWindow({ observation, samples, armId }) {
  const { window, start, end, onHost, loadHost, cpus } = observation
  const [first, last] = ['start', 'end'].map(edge => samples.find(s => s.edge === edge))
  if (!first || !last) return null
  const processes = observation.processes.map(({ name, ...facts }, i) =>
    describeProcess({
      facts,
      start: { reading: first.readings[i], state: start.states[i], look: observation.before[i] },
      end: { reading: last.readings[i], state: end.states[i], look: observation.after[i] },
      overflows: observation.overflows[i],
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
    samples: {
      ...checkSamples(samples, window),
      source: observation.sampleSource,
      clockOffsetMs: observation.clockOffsetMs,
    },
    orchestratorCpuSeconds: ownCpuSeconds,
    ...(end.ownPeakBytes === undefined ? {} : { orchestratorPeakBytes: end.ownPeakBytes }),
  }
}

/**
 * The kernel counts all CPUs of a machine, also those that we may not use; ownCores: of the trial's processes and the
 * kit.
 * @param {{ start: HostCpu, end: HostCpu, cpus: number, ownCores: number }} options
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
 * Whether the samples of a window are complete: a missing value could not be read, null is not offered by the kernel.
 * @param {Sample[]} samples @param {Window} window
 */
export function checkSamples(samples, { startMs, endMs }) {
  const inside = samples.filter(({ epochMs }) => epochMs >= startMs && epochMs <= endMs)
  const moments = [startMs, ...inside.map(s => s.epochMs), endMs]
  let largestGapMs = 0
  for (const [i, at] of moments.slice(1).entries()) largestGapMs = Math.max(largestGapMs, at - moments[i])
  const isMissing = (/** @type {Reading} */ own) =>
    READING_FIELDS.some(name => own[name] !== null && finiteOrNull(own[name]) === null)
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

/**
 * Makes the record of a process; the looks are from before any load and from after the window.
 * @param {{ facts: Omit<ObservedProcess, 'name'>, start: AtEdge, end: AtEdge, overflows: number | null }} options
 * @returns {ProcessRecord}
 */
export function describeProcess({ facts, start, end, overflows }) {
  const [a, b] = [start.reading, end.reading]
  const seconds = b.atSeconds - a.atSeconds
  const threads = threadsBetween(start.state.threads, end.state.threads)
  const periods = subtract(b.periods, a.periods)
  const throttled = subtract(b.throttledPeriods, a.throttledPeriods)
  return {
    ...facts,
    capReadBackCores: start.state.capCores === facts.capCores ? end.state.capCores : start.state.capCores,
    workers: end.look.workers,
    connections: end.look.connections,
    cpuSet: end.state.cpuSet,
    isReplaced: end.state.identity.join() !== start.look.identity.join(),
    overflows: finiteOrNull(overflows),
    cpuSeconds: b.cpuSeconds - a.cpuSeconds,
    cpuCores: (b.cpuSeconds - a.cpuSeconds) / seconds,
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
    },
  }
}

/** A number that could be read, else null: a reading may be NaN. @param {number | null | undefined} value */
export function finiteOrNull(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The rise of a counter, null where it was not read. @param {(number | null | undefined)[]} ends later, earlier */
export function subtract(...ends) {
  const [later, earlier] = ends.map(finiteOrNull)
  return later === null || earlier === null ? null : later - earlier
}

/** @param {ThreadCpu[]} before @param {ThreadCpu[]} after */
function threadsBetween(before, after) {
  return after.map(thread => ({
    ...thread,
    cpuSeconds: thread.cpuSeconds - (before.find(t => t.id === thread.id)?.cpuSeconds ?? 0),
  }))
}
