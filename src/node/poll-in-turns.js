import { setMaxListeners } from 'node:events'
import { sleep } from '../lib/wait.js'
import { isEchoOf } from './convergence.js'
import { sendRequest } from './send.js'

/** Checks that sidecars which have their configuration keep answering by it. */

/** The time between two requests: 50 a second are an eighth of POLLS_PER_SECOND. */
const EVERY_MS = 20
// A late answer counts, too.
const ANSWER_SECONDS = 10

/**
 * Requests to a sidecar, and those that it answered by its configuration.
 * @typedef {{ asked: number, answered: number }} SidecarAnswers
 */

/**
 * Sends requests to sidecars in turns, each over a new connection, until `end` is called and every sidecar had one. A request
 * that fails, or is not answered within ANSWER_SECONDS, counts as not answered. Without sidecars nothing is sent.
 * @param {{ name: string, endpoint: import('../model/types.ts').Endpoint, host: string }[]} sidecars
 * @param {{ signal: AbortSignal, send?: typeof sendRequest }} options signal: ends the requests; send: sends one request,
 *   `sendRequest` by default
 * @returns {{ end: () => Promise<Map<string, SidecarAnswers>> }} end: waits for the last answers, and returns the counts by
 *   the name of the sidecar; it throws the signal's reason if the signal aborted before
 */
export function pollInTurns(sidecars, { signal, send = sendRequest }) {
  /** @type {Map<string, SidecarAnswers>} */
  const counts = new Map(sidecars.map(({ name }) => [name, { asked: 0, answered: 0 }]))
  // Each request under way listens to the signal, and Node warns of more than ten listeners.
  setMaxListeners(0, signal)
  let isEnding = sidecars.length === 0
  const polling = pollAllSidecars()
  // If the phase fails, this promise is never awaited: an unhandled rejection would end the kit.
  polling.catch(() => {})
  return {
    async end() {
      isEnding = true
      await polling
      return counts
    },
  }

  /** Sends requests in turns until the end, and waits for their answers. @throws the signal's reason when it aborts */
  async function pollAllSidecars() {
    const requests = []
    for (let i = 0; !isEnding || i < sidecars.length; i++) {
      // A sidecar that does not answer holds up no other.
      requests.push(askSidecar(sidecars[i % sidecars.length]))
      await sleep(EVERY_MS, signal)
    }
    await Promise.all(requests)
  }

  /**
   * Sends a request to one sidecar, and counts it. It does not throw.
   * @param {typeof sidecars[number]} sidecar
   */
  async function askSidecar({ name, endpoint, host }) {
    const answers = /** @type {SidecarAnswers} */ (counts.get(name))
    const nonce = `${name}-stays-${++answers.asked}`
    const request = { host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
    const answer = await send(endpoint, request, { timeoutSeconds: ANSWER_SECONDS, signal }).catch(() => null)
    if (answer && isEchoOf(answer, nonce)) answers.answered++
  }
}
