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
 * The state of a wait for the configuration of a sidecar.
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
/** @typedef {Expected & Polling} Wait */

/**
 * Creates a poller and starts its timer. It polls every sidecar whose configuration is waited for, until `close`: the timer keeps
 * this process alive.
 * @param {object} [options]
 * @param {number} [options.perSecond] the most requests to all sidecars together; POLLS_PER_SECOND by default
 * @param {typeof sendLightRequest} [options.send] sends one request; `sendLightRequest` by default
 * @param {() => number} [options.now] epoch milliseconds; `readNowMs` by default
 * @returns expect: polls a sidecar until it has its configuration; countWaiting: counts the waits; giveUp: resolves all waits, with
 *   yesMs null; close: stops the timer and gives up
 */
export function createConvergencePoller({
  perSecond = POLLS_PER_SECOND,
  send = sendLightRequest,
  now = readNowMs,
} = {}) {
  /** The one with the oldest request first. @type {Set<Wait>} */
  const waits = new Set()
  let tokens = 1
  let lastTickMs = now()
  let requestCount = 0

  const timer = setInterval(() => {
    const atMs = now()
    tokens = Math.min(perSecond * BURST_SECONDS, tokens + (perSecond * (atMs - lastTickMs)) / 1000)
    lastTickMs = atMs
    for (const wait of [...waits]) {
      if (tokens < 1) break
      // The fewer waits there are, the more of the budget each has.
      const everyMs = wait.lastPollMs - wait.fromMs < OFTEN_UP_TO_MS ? OFTEN_MS : SELDOM_MS
      const dueMs = wait.lastAnswerMs + Math.max(everyMs, 1000 / (SHARE_MOST * (perSecond / waits.size)))
      if (wait.isInFlight || atMs < dueMs) continue
      tokens--
      pollSidecar(wait)
    }
  }, TICK_MS)

  /**
   * Sends one request, and settles the wait if the response shows the configuration. It fails the wait if the request went over a
   * kept connection, and else notes in the result what the response or the error shows. It does not throw.
   * @param {Wait} wait
   */
  async function pollSidecar(wait) {
    const { endpoint, host, name, result } = wait
    waits.delete(wait)
    waits.add(wait)
    wait.isInFlight = true
    result.asked++
    const nonce = `${name}-${++requestCount}`
    const sentMs = now()
    wait.lastPollMs = sentMs
    const request = { host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
    const { response, error } = await send(endpoint, request, { timeoutSeconds: ANSWER_SECONDS }).then(
      answer => ({ response: answer, error: null }),
      (/** @type {NodeJS.ErrnoException} */ failure) => ({ response: null, error: failure }),
    )
    wait.isInFlight = false
    if (!waits.has(wait)) return
    if (response?.isReused) {
      waits.delete(wait)
      wait.fail(new BenchError(`${name} was asked over a kept connection, which may be served by what it had before`))
    } else if (response && isEchoOf(response, nonce)) acceptEcho(wait, `${response.headers[SERVED_BY]}`)
    else {
      // Only a 404, or a refused connection of a sidecar that starts, shows that it lacks the configuration.
      if (response?.status === 404 || (wait.isStarting && error?.code === 'ECONNREFUSED')) result.lastNoMs = sentMs
      if (error && OWN_CODES.includes(`${error.code}`)) result.unsent = error.message
      else delete result.unsent
      wait.lastAnswerMs = now()
    }
  }

  /**
   * Counts the backend that has answered, and settles the wait once enough have; it fails the wait if that was before `sinceMs`.
   * @param {Wait} wait
   * @param {string} backendName
   */
  function acceptEcho(wait, backendName) {
    const { host, name, result, backendNames, backends = 1 } = wait
    backendNames.add(backendName)
    delete result.unsent
    if (backends > 1) result.backends = backendNames.size
    // A sidecar that serves takes the next backend in turn: it is polled again at the next tick.
    if (backendNames.size < backends) return
    result.yesMs = now()
    waits.delete(wait)
    const earlyMs = result.sinceMs - result.yesMs
    if (earlyMs > 0)
      wait.fail(new BenchError(`${name} had ${host} ${earlyMs} ms before it was to: a clock was set back`))
    else wait.settle()
  }

  return {
    /**
     * Polls a sidecar from now on until `backends` distinct names (1 by default) have answered, or `giveUp` or `close` is called. It
     * continues after any other answer and any failure; only a 404, or a refused connection of a sidecar that starts, sets
     * `lastNoMs`.
     * @param {Expected} expected
     * @returns {Promise<ConfigurationTimes>} yesMs null: polling ended first; unsent: why the last request could not be sent;
     *   absent: it was sent
     * @throws {BenchError} if a request went over a kept connection, or the answer came before `sinceMs`
     */
    expect: expected =>
      new Promise((resolve, reject) => {
        const fromMs = now()
        const { sinceMs = fromMs, backends = 1 } = expected
        const result = { sinceMs, lastNoMs: null, yesMs: null, asked: 0, ...(backends > 1 && { backends: 0 }) }
        const state = { fromMs, lastPollMs: fromMs, lastAnswerMs: -Infinity, isInFlight: false, result }
        waits.add({ ...expected, ...state, backendNames: new Set(), settle: () => resolve(result), fail: reject })
      }),
    countWaiting: () => waits.size,
    giveUp() {
      for (const wait of waits) wait.settle()
      waits.clear()
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
