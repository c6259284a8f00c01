import { BenchError } from '../lib/errors.js'
import { send } from './send.js'

/**
 * Asks many sidecars whether they have a configuration yet: by a new connection to the sidecar's own listener, for a host
 * that only this configuration routes. A kept connection lies (Envoy serves it by the old filter chain), and so may an
 * administration page.
 * @import { Endpoint } from '../model/types.ts'
 */

/** The requests per second that all sidecars together are asked: more of them slow down what is measured. */
export const ASKED_PER_SECOND = 400
const TICK_MS = 5
const BURST_SECONDS = 0.05
const ANSWER_SECONDS = 1
// Often where it goes fast, so that the resolution is good; seldom later: asking costs the sidecar, too.
const AGAIN = { oftenMs: 10, oftenUpToMs: 300, seldomMs: 50 }

/**
 * When a sidecar had a configuration: after lastNoMs, up to yesMs. Epoch milliseconds.
 * @typedef {object} Converged
 * @property {number | null} lastNoMs when it was last asked and said no itself; null: it never did
 * @property {number | null} yesMs when a request was first answered by it; null: not before asking ended
 * @property {number} asked how often
 */

/** @typedef {{ name: string, endpoint: Endpoint, host: string, isStarting?: boolean }} Expected isStarting: a refused connection is its no */

/** @typedef {ReturnType<typeof createConvergence>} Convergence */

/**
 * @param {{ perSecond?: number, ask?: typeof send, now?: () => number }} [options] perSecond: of all sidecars together;
 *   ask: over a new connection
 */
export function createConvergence({ perSecond = ASKED_PER_SECOND, ask = send, now = readNowMs } = {}) {
  /** @typedef {Expected & { sinceMs: number, dueMs: number, isAsked: boolean, settle: () => void, fail: (error: Error) => void, seen: Converged }} Waiting */
  /** In the order in which they were asked last. @type {Set<Waiting>} */
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
      if (one.isAsked || atMs < one.dueMs) continue
      tokens--
      askOnce(one)
    }
  }, TICK_MS)

  /** @param {Waiting} one */
  async function askOnce(one) {
    const { endpoint, host, name, seen } = one
    waiting.delete(one)
    waiting.add(one)
    one.isAsked = true
    seen.asked++
    const nonce = `${name}-${++count}`
    const askedMs = now()
    const request = { host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
    const answer = await ask(endpoint, request, { timeoutSeconds: ANSWER_SECONDS }).catch(error => error)
    one.isAsked = false
    if (!waiting.has(one)) return
    if (answer.isReused) {
      waiting.delete(one)
      one.fail(new BenchError(`${name} was asked over a kept connection, which may be served by what it had before`))
    } else if (answer.status === 200 && answer.body === nonce && answer.headers['x-nonce'] === nonce) {
      seen.yesMs = now()
      waiting.delete(one)
      one.settle()
    } else {
      // Of other answers and of none nobody knows what it has.
      if (answer.status === 404 || (one.isStarting && answer.code === 'ECONNREFUSED')) seen.lastNoMs = askedMs
      one.dueMs = now() + (askedMs - one.sinceMs < AGAIN.oftenUpToMs ? AGAIN.oftenMs : AGAIN.seldomMs)
    }
  }

  return {
    /**
     * Asks from now on until it is answered, or asking ends.
     * @param {Expected} expected
     * @returns {Promise<Converged>}
     * @throws {BenchError} when it was asked over a connection that was kept
     */
    expect: expected =>
      new Promise((resolve, reject) => {
        const seen = { lastNoMs: null, yesMs: null, asked: 0 }
        const since = { sinceMs: now(), dueMs: 0, isAsked: false }
        waiting.add({ ...expected, ...since, seen, settle: () => resolve(seen), fail: reject })
      }),
    /** How many have not answered yet. */
    countWaiting: () => waiting.size,
    listWaiting: () => [...waiting].map(({ name }) => name),
    /** Gives up those that have not answered. */
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

/** Epoch milliseconds, finer than those of Date.now(). */
export function readNowMs() {
  return performance.timeOrigin + performance.now()
}
