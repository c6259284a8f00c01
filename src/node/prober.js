import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError, OWN_CODES } from '../lib/errors.js'
import { waitForCondition } from '../lib/wait.js'
import { performActions } from './perform.js'
import { repeatRequest, sendRequest } from './send.js'
import { measureStream } from './stream.js'

/** Procedures that run beside the services: on this machine, or in a pod of a cluster. Arguments and results are plain data. */
/**
 * @import { Endpoint, ReloadAction } from '../model/types.ts'
 * @import { Request } from './send.js'
 */

const REACH_SECONDS = 60
const CONNECT_SECONDS = 1
const POLL = { oftenMs: 5, oftenSeconds: 0.2, seldomMs: 50 }

/** @typedef {ReturnType<typeof import('../model/certificate-files.js').locateCredentials>} Credentials paths of PEM files */

/**
 * Creates the procedures, each of which takes its arguments in one object. Connections over TLS that `repeat` opens are kept until
 * the peer closes them or this process ends.
 * @returns send, repeat, stream: send requests; reach: waits for endpoints; change: changes a configuration; perform: performs
 *   actions
 */
export function createProber() {
  /** @type {Map<number, https.Agent>} */
  const agents = new Map()
  // A handshake is no part of a request: connections over TLS are kept from one batch of requests to the next.
  const reuseAgent = (/** @type {number} */ maxSockets) => {
    const agent = agents.get(maxSockets) ?? new https.Agent({ keepAlive: true, maxSockets })
    agents.set(maxSockets, agent)
    return agent
  }
  return {
    /**
     * Sends one request.
     * @param {{ endpoint: Endpoint, request: Request, timeoutSeconds?: number, credentials?: Credentials | null }} args
     *   timeoutSeconds: absent: the default of `sendRequest`; credentials: null or absent: plaintext
     * @returns {Promise<import('./send.js').Response>}
     * @throws {BenchError} if there is no answer; a fault of the kit (TypeError) or of this machine (OWN_CODES) as it is; the
     *   system's error if a file of the credentials cannot be read
     */
    send: ({ endpoint, request, timeoutSeconds, credentials }) =>
      sendRequest(endpoint, request, { timeoutSeconds, ...readTls(credentials) }).catch(error => {
        if (error instanceof TypeError || OWN_CODES.includes(error.code)) throw error
        throw new BenchError(`${request.host} was not answered: ${error.message}`, { cause: error })
      }),

    /**
     * Sends a request many times, as repeatRequest() does. Connections over TLS stay open for the next call.
     * @param {{ endpoint: Endpoint, request: Parameters<typeof repeatRequest>[1], credentials?: Credentials | null } &
     *   Parameters<typeof repeatRequest>[2]} args credentials: null or absent: plaintext
     * @throws as repeatRequest(); the system's error if a file of the credentials cannot be read
     */
    repeat: ({ endpoint, request, credentials, ...options }) =>
      repeatRequest(endpoint, request, {
        ...options,
        ...readTls(credentials),
        ...(credentials && { agent: reuseAgent(options.atOnce) }),
      }),

    /**
     * Times the parts of an answer as they arrive, as measureStream() does.
     * @param {{ endpoint: Endpoint, request: Request }} args
     * @param {AbortSignal} [signal] ends the request
     * @throws as measureStream()
     */
    stream: ({ endpoint, request }, signal) => measureStream(endpoint, request, { signal }),

    /**
     * Waits until every endpoint accepts connections, which on a cluster is later than it listens.
     * @param {{ endpoints: Endpoint[] }} args
     * @throws {import('../lib/errors.js').TimeoutError} if one does not within REACH_SECONDS
     */
    reach: ({ endpoints }) =>
      waitForCondition(async () => (await Promise.all(endpoints.map(canConnect))).every(Boolean), {
        what: `${endpoints.map(e => `${e.address}:${e.port}`).join(', ')} to be reached`,
        deadlineSeconds: REACH_SECONDS,
        intervalMs: 50,
      }),

    /**
     * Brings a configuration to a sidecar: performs `stage`, then `commit`, and sends requests, each over a new connection, until
     * one is answered 200. Requests that fail, or get another answer, are repeated until the deadline.
     * @param {object} args
     * @param {ReloadAction[]} args.stage prepare the change, and are not timed
     * @param {ReloadAction[]} args.commit make it; []: only the requests are timed
     * @param {Endpoint} args.endpoint
     * @param {string} args.host that the requests name
     * @param {number} args.deadlineMs epoch milliseconds
     * @param {string} [args.certificate] the path of the one under which the answer must come; absent: any
     * @param {Credentials | null} [args.credentials] of an mTLS client; null or absent: plaintext
     * @returns {Promise<number | null>} seconds since the commit began; null: the deadline passed before
     * @throws as performActions() if an action fails; the system's error if a certificate or key cannot be read
     */
    async change({ stage, commit, endpoint, host, deadlineMs, credentials, certificate }) {
      const tls = readTls(credentials)
      const fingerprint = certificate && new X509Certificate(readFileSync(certificate)).fingerprint256
      await performActions(stage)
      const begin = performance.now()
      await performActions(commit)
      for (;;) {
        const answer = await sendRequest(endpoint, { host }, { timeoutSeconds: 1, ...tls }).catch(() => null)
        const seconds = (performance.now() - begin) / 1000
        if (answer?.status === 200 && (!fingerprint || answer.fingerprint === fingerprint)) return seconds
        if (Date.now() >= deadlineMs) return null
        // Polls are less frequent after a while: each costs the sidecar CPU, too.
        await delay(seconds < POLL.oftenSeconds ? POLL.oftenMs : POLL.seldomMs)
      }
    },

    /**
     * Performs actions, as performActions() does.
     * @param {{ actions: ReloadAction[] }} args
     * @throws as performActions()
     */
    perform: ({ actions }) => performActions(actions),
  }
}

/**
 * Reads a client's certificate and key for sendRequest().
 * @param {Credentials | null} [credentials] absent, or null: plaintext
 * @returns {{ tls?: { cert: Buffer, key: Buffer } }} {}: plaintext
 * @throws the system's error if a file cannot be read
 */
function readTls(credentials) {
  if (!credentials) return {}
  return { tls: { cert: readFileSync(credentials.certificatePath), key: readFileSync(credentials.keyPath) } }
}

/**
 * Says whether an endpoint accepts a connection within CONNECT_SECONDS.
 * @param {Endpoint} endpoint
 * @returns {Promise<boolean>}
 */
async function canConnect({ address, port }) {
  const socket = net.connect({ port, host: address })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_SECONDS * 1000) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
