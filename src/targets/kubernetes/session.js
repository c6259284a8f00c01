import { PassThrough } from 'node:stream'
import { BenchError } from '../../lib/errors.js'
import { decode, encode } from '../../node/agent/messages.js'

/**
 * @import { Api } from './api.js'
 */

const AGENT = 'src/node/agent/main.js'
const PINGS = 5
const STOP_SECONDS = 5

/**
 * A conversation with the agent in a pod of the kit's own.
 * @typedef {object} Session
 * @property {<T>(procedure: string, args: unknown, options?: { signal?: AbortSignal }) => Promise<T>} call
 *   rejects with what the agent says, or when the session is lost; after an abort it resolves with what the agent has
 * @property {() => boolean} isOpen
 * @property {() => void} close
 */

/**
 * Starts the agent in a pod.
 * @param {{ api: Api, namespace: string, pod: string, container: string, folder: string }} options folder: of the kit's code there
 * @returns {Promise<Session>}
 */
export async function openSession({ api, namespace, pod, container, folder }) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let said = ''
  stderr.on('data', chunk => {
    said = (said + chunk).slice(-2000)
  })
  const command = ['node', `${folder}/${AGENT}`]
  const exec = new api.k8s.Exec(api.config)
  const socket = await api.request(`start the agent in ${namespace}/${pod}`, () =>
    exec.exec(namespace, pod, container, command, stdout, stderr, stdin, false),
  )
  return converse({
    stdin,
    stdout,
    closed: new Promise(resolve => {
      socket.on('close', () => resolve(said.trim()))
      socket.on('error', (/** @type {Error} */ error) => resolve(error.message))
    }),
    end: () => socket.close(),
    what: `${namespace}/${pod}`,
  })
}

/**
 * @param {{ stdin: import('node:stream').Writable, stdout: import('node:stream').Readable, closed: Promise<string>,
 *   end: () => void, what: string }} options closed: resolves with what was said last
 * @returns {Session}
 */
export function converse({ stdin, stdout, closed, end, what }) {
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const asked = new Map()
  let next = 0
  let isOpen = true
  let rest = ''
  stdout.setEncoding('utf8').on('data', chunk => {
    const lines = (rest + chunk).split('\n')
    rest = /** @type {string} */ (lines.pop())
    for (const line of lines) {
      const message = decode(line)
      if (message === null) return lose('it sent what is no message')
      const { id, result, error } = message
      const waiting = asked.get(id)
      asked.delete(id)
      if (error !== undefined) waiting?.reject(new BenchError(error))
      else waiting?.resolve(result)
    }
  })
  const lose = (/** @type {string} */ said) => {
    isOpen = false
    for (const { reject } of asked.values()) {
      reject(new BenchError(`the connection to the agent in ${what} was lost${said ? `: ${said}` : ''}`))
    }
    asked.clear()
  }
  closed.then(lose)
  return {
    call(procedure, args, { signal } = {}) {
      if (!isOpen) return Promise.reject(new BenchError(`the agent in ${what} is no longer there`))
      const id = next++
      const answer = new Promise((resolve, reject) => asked.set(id, { resolve, reject }))
      stdin.write(`${encode({ id, procedure, args })}\n`)
      const cancel = () => {
        stdin.write(`${encode({ id, cancel: true })}\n`)
        setTimeout(
          () => asked.get(id)?.reject(new BenchError(`the agent in ${what} did not stop`)),
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

/**
 * How far a pod's clock is ahead of this one, by the question that was answered fastest (as in NTP, RFC 5905, 8).
 * @param {Session} session
 * @returns {Promise<number>} milliseconds, right within half of the round trip
 */
export async function measureClockOffset(session) {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, offsetMs: 0 }
  for (let i = 0; i < PINGS; i++) {
    const sent = Date.now()
    const there = await session.call('now', null)
    const roundTripMs = Date.now() - sent
    if (roundTripMs < best.roundTripMs) best = { roundTripMs, offsetMs: Number(there) - (sent + roundTripMs / 2) }
  }
  return best.offsetMs
}
