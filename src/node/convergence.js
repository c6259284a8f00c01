import { readNowMs } from '../lib/clock.js'
import { BenchError, OWN_CODES } from '../lib/errors.js'
import { sendLightRequest } from './send-light-request.js'

/**
 * Polls many sidecars until they have a configuration: by a new connection to the sidecar's own listener, for a host that only
 * this configuration routes. A kept connection would mislead (Envoy serves it by the old filter chain), and so could an
 * administration page.
 */
/**
 * @import { ConfigurationTimes, Expected } from '../model/types.ts'
 * @import { Response } from './send.js'
 */

/** Requests per second to all sidecars together: more would slow down what is measured. */
export const POLLS_PER_SECOND = 400
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
 * The state of a sidecar that waits for its configuration.
 * @typedef {object} Polling
 * @property {number} fromMs when polling began
 * @property {number} lastPollMs when the last request was sent; `fromMs` before the first
 * @property {number} lastAnswerMs when the last request was answered without the configuration, or failed; -Infinity: none was
 * @property {boolean} isInFlight a request is not yet answered
 * @property {Set<string>} backendNames that have answered
 * @property {() => void} settle resolves the wait with the result
 * @property {(error: Error) => void} fail rejects the wait
 * @property {ConfigurationTimes} result
 */
/** @typedef {Expected & Polling} Waiting */

/**
 * Creates a poller and starts its timer. It polls every sidecar that waits for its configuration, until `close`: the timer keeps
 * this process alive.
 * @param {object} [options]
 * @param {number} [options.perSecond] the most requests to all sidecars together; POLLS_PER_SECOND by default
 * @param {typeof sendLightRequest} [options.send] sends one request; `sendLightRequest` by default
 * @param {() => number} [options.now] epoch milliseconds; `readNowMs` by default
 * @returns expect: polls a sidecar until it has its configuration; countWaiting: how many wait; giveUp: resolves all that wait,
 *   with yesMs null; close: stops the timer and gives up
 */
export function createConvergencePoller({
  perSecond = POLLS_PER_SECOND,
  send = sendLightRequest,
  now = readNowMs,
} = {}) {
  /** Sidecars that wait, the one with the oldest request first. @type {Set<Waiting>} */
  const waiting = new Set()
  let tokens = 1
  let lastTickMs = now()
  let count = 0

  const timer = setInterval(() => {
    const atMs = now()
    tokens = Math.min(perSecond * BURST_SECONDS, tokens + (perSecond * (atMs - lastTickMs)) / 1000)
    lastTickMs = atMs
    for (const sidecar of [...waiting]) {
      if (tokens < 1) break
      // The fewer sidecars wait, the more of the budget each has.
      const everyMs = sidecar.lastPollMs - sidecar.fromMs < OFTEN_UP_TO_MS ? OFTEN_MS : SELDOM_MS
      const dueMs = sidecar.lastAnswerMs + Math.max(everyMs, 1000 / (SHARE_MOST * (perSecond / waiting.size)))
      if (sidecar.isInFlight || atMs < dueMs) continue
      tokens--
      pollSidecar(sidecar)
    }
  }, TICK_MS)

  /**
   * Sends one request, and settles the wait if the answer shows the configuration. It fails the wait if the request went over a
   * kept connection, and else notes in the result what the answer shows. It does not throw.
   * @param {Waiting} sidecar
   */
  async function pollSidecar(sidecar) {
    const { endpoint, host, name, result } = sidecar
    waiting.delete(sidecar)
    waiting.add(sidecar)
    sidecar.isInFlight = true
    result.asked++
    const nonce = `${name}-${++count}`
    const sentMs = now()
    sidecar.lastPollMs = sentMs
    const request = { host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
    const answer = await send(endpoint, request, { timeoutSeconds: ANSWER_SECONDS }).catch(error => error)
    sidecar.isInFlight = false
    if (!waiting.has(sidecar)) return
    if (answer.isReused) {
      waiting.delete(sidecar)
      sidecar.fail(
        new BenchError(`${name} was asked over a kept connection, which may be served by what it had before`),
      )
    } else if (isEchoOf(answer, nonce)) acceptEcho(sidecar, `${answer.headers[SERVED_BY]}`)
    else {
      // Only a 404, or a refused connection of a sidecar that starts, shows that it lacks the configuration.
      if (answer.status === 404 || (sidecar.isStarting && answer.code === 'ECONNREFUSED')) result.lastNoMs = sentMs
      if (OWN_CODES.includes(answer.code)) result.unsent = answer.message
      else delete result.unsent
      sidecar.lastAnswerMs = now()
    }
  }

  /**
   * Counts the backend that has answered, and settles the wait once enough have; it fails the wait if that was before `sinceMs`.
   * @param {Waiting} sidecar
   * @param {string} backendName
   */
  function acceptEcho(sidecar, backendName) {
    const { host, name, result, backendNames, backends = 1 } = sidecar
    backendNames.add(backendName)
    delete result.unsent
    if (backends > 1) result.backends = backendNames.size
    // A sidecar that serves takes the next backend in turn: it is polled again at the next tick.
    if (backendNames.size < backends) return
    result.yesMs = now()
    waiting.delete(sidecar)
    const earlyMs = result.sinceMs - result.yesMs
    if (earlyMs > 0)
      sidecar.fail(new BenchError(`${name} had ${host} ${earlyMs} ms before it was to: a clock was set back`))
    else sidecar.settle()
  }

  return {
    /**
     * Polls a sidecar from now on until `backends` distinct names (1 by default) have answered, or `giveUp` or `close` is called. It
     * continues after any other answer and any failure; only a 404, or a refused connection of a sidecar that starts, sets
     * `lastNoMs`.
     * @param {Expected} expected
     * @returns {Promise<ConfigurationTimes>} yesMs null: polling ended first; unsent: why this machine could not send the last request
     * @throws {BenchError} if a request went over a kept connection, or the answer came before `sinceMs`
     */
    expect: expected =>
      new Promise((resolve, reject) => {
        const fromMs = now()
        const { sinceMs = fromMs, backends = 1 } = expected
        const result = { sinceMs, lastNoMs: null, yesMs: null, asked: 0, ...(backends > 1 && { backends: 0 }) }
        const state = { fromMs, lastPollMs: fromMs, lastAnswerMs: -Infinity, isInFlight: false, result }
        waiting.add({ ...expected, ...state, backendNames: new Set(), settle: () => resolve(result), fail: reject })
      }),
    countWaiting: () => waiting.size,
    giveUp() {
      for (const sidecar of waiting) sidecar.settle()
      waiting.clear()
    },
    close() {
      clearInterval(timer)
      this.giveUp()
    },
  }
}

/**
 * Says whether the application answered: with status 200, and the nonce in body and header.
 * @param {Omit<Response, 'localPort' | 'isReused'>} answer
 * @param {string} nonce
 * @returns {boolean}
 */
export function isEchoOf({ status, body, headers }, nonce) {
  return status === 200 && body === nonce && headers['x-nonce'] === nonce
}
