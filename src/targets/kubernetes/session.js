import { PassThrough } from 'node:stream'
import { converse } from '../converse.js'

/** @import { Api } from './api.js' */
/** @import { Session } from '../converse.js' */

const AGENT = 'src/node/agent/main.js'
const PINGS = 5

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
