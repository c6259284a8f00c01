import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'
import { isInTime } from '../../lib/wait.js'
import { createLoneRetry, requestEcho } from './answers.js'
import { chooseHostEndpoint, GREETING } from './corpus.js'

/** The corpus of bytes: connections that every plane which carries bytes must carry alike. */
/**
 * @import { Probed } from './probe.js'
 * @import { Check } from './answers.js'
 */

// Shorter than the idle timeout of the rig's sidecars (over 60 s), which therefore closes no connection in this time.
const CLOSE_SECONDS = 55
const NOTE_SECONDS = 5
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
 * @param {boolean} [options.isHeard] it sends only when something has come
 * @returns {Promise<{ got: Buffer, fault: string | null }>} got: all bytes that arrived; fault: the error, or `still open after
 *   …`; null: the other half was ended
 */
export async function exchangeBytes(rig, { host, bytes, isHeard = false }) {
  const { address, port } = chooseHostEndpoint(rig, host)
  const socket = net.connect({ host: address, port, allowHalfOpen: true })
  /** @type {Buffer[]} */
  const chunks = []
  socket.on('data', chunk => chunks.push(chunk))
  const signal = AbortSignal.timeout(CLOSE_SECONDS * 1000)
  const ended = once(socket, 'end', { signal })
  try {
    if (isHeard) await Promise.race([once(socket, 'data', { signal }), ended])
    if (bytes) socket.end(bytes)
    await ended
    return { got: Buffer.concat(chunks), fault: null }
  } catch (error) {
    const fault = signal.aborted ? `still open after ${CLOSE_SECONDS} s` : /** @type {Error} */ (error).message
    return { got: Buffer.concat(chunks), fault }
  } finally {
    socket.destroy()
  }
}

/** @type {Check[]} */
export const BYTES = [
  checkEcho('a half-close: the answer comes when the client has ended its half', SMALL_BYTES),
  checkEcho('a large message, both ways', LARGE_BYTES),
  {
    name: 'an upstream that speaks first, and ends its half first',
    run: async rig => {
      const bytes = Buffer.from(randomBytes(16).toString('hex'))
      const { got, fault } = await exchangeBytes(rig, { host: 'greeting', bytes, isHeard: true })
      if (fault !== null || `${got}` !== GREETING)
        return [`${renderByteCount(got)}${fault ? `, ${fault}` : ''}, expected ${GREETING}`]
      const isNoted = await isInTime(() => rig.hasGot(`${bytes}`), { deadlineSeconds: NOTE_SECONDS, intervalMs: 20 })
      return isNoted ? [] : ['what the client sent after it did not arrive']
    },
  },
  ...[
    ['rude', 'an upstream that resets the connection'],
    ['quiet', 'an upstream that closes the connection'],
    ['gone', 'an upstream that refuses the connection'],
  ].map(([host, name]) => ({ name, run: (/** @type {Probed} */ rig) => listUnclosedDifferences(rig, host) })),
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
  run: rig => listUnclosedDifferences(rig, 'full'),
}

/** Sends nothing, so that a sidecar has no unread bytes, for which its kernel would send a reset, too. @type {Check} */
export const LONE_RETRY_OF_BYTES = createLoneRetry(rig => exchangeBytes(rig, { host: 'refused', bytes: null }))

/**
 * Creates a check that `count` random bytes come back after all were sent.
 * @param {string} name of the check
 * @param {number} count of bytes
 * @returns {Check}
 */
function checkEcho(name, count) {
  return {
    name,
    run: async rig => {
      const bytes = randomBytes(count)
      const { got, fault } = await exchangeBytes(rig, { host: 'late', bytes })
      if (got.equals(bytes) && fault === null) return []
      const words = got.length === count ? 'other bytes' : `${got.length} bytes`
      return [`${words}${fault ? `, ${fault}` : ''}, expected the ${count} that were sent`]
    },
  }
}

/**
 * Lists the differences from a connection that is closed, by an end or a reset, without a byte.
 * @param {Probed} rig
 * @param {string} host
 * @returns {Promise<string[]>} []: none
 */
async function listUnclosedDifferences(rig, host) {
  const { got, fault } = await exchangeBytes(rig, { host, bytes: Buffer.from('bytes') })
  return [
    ...(got.length > 0 ? [`${renderByteCount(got)}, expected nothing`] : []),
    ...(fault?.startsWith('still open') ? [fault] : []),
  ]
}

/**
 * Renders the number of bytes.
 * @param {Buffer} bytes
 * @returns {string}
 */
function renderByteCount(bytes) {
  return `${bytes.length} bytes`
}
