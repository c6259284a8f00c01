import { BenchError, OWN_CODES } from '../lib/errors.js'
import { sendOnce } from './send-once.js'

/**
 * Asks many sidecars whether they have a configuration yet: by a new connection to the sidecar's own listener, for a host
 * that only this configuration routes. A kept connection lies (Envoy serves it by the old filter chain), and so may an
 * administration page.
 */
/** @import { Expected, ConfigurationTimes } from '../model/types.ts' @import { Answer } from './send.js' */

/** Requests per second to all sidecars together: more of them slow down what is measured. */
export const ASKED_PER_SECOND = 400
/** The header in which an application that has a name says it. */
const SERVED_BY = 'x-served-by'
const TICK_MS = 5
const BURST_SECONDS = 0.05
const ANSWER_SECONDS = 1
// Intervals that grow with the wait: a fast phase needs resolution, and asking costs the sidecar, too.
const OFTEN_UP_TO_MS = 300
const OFTEN_MS = 10
const SELDOM_MS = 50
// Share of the budget for asking again where many wait: a budget that is used up may be what is measured, and so may the CPU
// time of asking.
const SHARE_MOST = 0.5

/** @param {{ perSecond?: number, ask?: typeof sendOnce, now?: () => number }} [options] perSecond: of all sidecars */
export function createConvergence({ perSecond = ASKED_PER_SECOND, ask = sendOnce, now = readNowMs } = {}) {
  /** @typedef {Expected & { fromMs: number, lastAskMs: number, lastAnswerMs: number, isInFlight: boolean, backendNames: Set<string>, settle: () => void, fail: (error: Error) => void, result: ConfigurationTimes }} Waiting fromMs: asked since */
  /** Those that wait, in the order in which they were asked last. @type {Set<Waiting>} */
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
      // The fewer wait, the more of the budget each has.
      const everyMs = one.lastAskMs - one.fromMs < OFTEN_UP_TO_MS ? OFTEN_MS : SELDOM_MS
      const dueMs = one.lastAnswerMs + Math.max(everyMs, 1000 / (SHARE_MOST * (perSecond / waiting.size)))
      if (one.isInFlight || atMs < dueMs) continue
      tokens--
      askOnce(one)
    }
  }, TICK_MS)

  /** @param {Waiting} one */
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
      // Other answers, or none, say nothing of its configuration.
      if (answer.status === 404 || (one.isStarting && answer.code === 'ECONNREFUSED')) result.lastNoMs = sentMs
      if (OWN_CODES.includes(answer.code)) result.unsent = answer.message
      else delete result.unsent
      one.lastAnswerMs = now()
    }
  }

  return {
    /**
     * Asks from now on until it is answered, or asking ends.
     * @param {Expected} expected @returns {Promise<ConfigurationTimes>}
     * @throws {BenchError} when it was asked over a kept connection, or answered before its time
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
    giveUp() {
      for (const one of waiting) one.settle()
      waiting.clear()
    },
    /** Ends asking. */
    close() {
      clearInterval(timer)
      this.giveUp()
    },
  }
}

/** Says whether an answer is the application's. @param {Omit<Answer, 'localPort' | 'isReused'>} answer @param {string} nonce */
export function isEchoOf({ status, body, headers }, nonce) {
  return status === 200 && body === nonce && headers['x-nonce'] === nonce
}

/** Reads epoch milliseconds, finer than those of Date.now(). */
export function readNowMs() {
  return performance.timeOrigin + performance.now()
}
