import { setMaxListeners } from 'node:events'
import { sleep } from '../lib/wait.js'

/**
 * Calls `act` for each item, at most `concurrency` calls at a time. The first failure aborts the signal of the other calls, and no
 * more items begin.
 * @template T
 * @param {object} options
 * @param {T[]} options.items
 * @param {number} options.concurrency
 * @param {number} [options.perSecond] the most items that begin in a second; absent: no limit
 * @param {AbortSignal} options.signal
 * @param {(item: T, signal: AbortSignal) => Promise<void>} act
 * @throws the first failure of `act`, once all calls have settled; the signal's reason when it aborts
 */
export async function runForEach({ items, concurrency, perSecond = Number.POSITIVE_INFINITY, signal }, act) {
  const remaining = items.entries()
  const startMs = performance.now()
  const runRemaining = async (/** @type {AbortSignal} */ taskSignal) => {
    // All tasks share the iterator: each takes the next item that no other has taken.
    for (const [i, item] of remaining) {
      taskSignal.throwIfAborted()
      const earlyMs = startMs + (1000 * i) / perSecond - performance.now()
      if (earlyMs > 0) await sleep(earlyMs, taskSignal)
      await act(item, taskSignal)
    }
  }
  await runConcurrently(signal, Array(concurrency).fill(runRemaining))
  signal.throwIfAborted()
}

/**
 * Runs tasks at the same time. The first failure aborts the signal of the others.
 * @template T
 * @param {AbortSignal} signal
 * @param {((signal: AbortSignal) => Promise<T>)[]} tasks
 * @returns {Promise<T[]>} in the order of the tasks
 * @throws the first failure, once all have settled; when `signal` aborts, that is what a task makes of it
 */
export async function runConcurrently(signal, tasks) {
  const failing = new AbortController()
  const taskSignal = AbortSignal.any([signal, failing.signal])
  // Every process and request of a task listens to the signal, and Node warns of a leak from 11 listeners on.
  setMaxListeners(0, taskSignal)
  const running = tasks.map(task => task(taskSignal))
  for (const task of running) task.catch(error => failing.abort(error))
  await Promise.allSettled(running)
  failing.signal.throwIfAborted()
  return Promise.all(running)
}
