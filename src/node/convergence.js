import { BenchError, OWN_CODES } from '../lib/errors.js'
import { sendOnce } from './send-once.js'

/**
 * Polls many sidecars until they have a configuration: by a new connection to the sidecar's own listener, for a host
 * that only this configuration routes. A kept connection misleads (Envoy serves it by the old filter chain), and an
 * administration page may.
 */
/** @import { Expected, ConfigurationTimes } from '../model/types.ts' @import { Answer } from './send.js' */

/** Requests per second to all sidecars together: more would slow down what is measured. */
export const ASKED_PER_SECOND = 400
/** The response header with the application's name, if it has one. */
const SERVED_BY = 'x-served-by'
const TICK_MS = 5
// At most this many seconds of unused budget are kept, so that no burst follows a pause.
const BURST_SECONDS = 0.05
const ANSWER_SECONDS = 1
// Poll intervals: short at first, for resolution; longer after that, since each request costs the sidecar CPU, too.
const OFTEN_UP_TO_MS = 300
const OFTEN_MS = 10
const SELDOM_MS = 50
// Share of the budget that polling uses at most when many wait: with all of it used, the budget or the CPU time of polling
// could be what is measured.
const SHARE_MOST = 0.5

/**
 * Starts the timer that polls every sidecar that waits, until `close`.
 * @param {{ perSecond?: number, ask?: typeof sendOnce, now?: () => number }} [options] perSecond: requests to all sidecars together;
 *   now: epoch milliseconds
 */
export function createConvergence({ perSecond = ASKED_PER_SECOND, ask = sendOnce, now = readNowMs } = {}) {
  /** @typedef {Expected & { fromMs: number, lastAskMs: number, lastAnswerMs: number, isInFlight: boolean, backendNames: Set<string>, settle: () => void, fail: (error: Error) => void, result: ConfigurationTimes }} Waiting fromMs: the start of polling */
  /** Sidecars that wait, the one with the oldest request first. @type {Set<Waiting>} */
  const waiting = new Set()
  let tokens = 1
  let lastTickMs = now()
  let count = 0

  const timer = setInterval(() => {
    const atMs = now()
    tokens = Math.min(perSecond * BURST_SECONDS, tokens + (perSecond * (atMs - lastTickMs)) / 1000)
    lastTickMs = atMs
    for (const one of [...waiting]) {
      if (tokens < 1) break
      // The fewer sidecars wait, the more of the budget each has.
      const everyMs = one.lastAskMs - one.fromMs < OFTEN_UP_TO_MS ? OFTEN_MS : SELDOM_MS
      const dueMs = one.lastAnswerMs + Math.max(everyMs, 1000 / (SHARE_MOST * (perSecond / waiting.size)))
      if (one.isInFlight || atMs < dueMs) continue
      tokens--
      askOnce(one)
    }
  }, TICK_MS)

  /** Sends one request, and settles the wait if the answer is by the configuration. @param {Waiting} one */
  async function askOnce(one) {
    const { endpoint, host, name, result, backendNames, backends = 1 } = one
    waiting.delete(one)
    waiting.add(one)
    one.isInFlight = true
    result.asked++
    const nonce = `${name}-${++count}`
    const sentMs = now()
    one.lastAskMs = sentMs
    const request = { host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
    const answer = await ask(endpoint, request, { timeoutSeconds: ANSWER_SECONDS }).catch(error => error)
    one.isInFlight = false
    if (!waiting.has(one)) return
    if (answer.isReused) {
      waiting.delete(one)
      one.fail(new BenchError(`${name} was asked over a kept connection, which may be served by what it had before`))
    } else if (isEchoOf(answer, nonce)) {
      backendNames.add(`${answer.headers[SERVED_BY]}`)
      if (backends > 1) result.backends = backendNames.size
      if (backendNames.size < backends) return
      result.yesMs = now()
      waiting.delete(one)
      const earlyMs = result.sinceMs - result.yesMs
      if (earlyMs > 0)
        one.fail(new BenchError(`${name} had ${host} ${earlyMs} ms before it was to: a clock was set back`))
      else one.settle()
    } else {
      // Only a 404, or a refused connection of a sidecar that starts, shows that it lacks the configuration.
      if (answer.status === 404 || (one.isStarting && answer.code === 'ECONNREFUSED')) result.lastNoMs = sentMs
      if (OWN_CODES.includes(answer.code)) result.unsent = answer.message
      else delete result.unsent
      one.lastAnswerMs = now()
    }
  }

  return {
    /**
     * Polls a sidecar from now on until `backends` distinct names (1 by default) have answered, or polling ends.
     * @param {Expected} expected @returns {Promise<ConfigurationTimes>} yesMs null: polling ended first
     * @throws {BenchError} when a request went over a kept connection, or the answer came before sinceMs
     */
    expect: expected =>
      new Promise((resolve, reject) => {
        const fromMs = now()
        const { sinceMs = fromMs, backends = 1 } = expected
        const result = { sinceMs, lastNoMs: null, yesMs: null, asked: 0, ...(backends > 1 && { backends: 0 }) }
        const state = { fromMs, lastAskMs: fromMs, lastAnswerMs: -Infinity, isInFlight: false, backendNames: new Set() }
        waiting.add({ ...expected, ...state, result, settle: () => resolve(result), fail: reject })
      }),
    countWaiting: () => waiting.size,
    /** Resolves all that still wait, with yesMs null. */
    giveUp() {
      for (const one of waiting) one.settle()
      waiting.clear()
    },
    /** Stops the timer, and gives up. */
    close() {
      clearInterval(timer)
      this.giveUp()
    },
  }
}

/** Says whether the application answered: it echoes the nonce in body and header. @param {Omit<Answer, 'localPort' | 'isReused'>} answer @param {string} nonce */
export function isEchoOf({ status, body, headers }, nonce) {
  return status === 200 && body === nonce && headers['x-nonce'] === nonce
}

/** Reads epoch milliseconds, finer than those of Date.now(). */
export function readNowMs() {
  return performance.timeOrigin + performance.now()
}
