/**
 * What a trial's samples say of each sidecar over time. Pure.
 * @import { SampleLine, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from './charts/over-time.js'
 */

// The edges of the window fall between two samples: over a few milliseconds a rate says nothing.
const ELAPSED_LEAST_SECONDS = 0.05

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
      /** @type {{ seconds: number, atSeconds: number, cpuSeconds: number, throttledPeriods: number | null } | null} */
      let last = null
      for (const { epochMs, processes: readings } of samples) {
        const { atSeconds, cpuSeconds, throttledPeriods = null, anonBytes } = readings[name] ?? {}
        if (!isRead(atSeconds) || !isRead(cpuSeconds)) continue
        const seconds = (epochMs - window.startMs) / 1000
        if (isRead(anonBytes)) series.anonBytes.push([seconds, anonBytes])
        const elapsed = last === null ? Number.POSITIVE_INFINITY : atSeconds - last.atSeconds
        if (elapsed < ELAPSED_LEAST_SECONDS) continue
        if (last !== null) {
          series.cores.push([seconds, (cpuSeconds - last.cpuSeconds) / elapsed])
          if (isMore(throttledPeriods, last.throttledPeriods)) addStretch(series.throttled, last.seconds, seconds)
        }
        last = { seconds, atSeconds, cpuSeconds, throttledPeriods }
      }
      return series
    })
}

/**
 * @param {number | null | undefined} value
 * @returns {value is number}
 */
function isRead(value) {
  return Number.isFinite(value)
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
