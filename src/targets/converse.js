import { decode, encode } from '../agent/messages.js'
import { AgentError, BenchError } from '../lib/errors.js'

/**
 * A session with the agent (src/agent), which runs in a pod of the kit's own or in a process of this machine.
 * @typedef {object} Session
 * @property {<T>(procedure: string, args: unknown, options?: { signal?: AbortSignal }) => Promise<T>} call
 *   rejects with the agent's error (AgentError: a fault of the kit), or when the session is lost; after an abort it resolves
 *   with what the agent has, or rejects after STOP_SECONDS
 * @property {() => boolean} isOpen
 * @property {() => void} close ends the agent
 */

const STOP_SECONDS = 5

/**
 * @typedef {object} AgentStreams
 * @property {import('node:stream').Writable} stdin
 * @property {import('node:stream').Readable} stdout
 * @property {Promise<string>} closed resolves when the agent has ended, with the last lines on its stderr
 * @property {() => void} end is called by `close`
 * @property {string} what the place of the agent, for errors
 */

/**
 * Starts a session over the streams of an agent. A line that is no message ends it, as does the end of the agent.
 * @param {AgentStreams} options
 * @returns {Session}
 */
export function startSession({ stdin, stdout, closed, end, what }) {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const pending = new Map()
  let nextId = 0
  let isOpen = true
  let incompleteLine = ''
  stdout.setEncoding('utf8').on('data', chunk => {
    const lines = (incompleteLine + chunk).split('\n')
    incompleteLine = /** @type {string} */ (lines.pop())
    for (const line of lines) {
      const message = decode(line)
      if (message === null) return lose('it sent what is no message')
      const { id, result, error, isFault } = message
      const call = pending.get(id)
      pending.delete(id)
      if (error !== undefined) call?.reject(isFault ? new AgentError(error) : new BenchError(error))
      else call?.resolve(result)
    }
  })
  const lose = (/** @type {string} */ cause) => {
    isOpen = false
    for (const { reject } of pending.values()) {
      reject(new BenchError(`the connection to the agent in ${what} was lost${cause ? `: ${cause}` : ''}`))
    }
    pending.clear()
  }
  closed.then(lose)
  return {
    call(procedure, args, { signal } = {}) {
      if (!isOpen) return Promise.reject(new BenchError(`the agent in ${what} is no longer there`))
      const id = nextId++
      const answer = new Promise((resolve, reject) => pending.set(id, { resolve, reject }))
      stdin.write(`${encode({ id, procedure, args })}\n`)
      const cancel = () => {
        stdin.write(`${encode({ id, cancel: true })}\n`)
        setTimeout(
          () => pending.get(id)?.reject(new BenchError(`the agent in ${what} did not stop`)),
          STOP_SECONDS * 1000,
        ).unref()
      }
      if (signal?.aborted) cancel()
      else signal?.addEventListener('abort', cancel, { once: true })
      return answer.finally(() => signal?.removeEventListener('abort', cancel))
    },
    isOpen: () => isOpen,
    close() {
      isOpen = false
      stdin.end()
      end()
    },
  }
}
