import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Acts on each item, on `lanes` items at a time. The first failure aborts the signal of the others.
 * @template T
 * @param {{ items: T[], lanes: number, perSecond?: number, signal: AbortSignal }} options perSecond: the largest number of
 *   items that begin in a second; absent: no limit
 * @param {(item: T, signal: AbortSignal) => Promise<void>} act acts on one item until the signal aborts
 * @throws the first failure of `act`; the signal's reason when it aborts
 */
export async function runInLanes({ items, lanes, perSecond = Number.POSITIVE_INFINITY, signal }, act) {
  const remaining = items.entries()
  const startMs = performance.now()
  const runLane = async (/** @type {AbortSignal} */ either) => {
    for (const [i, item] of remaining) {
      either.throwIfAborted()
      const earlyMs = startMs + (1000 * i) / perSecond - performance.now()
      if (earlyMs > 0) await wait(earlyMs, undefined, { signal: either })
      await act(item, either)
    }
  }
  await runConcurrently(signal, Array(lanes).fill(runLane))
  signal.throwIfAborted()
}

/**
 * Runs tasks at the same time. The first failure aborts the signal of the others.
 * @template T
 * @param {AbortSignal} signal
 * @param {((signal: AbortSignal) => Promise<T>)[]} tasks
 * @returns {Promise<T[]>} in the order of the tasks
 * @throws the first failure, when all have settled
 */
export async function runConcurrently(signal, tasks) {
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  // Every process and request of a task listens to the signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, either)
  const running = tasks.map(task => task(either))
  for (const task of running) task.catch(error => failing.abort(error))
  await Promise.allSettled(running)
  failing.signal.throwIfAborted()
  return Promise.all(running)
}
