/**
 * What is told of a trial while it runs, and how long its phases take.
 * @import { Deployment } from '../model/types.ts'
 * @import { Phase } from '../live/state.js'
 * @import { Bench } from './start-services.js'
 */

const COUNT_EVERY_MS = 1000

/**
 * Tells how far the load is, once a second, until it is stopped. Nothing is asked where nobody watches.
 * @param {{ bench: Bench, generator: Deployment | null }} options
 * @returns {() => void} stops it
 */
export function followLoad({ bench, generator }) {
  const { watch, load } = bench
  const [process] = generator?.processes ?? []
  if (!watch || !process?.spec.admin) return () => {}
  let isAsking = false
  const timer = setInterval(async () => {
    if (isAsking) return
    isAsking = true
    const progress = await load.readProgress(process.readAdmin).catch(() => null)
    if (progress) watch({ kind: 'counted', ...progress, atMs: Date.now() })
    isAsking = false
  }, COUNT_EVERY_MS)
  return () => clearInterval(timer)
}

/**
 * Says each phase once, to who watches.
 * @param {Bench} bench
 */
export function createPhases({ watch }) {
  return (/** @type {Phase} */ phase) => watch?.({ kind: 'phase', phase, atMs: Date.now() })
}

/** Seconds of each phase, by its name. */
export function createStopwatch() {
  /** @type {Record<string, number>} */
  const seconds = {}
  let last = performance.now()
  return {
    seconds,
    lap(/** @type {string} */ phase) {
      const now = performance.now()
      seconds[phase] = (now - last) / 1000
      last = now
    },
  }
}
