import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Does something with each item, a few at a time. The first failure ends the others, and nothing goes on after it returns.
 * @template T
 * @param {{ items: T[], lanes: number, perSecond?: number, signal: AbortSignal }} options lanes: at a time; perSecond: the
 *   most that are begun; absent: no limit
 * @param {(item: T, signal: AbortSignal) => Promise<void>} act
 */
export async function inLanes({ items, lanes, perSecond = Number.POSITIVE_INFINITY, signal }, act) {
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  // Each lane's request listens to it.
  setMaxListeners(0, either)
  const left = items.entries()
  const startMs = performance.now()
  const running = Array.from({ length: lanes }, async () => {
    for (const [i, item] of left) {
      either.throwIfAborted()
      const earlyMs = startMs + (1000 * i) / perSecond - performance.now()
      if (earlyMs > 0) await wait(earlyMs, undefined, { signal: either })
      await act(item, either)
    }
  })
  await Promise.allSettled(running.map(lane => lane.catch(error => failing.abort(error))))
  either.throwIfAborted()
}
