import { BenchError } from './errors.js'
import { sleep } from './wait.js'

// Slewing moves a clock by at most this share of the time that passes; setting it moves it at once, and a step up to STEP_MS is
// tolerated.
const STEP_MS = 250
const SLEW = 0.001

/**
 * Reads the time in epoch milliseconds, with a finer resolution than Date.now(): the wall clock's time when this process started, and
 * the time since then. It does not jump when the wall clock is set.
 * @returns {number}
 */
export function readNowMs() {
  return performance.timeOrigin + performance.now()
}

/**
 * Starts a clock that begins at the wall clock's time, and runs evenly when the wall clock is set.
 * @returns now: the time of this clock; assertSteady: throws if the wall clock was set far; waitUntil: waits for a time of this clock
 */
export function startClock() {
  const startedMs = performance.now()
  const aheadMs = Date.now() - startedMs
  const now = () => performance.now() + aheadMs
  return {
    /** Epoch milliseconds. */
    now,
    /** @throws {BenchError} if the wall clock, which other processes read, was set by more than STEP_MS since the start */
    assertSteady() {
      const movedMs = Date.now() - now()
      if (Math.abs(movedMs) <= STEP_MS + SLEW * (performance.now() - startedMs)) return
      const moved = `${movedMs < 0 ? 'back' : 'forward'} by ${(Math.abs(movedMs) / 1000).toFixed(1)} s`
      throw new BenchError(
        `the clock of this machine was set ${moved} while a window was observed, so it cannot be told what is in the window: set the clock before a run, or have it slewed`,
      )
    },
    /**
     * Waits until a moment of this clock, if it has not passed.
     * @param {number} epochMs
     * @param {AbortSignal} [signal]
     * @throws the signal's reason when it aborts
     */
    async waitUntil(epochMs, signal) {
      // A timer may fire a little before its time.
      for (let left = epochMs - now(); left > 0; left = epochMs - now()) await sleep(left, signal)
    },
  }
}
