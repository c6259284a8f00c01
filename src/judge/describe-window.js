import { describeProcess, finiteOrNull } from './describe-process.js'

/** The numbers of a trial from its observed window: the run has it in memory, `verify` on disk. Pure. */
/** @import { ObservationRecord, ProcessRecord, Sample, TrialRecord, Window } from '../model/types.ts' */

const READING_FIELDS = /** @type {const} */ ([
  ...['atSeconds', 'cpuSeconds', 'periods', 'throttledPeriods', 'throttledSeconds'],
  ...['anonBytes', 'workingSetBytes', 'peakBytes', 'oomKills'],
])

/**
 * @param {{ observation: ObservationRecord, samples: Sample[], armId?: string }} observed samples: the window's edges are among
 *   them; armId: whose processes are described, of arms that stood at the same time
 * @returns {Pick<TrialRecord, 'window' | 'processes' | 'host' | 'loadHost' | 'samples' | 'orchestratorCpuSeconds' | 'orchestratorPeakBytes'> | null} null: no
 *   sample of an edge
 */
export function describeWindow({ observation, samples, armId }) {
  const { window, start, end, before, after, overflows, received, onHost, loadHost, cpus, ...given } = observation
  const { sampleSource, clockOffsetMs } = given
  const [first, last] = ['start', 'end'].map(edge => samples.find(s => s.edge === edge))
  if (!first || !last) return null
  const processes = observation.processes.map(({ name, ...facts }, i) =>
    describeProcess({
      facts,
      start: { reading: first.readings[i], state: start.states[i], look: before[i] },
      end: { reading: last.readings[i], state: end.states[i], look: after[i] },
      overflows: overflows[i],
      received: received?.[i] ?? null,
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
 * The kernel counts all CPUs of the machine, also those that we may not use.
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

/** Finds gaps in samples; null: the kernel does not offer it. @param {Sample[]} samples @param {Window} window */
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
