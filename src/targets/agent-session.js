import { decodeMessage, encodeMessage } from '../agent/messages.js'
import { AgentError, BenchError } from '../lib/errors.js'

/**
 * A session with the agent (src/agent), which runs in a pod of the kit's own or in a process of this machine.
 * @typedef {object} Session
 * @property {<T>(procedure: string, args: unknown, options?: { signal?: AbortSignal }) => Promise<T>} call
 *   rejects with an AgentError for a fault of the kit, and with a BenchError if the procedure throws one, or the session is lost;
 *   after an abort it resolves with what the agent has, or rejects with a BenchError after STOP_SECONDS
 * @property {() => boolean} isOpen false: `close` was called, or the session is lost
 * @property {() => void} close ends the agent
 */

const STOP_SECONDS = 5

/**
 * @typedef {object} AgentStreams
 * @property {import('node:stream').Writable} stdin
 * @property {import('node:stream').Readable} stdout
 * @property {Promise<string>} ended resolves when the agent has ended, with the last lines on its stderr
 * @property {() => void} end ends the agent
 * @property {string} place where the agent runs, for errors
 */

/**
 * Starts a session over the streams of an agent. The session is lost when the agent ends, or sends a line that is no message, which
 * ends it: all calls then reject. The caller closes it.
 * @param {AgentStreams} options
 * @returns {Session}
 */
export function startSession({ stdin, stdout, ended, end, place }) {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const pending = new Map()
  let nextId = 0
  let isOpen = true

  const rejectAll = (/** @type {string} */ cause) => {
    isOpen = false
    for (const { reject } of pending.values()) {
      reject(new BenchError(`the connection to the agent in ${place} was lost${cause ? `: ${cause}` : ''}`))
    }
    pending.clear()
  }
  ended.then(rejectAll)
  const close = () => {
    isOpen = false
    stdin.end()
    end()
  }

  readLines(stdout, line => {
    const message = decodeMessage(line)
    if (message === null) {
      // The next call may start another agent, and then nothing closes this session.
      if (isOpen) close()
      return rejectAll('it sent what is no message')
    }
    const { id, result, error, isFault } = message
    const call = pending.get(id)
    pending.delete(id)
    if (error === undefined) call?.resolve(result)
    else call?.reject(isFault ? new AgentError(error) : new BenchError(error))
  })

  return {
    call(procedure, args, { signal } = {}) {
      if (!isOpen) return Promise.reject(new BenchError(`the agent in ${place} is no longer there`))
      const id = nextId++
      const answer = new Promise((resolve, reject) => pending.set(id, { resolve, reject }))
      stdin.write(`${encodeMessage({ id, procedure, args })}\n`)
      const rejectUnstopped = () => pending.get(id)?.reject(new BenchError(`the agent in ${place} did not stop`))
      const cancel = () => {
        stdin.write(`${encodeMessage({ id, cancel: true })}\n`)
        setTimeout(rejectUnstopped, STOP_SECONDS * 1000).unref()
      }
      if (signal?.aborted) cancel()
      else signal?.addEventListener('abort', cancel, { once: true })
      return answer.finally(() => signal?.removeEventListener('abort', cancel))
    },
    isOpen: () => isOpen,
    close,
  }
}

/**
 * Reads a stream line by line. Text after the last line end is left out.
 * @param {import('node:stream').Readable} stream
 * @param {(line: string) => void} take gets each line, without the line end
 */
function readLines(stream, take) {
  let incompleteLine = ''
  stream.setEncoding('utf8').on('data', chunk => {
    const lines = (incompleteLine + chunk).split('\n')
    incompleteLine = /** @type {string} */ (lines.pop())
    for (const line of lines) take(line)
  })
}
