import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import { createLoneRetryCheck, requestEcho, waitForArrival } from './answers.js'
import { chooseHostEndpoint, GREETING } from './corpus.js'

/** The checks of bytes: connections that every plane which carries bytes must carry alike. */
/**
 * @import { Probed } from './probe.js'
 * @import { Check } from './answers.js'
 */

// Shorter than the idle timeout of the rig's sidecars (over 60 s), which therefore closes no connection in this time.
const CLOSE_SECONDS = 55
const LARGE_BYTES = 10 * 1024 * 1024
const SMALL_BYTES = 4096
const CONNECTIONS = 20

/**
 * Sends bytes to a host over a connection of its own, ends its half, and reads until the other half is ended, for at most
 * CLOSE_SECONDS. It does not reject.
 * @param {Pick<Probed, 'sidecars' | 'configuration'>} rig
 * @param {object} options
 * @param {string} options.host
 * @param {Buffer | null} options.bytes null: it sends nothing, and does not end its half
 * @param {boolean} [options.waitsForData] it sends only when something has come, or the other half was ended; false by default
 * @returns {Promise<{ received: Buffer, fault: string | null }>} received: all bytes that arrived; fault: the error, or `still open
 *   after …`; null: the other half was ended
 */
export async function exchangeBytes(rig, { host, bytes, waitsForData = false }) {
  const { address, port } = chooseHostEndpoint(rig, host)
  const socket = net.connect({ host: address, port, allowHalfOpen: true })
  /** @type {Buffer[]} */
  const chunks = []
  socket.on('data', chunk => chunks.push(chunk))
  const signal = AbortSignal.timeout(CLOSE_SECONDS * 1000)
  const ended = once(socket, 'end', { signal })
  try {
    if (waitsForData) await Promise.race([once(socket, 'data', { signal }), ended])
    if (bytes) socket.end(bytes)
    await ended
    return { received: Buffer.concat(chunks), fault: null }
  } catch (error) {
    const fault = signal.aborted ? `still open after ${CLOSE_SECONDS} s` : /** @type {Error} */ (error).message
    return { received: Buffer.concat(chunks), fault }
  } finally {
    socket.destroy()
  }
}

/** @type {Check[]} */
export const BYTES = [
  createEchoCheck('a half-close: the answer comes when the client has ended its half', SMALL_BYTES),
  createEchoCheck('a large message, both ways', LARGE_BYTES),
  {
    name: 'an upstream that speaks first, and ends its half first',
    run: async rig => {
      const bytes = Buffer.from(randomBytes(16).toString('hex'))
      const { received, fault } = await exchangeBytes(rig, { host: 'greeting', bytes, waitsForData: true })
      if (fault !== null || `${received}` !== GREETING)
        return [`${received.length} bytes${fault ? `, ${fault}` : ''}, expected ${GREETING}`]
      return (await waitForArrival(rig, `${bytes}`)) ? [] : ['what the client sent after it did not arrive']
    },
  },
  ...[
    ['rude', 'an upstream that resets the connection'],
    ['quiet', 'an upstream that closes the connection'],
    ['gone', 'an upstream that refuses the connection'],
  ].map(([host, name]) => ({ name, run: (/** @type {Probed} */ rig) => checkClosed(rig, host) })),
]

/** @type {Check} */
export const NEXT_ENDPOINT = {
  name: 'a refused connection, tried once more at the endpoint that is next',
  run: async rig => {
    const answers = []
    for (let i = 0; i < CONNECTIONS; i++) answers.push(await requestEcho(rig, { host: 'half' }).catch(() => null))
    const wrong = answers.filter(answer => answer?.upstream !== 'a')
    return wrong.length > 0 ? [`${wrong.length} of ${CONNECTIONS} failed`] : []
  },
}

/** @type {Check} */
export const CONNECT_TIMEOUT_OF_BYTES = {
  name: 'an upstream that cannot be connected in time',
  run: rig => checkClosed(rig, 'full'),
}

/** Sends nothing, so that a sidecar has no unread bytes, for which its kernel would send a reset, too. @type {Check} */
export const LONE_RETRY_OF_BYTES = createLoneRetryCheck(rig => exchangeBytes(rig, { host: 'refused', bytes: null }))

/**
 * Creates a check that `count` random bytes come back after all were sent.
 * @param {string} name of the check
 * @param {number} count of bytes
 * @returns {Check}
 */
function createEchoCheck(name, count) {
  return {
    name,
    run: async rig => {
      const bytes = randomBytes(count)
      const { received, fault } = await exchangeBytes(rig, { host: 'late', bytes })
      if (received.equals(bytes) && fault === null) return []
      const summary = received.length === count ? 'other bytes' : `${received.length} bytes`
      return [`${summary}${fault ? `, ${fault}` : ''}, expected the ${count} that were sent`]
    },
  }
}

/**
 * Checks that a connection is closed, by an end or a reset, without a byte. One that cannot be opened counts as closed.
 * @param {Probed} rig
 * @param {string} host
 * @returns {Promise<string[]>} the differences; []: none
 */
async function checkClosed(rig, host) {
  const { received, fault } = await exchangeBytes(rig, { host, bytes: Buffer.from('bytes') })
  return [
    ...(received.length > 0 ? [`${received.length} bytes, expected nothing`] : []),
    ...(fault?.startsWith('still open') ? [fault] : []),
  ]
}
