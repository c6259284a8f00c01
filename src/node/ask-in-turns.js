import { setMaxListeners } from 'node:events'
import { sleep } from '../lib/wait.js'
import { isEchoOf } from './convergence.js'
import { send } from './send.js'

/** Asks sidecars that have their configuration whether they go on answering by it. */

/** The time between two questions, which take an eighth of the budget of those that wait. */
const EVERY_MS = 20
// A late answer counts, too.
const ANSWER_SECONDS = 10

/** Questions to a sidecar, and its answers by its configuration. @typedef {{ asked: number, answered: number }} SidecarAnswers */

/**
 * Asks one sidecar after the other, each over a new connection, until it is ended, and each at least once.
 * @param {{ name: string, endpoint: import('../model/types.ts').Endpoint, host: string }[]} sidecars
 * @param {{ signal: AbortSignal, ask?: typeof send }} options
 */
export function askInTurns(sidecars, { signal, ask = send }) {
  /** @type {Map<string, SidecarAnswers>} */
  const turns = new Map(sidecars.map(({ name }) => [name, { asked: 0, answered: 0 }]))
  // Each request that is under way listens.
  setMaxListeners(0, signal)
  let isEnding = sidecars.length === 0
  const asking = askAll()
  // If the phase fails, this promise is never awaited: an unhandled rejection would end the kit.
  asking.catch(() => {})
  return {
    /** @returns {Promise<typeof turns>} by the name of the sidecar */
    async end() {
      isEnding = true
      await asking
      return turns
    },
  }

  async function askAll() {
    const asking = []
    for (let i = 0; !isEnding || i < sidecars.length; i++) {
      // A sidecar that does not answer holds up no other.
      asking.push(askOnce(sidecars[i % sidecars.length]))
      await sleep(EVERY_MS, signal)
    }
    await Promise.all(asking)
  }

  /** @param {typeof sidecars[number]} sidecar */
  async function askOnce({ name, endpoint, host }) {
    const answers = /** @type {SidecarAnswers} */ (turns.get(name))
    const nonce = `${name}-stays-${++answers.asked}`
    const request = { host, method: 'POST', body: nonce, headers: { 'x-nonce': nonce } }
    const answer = await ask(endpoint, request, { timeoutSeconds: ANSWER_SECONDS, signal }).catch(() => null)
    if (answer && isEchoOf(answer, nonce)) answers.answered++
  }
}
