import { appendPoint, appendStretch, POINTS_MOST } from '../lib/bounded.js'
import { finiteOrNull, subtract } from './record/describe-window.js'

/** CPU and memory that each sidecar uses during a trial, from sample to sample. Pure. */
/** @import { ProcessSpec, Reading, Sample } from '../model/types.ts' */

// An edge of the window may be read right after a sample: the rate of CPU over so short a time says nothing.
const APART_LEAST_SECONDS = 0.05

/**
 * A sidecar now; null: not known, or no cap. cores, isThrottled: between the last two readings; ofCap: a fraction;
 * throttledFraction: of the periods since the first sample of the trial.
 * @typedef {{ service: string, isThrottled: boolean | null } & Record<'cores' | 'cpuLimitCores' | 'ofCap' | 'throttledFraction' |
 *   'anonBytes' | 'workingSetBytes', number | null>} SidecarNow
 */

/**
 * One sidecar over a trial: [seconds from the start of the window, value]; throttled: [from, to] in seconds.
 * @typedef {{ service: string, cpuLimitCores: number | null, cores: [number, number][], anonBytes: [number, number][],
 *   throttled: [number, number][] }} SidecarSeries
 */

/**
 * place: in the readings of a sample; first: reading with periods; last: reading with CPU time.
 * @typedef {{ place: number, now: SidecarNow, series: SidecarSeries, first: Reading | null,
 *   last: { reading: Reading, seconds: number } | null }} Tracked
 */

/** Follows the sidecars of a trial, sample by sample. @param {{ most?: number }} [options] most: points of a series, beyond which older ones are thinned */
export function createSidecars({ most = POINTS_MOST } = {}) {
  /** @type {Tracked[]} */
  let tracked = []
  return {
    clear() {
      tracked = []
    },
    /**
     * @param {{ specs: Pick<ProcessSpec, 'service' | 'role' | 'cpuLimitCores'>[], windowStartMs: number,
     *   sample: Pick<Sample, 'epochMs'> & { readings: (Reading | undefined)[] } }} sampled
     */
    sample({ specs, sample, windowStartMs }) {
      if (tracked.length === 0) {
        tracked = specs.flatMap((spec, place) => (spec.role === 'sidecar' ? [startTracking(spec, place)] : []))
      }
      const seconds = (sample.epochMs - windowStartMs) / 1000
      for (const sidecar of tracked) addReading({ sidecar, reading: sample.readings[sidecar.place], seconds, most })
    },
    snapshot: () => tracked.map(({ now }) => ({ ...now })),
    /** Returns the arrays themselves, which later samples fill further. */
    series: () => tracked.map(({ series }) => series),
  }
}

/** @param {Pick<ProcessSpec, 'service' | 'cpuLimitCores'>} spec @param {number} place */
function startTracking({ service, cpuLimitCores }, place) {
  const unknown = { cores: null, ofCap: null, isThrottled: null, throttledFraction: null }
  return {
    place,
    now: { service, cpuLimitCores, ...unknown, anonBytes: null, workingSetBytes: null },
    series: { service, cpuLimitCores, cores: [], anonBytes: [], throttled: [] },
    first: null,
    last: null,
  }
}

/**
 * Adds a reading to the tracked sidecar; one that is undefined, or has NaN, could not be read.
 * @param {{ sidecar: Tracked, reading: Reading | undefined, seconds: number, most: number }} options
 */
function addReading({ sidecar, reading, seconds, most }) {
  const { now, series, last } = sidecar
  const isRead = reading !== undefined && Number.isFinite(reading.atSeconds) && Number.isFinite(reading.cpuSeconds)
  const elapsed = isRead && last !== null ? reading.atSeconds - last.reading.atSeconds : null
  // The kubelet's counters stay the same for many samples: that is no time in which nothing was used.
  if (elapsed !== null && elapsed >= 0 && elapsed < APART_LEAST_SECONDS) return

  now.anonBytes = finiteOrNull(reading?.anonBytes)
  now.workingSetBytes = finiteOrNull(reading?.workingSetBytes)
  if (now.anonBytes !== null) appendPoint(series.anonBytes, [seconds, now.anonBytes], most)

  Object.assign(now, { cores: null, ofCap: null, isThrottled: null })
  if (!isRead) return
  const used = last === null ? null : reading.cpuSeconds - last.reading.cpuSeconds
  // A counter that fell is of another process, which began anew.
  if ((elapsed !== null && elapsed < 0) || (used !== null && used < 0)) sidecar.first = null
  else if (last !== null && elapsed !== null && used !== null) {
    now.cores = used / elapsed
    now.ofCap = now.cpuLimitCores === null ? null : now.cores / now.cpuLimitCores
    appendPoint(series.cores, [seconds, now.cores], most)
    const throttled = subtract(reading.throttledPeriods, last.reading.throttledPeriods)
    now.isThrottled = throttled === null ? null : throttled > 0
    if (now.isThrottled) appendStretch(series.throttled, [last.seconds, seconds], most)
  }
  if (sidecar.first === null && subtract(reading.throttledPeriods, reading.periods) !== null) sidecar.first = reading
  now.throttledFraction = findThrottled(sidecar.first, reading) ?? now.throttledFraction
  sidecar.last = { reading, seconds }
}

/** Finds the share of throttled periods between two readings; null: not known. @param {Reading | null} first @param {Reading} reading */
function findThrottled(first, reading) {
  const periods = subtract(reading.periods, first?.periods)
  const throttled = subtract(reading.throttledPeriods, first?.throttledPeriods)
  return periods === null || throttled === null || periods <= 0 ? null : throttled / periods
}
