import net from 'node:net'
import { readNowMs } from '../lib/clock.js'
import { BenchError, OWN_CODES } from '../lib/errors.js'

/**
 * Polls many sidecars until they have a configuration: by a new connection to the sidecar's own listener, for a host that only
 * this configuration routes. A kept connection would mislead (Envoy serves it by the old filter chain), and so could an
 * administration page.
 */
/**
 * @import { ConfigurationTimes, Endpoint, Expected } from '../model/types.ts'
 * @import { Request, Response } from './send.js'
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
    if (backends > 1) result.backends = backendNames.size
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

/**
 * Sends one request to `/` over a connection of its own, with half of the CPU that Node's client takes: the sender shares the
 * machine with hundreds of sidecars that it polls. A character of a body is a byte (latin1); the last of repeated headers wins.
 * @param {Endpoint} endpoint
 * @param {Pick<Request, 'method' | 'headers' | 'body'> & { host: string }} request
 * @param {{ timeoutSeconds?: number }} [options]
 * @returns {Promise<Omit<Response, 'localPort'>>}
 * @throws the system's error if it cannot connect, such as ECONNREFUSED; an Error if the connection is idle for timeoutSeconds (10
 *   by default), or is closed before the whole answer
 */
export function sendLightRequest({ address, port }, { host, method = 'GET', headers = {}, body = '' }, options = {}) {
  const { timeoutSeconds = 10 } = options
  const length = Buffer.byteLength(body, 'latin1')
  const requestHeaders = { host, ...headers, 'content-length': length, connection: 'close' }
  const headerLines = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: address, port })
    let received = ''
    const resolveIfComplete = (/** @type {boolean} */ isEnded) => {
      const answer = parseAnswer(received, isEnded)
      if (answer) resolve({ ...answer, isReused: false })
      return answer !== null
    }
    socket.setEncoding('latin1')
    socket.setTimeout(timeoutSeconds * 1000, () => socket.destroy(new Error(`no answer within ${timeoutSeconds} s`)))
    socket.on('connect', () => socket.write(`${method} / HTTP/1.1\r\n${headerLines.join('')}\r\n${body}`, 'latin1'))
    socket.on('data', (/** @type {string} */ text) => {
      received += text
      if (resolveIfComplete(false)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (!resolveIfComplete(true)) reject(new Error('the connection was closed before the whole answer'))
    })
  })
}

/**
 * Parses an answer up to the end of its body (RFC 9112, 6.3).
 * @param {string} text received so far
 * @param {boolean} isEnded the peer has closed, which ends a body without a length
 * @returns {Pick<Response, 'status' | 'headers' | 'body'> | null} null: it is not complete yet
 */
function parseAnswer(text, isEnded) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [statusLine, ...lines] = text.slice(0, end).split('\r\n')
  const parts = lines.map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])
  const headers = Object.fromEntries(parts.map(([name, value]) => [name.toLowerCase(), value.trim()]))
  const body = parseBody(text.slice(end + 4), headers, isEnded)
  return body === null ? null : { status: Number(statusLine.split(' ')[1]), headers, body }
}

/**
 * Parses a body: by its chunks, its length, or the end of the connection.
 * @param {string} text received so far after the headers
 * @param {Record<string, string>} headers
 * @param {boolean} isEnded the peer has closed
 * @returns {string | null} null: it is not complete yet
 */
function parseBody(text, headers, isEnded) {
  if (headers['transfer-encoding'] === 'chunked') return joinChunks(text)
  const { 'content-length': length } = headers
  if (length === undefined) return isEnded ? text : null
  return text.length >= Number(length) ? text.slice(0, Number(length)) : null
}

/**
 * Joins a chunked body (RFC 9112, 7.1).
 * @param {string} text received so far
 * @returns {string | null} null: it is not complete up to its last, empty chunk, or a length is no number
 */
function joinChunks(text) {
  let body = ''
  for (let offset = 0; ; ) {
    const start = text.indexOf('\r\n', offset) + 2
    const length = Number.parseInt(text.slice(offset, start), 16)
    // A chunk whose length is no number is not whole, either.
    if (start < 2 || !(start + length + 2 <= text.length)) return null
    if (length === 0) return body
    body += text.slice(start, start + length)
    offset = start + length + 2
  }
}
