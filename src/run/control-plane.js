import { finiteOrNull } from '../judge/describe-window.js'

/**
 * Reads what the control plane of a rollout uses: the sum of its shards.
 * @import { Handle, Observation, Sample, Target } from '../model/types.ts'
 */

/** Requests to a control plane at a time. */
export const LANES = 4

/** Reads the shards until the reading is ended. @param {Target} target @param {Handle[]} shards none where nothing has to run */
export function observeControl(target, shards) {
  const ending = new AbortController()
  const startMs = Date.now()
  const window = { startMs, endMs: startMs + 24 * 3600 * 1000 }
  const seen = shards.length > 0 ? target.observe(shards, { window, signal: ending.signal }) : null
  // Its failure is told at the end.
  seen?.catch(() => {})
  return {
    /** @returns {Promise<Observation | null>} */
    async end() {
      ending.abort()
      return seen
    },
  }
}

/** Reads the counters of the shards and their limits as of now. @param {Target} target @param {Handle[]} shards */
export async function lookAtControl(target, shards) {
  const nowMs = Date.now()
  const window = { startMs: nowMs, endMs: nowMs }
  return (await target.observe(shards, { window, signal: new AbortController().signal })).start
}

/** Reads the shards once, at the edge of a phase. @param {Target} target @param {Handle[]} shards */
export async function readControl(target, shards) {
  if (shards.length === 0) return null
  const start = await lookAtControl(target, shards)
  if (!start) return null
  const each = start.sample.readings.map(({ cpuSeconds, throttledPeriods, throttledSeconds }, i) => ({
    cpuSeconds: finiteOrNull(cpuSeconds),
    throttledPeriods: finiteOrNull(throttledPeriods),
    throttledSeconds: finiteOrNull(throttledSeconds),
    workers: shards[i].spec.workers,
  }))
  return { ...describeReading(start.sample), each }
}

/** @param {Sample} sample of the shards */
export function describeReading({ epochMs, readings }) {
  const sum = (/** @type {'cpuSeconds' | 'anonBytes' | 'peakBytes'} */ name) => {
    const values = readings.flatMap(reading => finiteOrNull(reading[name]) ?? [])
    return values.length < readings.length ? null : values.reduce((total, value) => total + value, 0)
  }
  return { epochMs, cpuSeconds: sum('cpuSeconds'), anonBytes: sum('anonBytes'), peakBytes: sum('peakBytes') }
}
