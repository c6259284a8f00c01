/**
 * What a trial's samples say of each sidecar over time. Pure.
 * @import { Reading, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from './charts/over-time.js'
 */

// The edges of the window fall between two samples: over a few milliseconds a rate says nothing.
const ELAPSED_LEAST_SECONDS = 0.05

/** A line of samples.jsonl. @typedef {{ epochMs: number, processes: Record<string, Reading> }} SampleLine */

/**
 * @param {{ record: Pick<TrialRecord, 'window' | 'processes'>, samples: SampleLine[] }} trial
 * @returns {SidecarSeries[]} one per sidecar; a moment with a number missing is left out
 */
export function describeSeries({ record, samples }) {
  const { window, processes } = record
  if (window === null) return []
  return processes
    .filter(({ role }) => role === 'sidecar')
    .map(({ service, role, capCores }) => {
      /** @type {SidecarSeries} */
      const series = { service, capCores, cores: [], anonBytes: [], throttled: [] }
      const name = `${service}-${role}`
      /** @type {(Reading & { seconds: number }) | null} */
      let last = null
      for (const { epochMs, processes: readings } of samples) {
        const reading = readings[name]
        if (!Number.isFinite(reading?.cpuSeconds) || !Number.isFinite(reading.atSeconds)) continue
        const seconds = (epochMs - window.startMs) / 1000
        if (Number.isFinite(reading.anonBytes)) series.anonBytes.push([seconds, Number(reading.anonBytes)])
        const elapsed = last === null ? Number.POSITIVE_INFINITY : reading.atSeconds - last.atSeconds
        if (elapsed < ELAPSED_LEAST_SECONDS) continue
        if (last !== null) {
          series.cores.push([seconds, (reading.cpuSeconds - last.cpuSeconds) / elapsed])
          if (isMore(reading.throttledPeriods, last.throttledPeriods))
            addStretch(series.throttled, last.seconds, seconds)
        }
        last = { ...reading, seconds }
      }
      return series
    })
}

/**
 * @param {number | null} now
 * @param {number | null} before
 */
function isMore(now, before) {
  return now !== null && before !== null && now > before
}

/**
 * @param {[number, number][]} stretches
 * @param {number} from
 * @param {number} to
 */
function addStretch(stretches, from, to) {
  const last = stretches.at(-1)
  if (last && last[1] === from) last[1] = to
  else stretches.push([from, to])
}
