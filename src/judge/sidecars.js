import { appendPoint, appendStretch, POINTS_MOST } from '../lib/bounded.js'
import { computeRise, finiteOrNull } from '../lib/counters.js'

/** The CPU and memory that each sidecar uses during a trial, from sample to sample. Pure. */
/** @import { ProcessSpec, Reading, Sample } from '../model/types.ts' */

// An edge of the window may be read right after a sample: the rate of CPU over so short a time says nothing.
const APART_LEAST_SECONDS = 0.05

/**
 * A sidecar now. A member is null if it could not be read.
 * @typedef {object} SidecarNow
 * @property {string} service
 * @property {number | null} cores between the last two readings
 * @property {number | null} cpuLimitCores null: no cap
 * @property {number | null} ofCap cores over the cap, a fraction; null also: no cap
 * @property {boolean | null} isThrottled between the last two readings
 * @property {number | null} throttledFraction of the periods since the first sample of the trial, or of the process if another one
 *   began; it keeps its last value while the periods cannot be read
 * @property {number | null} anonBytes
 * @property {number | null} workingSetBytes
 */

/**
 * One sidecar over a trial.
 * @typedef {object} SidecarSeries
 * @property {string} service
 * @property {number | null} cpuLimitCores null: no cap
 * @property {[number, number][]} cores at seconds from the start of the window
 * @property {[number, number][]} anonBytes likewise
 * @property {[number, number][]} throttled [from, to] in seconds from the start of the window
 */

/**
 * A sidecar that is followed through the samples.
 * @typedef {object} TrackedSidecar
 * @property {number} readingIndex of its reading in a sample
 * @property {SidecarNow} now
 * @property {SidecarSeries} series
 * @property {Reading | null} first the first reading with periods
 * @property {{ reading: Reading, seconds: number } | null} last the last reading with CPU time
 */

/**
 * Creates a tracker that follows the sidecars of a trial, sample by sample. The first sample after the start or after `clear`
 * determines which sidecars there are.
 * @param {{ most?: number }} [options] most: the largest number of points of a series, beyond which older ones are thinned;
 *   POINTS_MOST by default
 * @returns clear: forgets the sidecars; sample: adds a sample; snapshot: returns each sidecar as it is now; series: returns
 *   each sidecar over the trial; both return [] before the first sample
 */
export function createSidecarTracker({ most = POINTS_MOST } = {}) {
  /** @type {TrackedSidecar[]} */
  let tracked = []
  return {
    clear() {
      tracked = []
    },
    /**
     * Adds a sample of all processes.
     * @param {{ specs: Pick<ProcessSpec, 'service' | 'role' | 'cpuLimitCores'>[], windowStartMs: number,
     *   sample: Pick<Sample, 'epochMs'> & { readings: (Reading | undefined)[] } }} sampled sample: a reading is undefined if
     *   the process could not be read
     */
    sample({ specs, sample, windowStartMs }) {
      if (tracked.length === 0) {
        tracked = specs.flatMap((spec, i) => (spec.role === 'sidecar' ? [createTrackedSidecar(spec, i)] : []))
      }
      const seconds = (sample.epochMs - windowStartMs) / 1000
      for (const sidecar of tracked)
        addReading({ sidecar, reading: sample.readings[sidecar.readingIndex], seconds, most })
    },
    snapshot: () => tracked.map(({ now }) => ({ ...now })),
    /** Returns the arrays themselves, which keep growing: copy them before storing. */
    series: () => tracked.map(({ series }) => series),
  }
}

/**
 * Creates a tracked sidecar of which nothing was read yet.
 * @param {Pick<ProcessSpec, 'service' | 'cpuLimitCores'>} spec
 * @param {number} readingIndex of its reading in a sample
 * @returns {TrackedSidecar}
 */
function createTrackedSidecar({ service, cpuLimitCores }, readingIndex) {
  const unknown = { cores: null, ofCap: null, isThrottled: null, throttledFraction: null }
  return {
    readingIndex,
    now: { service, cpuLimitCores, ...unknown, anonBytes: null, workingSetBytes: null },
    series: { service, cpuLimitCores, cores: [], anonBytes: [], throttled: [] },
    first: null,
    last: null,
  }
}

/**
 * Adds a reading to a tracked sidecar. A reading within APART_LEAST_SECONDS of the last one is ignored. One that is undefined, or
 * lacks its time or its CPU time, makes `cores`, `ofCap` and `isThrottled` null. One whose counters fell begins a new process.
 * @param {{ sidecar: TrackedSidecar, reading: Reading | undefined, seconds: number, most: number }} options sidecar: is changed;
 *   seconds: from the start of the window; most: points of a series
 */
function addReading({ sidecar, reading, seconds, most }) {
  const { now, series, last } = sidecar
  const isRead = reading !== undefined && Number.isFinite(reading.atSeconds) && Number.isFinite(reading.cpuSeconds)
  const elapsed = isRead && last !== null ? reading.atSeconds - last.reading.atSeconds : null
  // The kubelet's counters stay the same for many samples: this does not mean that nothing was used.
  if (elapsed !== null && elapsed >= 0 && elapsed < APART_LEAST_SECONDS) return

  now.anonBytes = finiteOrNull(reading?.anonBytes)
  now.workingSetBytes = finiteOrNull(reading?.workingSetBytes)
  if (now.anonBytes !== null) appendPoint(series.anonBytes, [seconds, now.anonBytes], most)

  Object.assign(now, { cores: null, ofCap: null, isThrottled: null })
  if (!isRead) return
  if (last !== null) {
    // A counter that fell is of another process, which began anew.
    const { atSeconds, cpuSeconds } = last.reading
    const isNewProcess = reading.atSeconds < atSeconds || reading.cpuSeconds < cpuSeconds
    if (isNewProcess) sidecar.first = null
    else addUse({ sidecar, reading, last, seconds, most })
  }
  const hasPeriods = computeRise(reading.throttledPeriods, reading.periods) !== null
  if (sidecar.first === null && hasPeriods) sidecar.first = reading
  now.throttledFraction = computeThrottledSinceFirst(sidecar.first, reading) ?? now.throttledFraction
  sidecar.last = { reading, seconds }
}

/**
 * Adds the CPU that a tracked sidecar used between two readings of one process.
 * @param {{ sidecar: TrackedSidecar, reading: Reading, last: NonNullable<TrackedSidecar['last']>, seconds: number, most: number }}
 *   options sidecar: is changed; seconds: from the start of the window; most: points of a series
 */
function addUse({ sidecar: { now, series }, reading, last, seconds, most }) {
  now.cores = (reading.cpuSeconds - last.reading.cpuSeconds) / (reading.atSeconds - last.reading.atSeconds)
  now.ofCap = now.cpuLimitCores === null ? null : now.cores / now.cpuLimitCores
  appendPoint(series.cores, [seconds, now.cores], most)
  const throttled = computeRise(reading.throttledPeriods, last.reading.throttledPeriods)
  now.isThrottled = throttled === null ? null : throttled > 0
  if (now.isThrottled) appendStretch(series.throttled, [last.seconds, seconds], most)
}

/**
 * Computes the share of throttled periods between two readings.
 * @param {Reading | null} first
 * @param {Reading} reading
 * @returns {number | null} null: there is no first reading, no period passed, or the periods could not be read
 */
function computeThrottledSinceFirst(first, reading) {
  const periods = computeRise(reading.periods, first?.periods)
  const throttled = computeRise(reading.throttledPeriods, first?.throttledPeriods)
  return periods === null || throttled === null || periods <= 0 ? null : throttled / periods
}
