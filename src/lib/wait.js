import { setTimeout as delay } from 'node:timers/promises'
import { TimeoutError } from './errors.js'

// After a check that kept this thread busy, polling rests so many times as long, at most LONGEST_MS: else it would take the CPU from
// what is waited for.
const REST_TIMES = 9
const LONGEST_MS = 250

/**
 * Polls until the condition holds.
 * @param {() => boolean | Promise<boolean>} isDone
 * @param {Parameters<typeof pollInTime>[1] & { what: string }} options what: the condition in words, for the error
 * @throws {TimeoutError} if the deadline passes; an error of `isDone`; the signal's reason when it aborts
 */
export async function waitForCondition(isDone, { what, ...limit }) {
  if (!(await pollInTime(isDone, limit)))
    throw new TimeoutError(`timed out after ${limit.deadlineSeconds} s waiting for ${what}`)
}

/**
 * Polls until the condition holds or the deadline passes. It is checked at least once, and less often if checking keeps this
 * thread busy.
 * @param {() => boolean | Promise<boolean>} isDone
 * @param {{ deadlineSeconds: number, intervalMs?: number, signal?: AbortSignal }} options intervalMs: between two checks at least; 20 by
 *   default
 * @returns {Promise<boolean>} false: the deadline has passed
 * @throws an error of `isDone`; the signal's reason when it aborts
 */
export async function pollInTime(isDone, { deadlineSeconds, intervalMs = 20, signal }) {
  const deadline = performance.now() + deadlineSeconds * 1000
  for (;;) {
    const began = performance.now()
    const checking = isDone()
    const restMs = Math.min(REST_TIMES * (performance.now() - began), LONGEST_MS)
    if (await checking) return true
    signal?.throwIfAborted()
    if (performance.now() > deadline) return false
    await sleep(Math.max(intervalMs, restMs), signal)
  }
}

/**
 * Sleeps. Node's own timer rejects with "The operation was aborted" and hides the signal's reason in `cause`.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @throws the signal's reason when it aborts, or has aborted
 */
export async function sleep(ms, signal) {
  try {
    await delay(ms, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/**
 * Settles as a promise does, unless the signal aborts first. The work of the promise then continues.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 * @throws an error of the promise; the signal's reason when it aborts first
 */
export function withAbort(promise, signal) {
  return new Promise((/** @type {(value: T) => void} */ resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/**
 * Settles as a promise does; after `seconds`, calls `late` and settles as that does.
 * @template T, L
 * @param {Promise<T>} promise
 * @param {{ seconds: number, late: () => L | Promise<L>, signal?: AbortSignal }} options
 * @returns {Promise<T | L>}
 * @throws an error of `promise` or `late`; the signal's reason if it aborts before either
 */
export async function withTimeout(promise, { seconds, late, signal }) {
  const settled = new AbortController()
  const ending = signal ? AbortSignal.any([settled.signal, signal]) : settled.signal
  const timer = sleep(seconds * 1000, ending).then(late)
  timer.catch(() => {})
  try {
    return await Promise.race([promise, timer])
  } finally {
    settled.abort()
  }
}

/**
 * Waits until a moment of the wall clock, if it has not passed.
 * @param {number} epochMs
 * @param {AbortSignal} [signal]
 * @throws the signal's reason when it aborts during the wait
 */
export async function waitUntilEpoch(epochMs, signal) {
  const left = epochMs - Date.now()
  if (left > 0) await sleep(left, signal)
}
