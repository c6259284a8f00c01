/**
 * @import { Phase, Watcher } from './events.js'
 */

/** @typedef {ReturnType<typeof createClock>} Clock */

/**
 * The phases of a trial: tells each as it begins, and how long it took.
 * @param {Watcher['watch']} watch
 */
export function createClock(watch) {
  /** @type {Record<string, number>} */
  const seconds = {}
  let last = performance.now()
  /** @type {Phase} */
  let now = 'starting'
  return {
    /** That it is in. */
    phase: () => now,
    /** By the name of what took them. */
    seconds,
    enter(/** @type {Phase} */ phase) {
      now = phase
      watch?.({ kind: 'phase', phase, atMs: Date.now() })
    },
    /** Names what has gone on since the last lap. */
    lap(/** @type {string} */ name) {
      const atMs = performance.now()
      seconds[name] = (atMs - last) / 1000
      last = atMs
    },
  }
}
