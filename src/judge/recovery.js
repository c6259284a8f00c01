/**
 * How long after a burst requests are answered as before it. Pure.
 * @import { LoadPoint, TrialRecord } from '../model/types.ts'
 */

// As before: a p99 of at most twice that before the burst, or as little more as a scheduler can make.
const TIMES_MOST = 2
const MORE_MOST_MS = 5
// Nearly all requests were sent that were due: none waited for a free user.
const RATE_LEAST = 0.95

/**
 * The time from the end of the burst to the start of the first piece of the window from which on every piece is
 * answered as before the burst; null where there is none, or no burst.
 * @param {Pick<TrialRecord, 'trial' | 'load'>} record
 * @returns {number | null} seconds; 0: it never got worse than that after the burst
 */
export function recoverySeconds({ trial, load }) {
  const { burst, ratePerSecond = 0 } = trial.arm.load
  const series = load?.series ?? null
  if (burst === null || series === null) return null
  const before = series.filter(p => p.atSeconds + p.seconds <= burst.beginsSeconds).flatMap(p => p.p99Ms ?? [])
  if (before.length === 0) return null
  const limitMs = Math.max(TIMES_MOST * Math.max(...before), Math.min(...before) + MORE_MOST_MS)
  const endSeconds = burst.beginsSeconds + burst.seconds
  const isAsBefore = (/** @type {LoadPoint} */ { count, seconds, p99Ms }) =>
    p99Ms !== null && p99Ms <= limitMs && count >= RATE_LEAST * ratePerSecond * seconds
  const after = series.filter(p => p.atSeconds >= endSeconds)
  const lastBad = after.findLastIndex(p => !isAsBefore(p))
  const first = after[lastBad + 1]
  return first ? first.atSeconds - endSeconds : null
}
