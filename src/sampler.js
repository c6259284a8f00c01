import { waitUntil } from './lib/wait.js'

/**
 * @import { Handle, Reading } from './types.ts'
 */

const PERIOD_MS = 100

/**
 * One moment: the reading of every process, in the order of the processes; and which edge of the window it is, if one.
 * @typedef {{ epochMs: number, edge?: 'start' | 'end', readings: Reading[] }} Sample
 */

/**
 * Reads every process at 10 Hz until it is stopped. Samples stay in memory: nothing is written while it runs.
 * @param {Handle[]} processes
 * @param {AbortSignal} signal stops it
 * @returns {Promise<Sample[]>}
 */
export async function sampleUntil(processes, signal) {
  /** @type {Sample[]} */
  const samples = []
  let next = Date.now()
  while (!signal.aborted) {
    samples.push(takeSample(processes))
    // A late sample does not shift those after it.
    next = Math.max(next + PERIOD_MS, Date.now())
    await waitUntil(next, signal).catch(() => {})
  }
  return samples
}

/**
 * @param {Handle[]} processes
 * @returns {Sample}
 */
export function takeSample(processes) {
  return { epochMs: Date.now(), readings: processes.map(p => p.read()) }
}

/**
 * Whether the samples of a window are complete.
 * @param {Sample[]} samples
 * @param {{ startMs: number, endMs: number }} window
 */
export function checkSamples(samples, { startMs, endMs }) {
  const inside = samples.filter(({ epochMs }) => epochMs >= startMs && epochMs <= endMs)
  const moments = [startMs, ...inside.map(s => s.epochMs), endMs]
  const gaps = moments.slice(1).map((at, i) => at - moments[i])
  const isMissing = (/** @type {Reading} */ reading) => Object.values(reading).some(value => Number.isNaN(value))
  return {
    count: inside.length,
    largestGapSeconds: Math.max(...gaps) / 1000,
    missing: inside.flatMap(s => s.readings).filter(isMissing).length,
  }
}
