import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError, OWN_CODES } from '../lib/errors.js'
import { waitFor } from '../lib/wait.js'
import { perform } from './perform.js'
import { repeat, send } from './send.js'
import { readStream } from './stream.js'

/** Procedures beside the services, here on one machine, in a pod on a cluster. They take and give plain data. */
/** @import { Endpoint, ReloadAction } from '../model/types.ts' */

const REACH_SECONDS = 60
const CONNECT_SECONDS = 1
const LOOK = { oftenMs: 5, oftenSeconds: 0.2, seldomMs: 50 }

/** @typedef {ReturnType<typeof import('../lib/certificate-files.js').credentialsOf>} Credentials of a client that speaks mTLS */

/** @returns the procedures, each of one argument or none */
export function createProber() {
  /** @type {Map<number, https.Agent>} */
  const agents = new Map()
  // A handshake is no part of a request: connections over TLS are kept from one batch of requests to the next.
  const agentOf = (/** @type {number} */ maxSockets) => {
    const agent = agents.get(maxSockets) ?? new https.Agent({ keepAlive: true, maxSockets })
    agents.set(maxSockets, agent)
    return agent
  }
  return {
    /** @param {{ endpoint: Endpoint, ask: import('./send.js').Ask, timeoutSeconds?: number, credentials?: Credentials | null }} args */
    send: ({ endpoint, ask, timeoutSeconds, credentials }) =>
      send(endpoint, ask, { timeoutSeconds, ...readTls(credentials) }).catch(error => {
        if (error instanceof TypeError || OWN_CODES.includes(error.code)) throw error
        throw new BenchError(`${ask.host} was not answered: ${error.message}`, { cause: error })
      }),

    /**
     * @param {{ endpoint: Endpoint, ask: Parameters<typeof repeat>[1], credentials?: Credentials | null } &
     *   Parameters<typeof repeat>[2]} args
     */
    repeat: ({ endpoint, ask, credentials, ...options }) =>
      repeat(endpoint, ask, {
        ...options,
        ...readTls(credentials),
        ...(credentials && { agent: agentOf(options.atOnce) }),
      }),

    /** @param {{ endpoint: Endpoint, ask: import('./send.js').Ask }} args */
    stream: ({ endpoint, ask }) => readStream(endpoint, ask),

    /** Waits until all can be connected: on a cluster later than they listen. @param {{ endpoints: Endpoint[] }} args */
    reach: ({ endpoints }) =>
      waitFor(async () => (await Promise.all(endpoints.map(canConnect))).every(Boolean), {
        what: `${endpoints.map(e => `${e.address}:${e.port}`).join(', ')} to be reached`,
        deadlineSeconds: REACH_SECONDS,
        intervalMs: 50,
      }),

    /**
     * Brings a configuration to a sidecar: hands it over, then puts it into effect, and waits until a new connection is
     * served by it: host is answered 200, under the certificate where it changes. Returns seconds from the commit on;
     * null: not before the deadline. credentials: of a client that speaks mTLS; certificate: the path of the one to be shown.
     * @param {{ stage: ReloadAction[], commit: ReloadAction[], endpoint: Endpoint, host: string, deadlineMs: number,
     *   certificate?: string, credentials?: Credentials | null }} args
     */
    async change({ stage, commit, endpoint, host, deadlineMs, credentials, certificate }) {
      const tls = readTls(credentials)
      const fingerprint = certificate && new X509Certificate(readFileSync(certificate)).fingerprint256
      await perform(stage)
      const begin = performance.now()
      await perform(commit)
      for (;;) {
        const answer = await send(endpoint, { host }, { timeoutSeconds: 1, ...tls }).catch(() => null)
        const seconds = (performance.now() - begin) / 1000
        if (answer?.status === 200 && (!fingerprint || answer.fingerprint === fingerprint)) return seconds
        if (Date.now() >= deadlineMs) return null
        // After a while it looks seldom: looking costs the sidecar, too.
        await delay(seconds < LOOK.oftenSeconds ? LOOK.oftenMs : LOOK.seldomMs)
      }
    },

    /** @param {{ actions: ReloadAction[] }} args */
    perform: ({ actions }) => perform(actions),
  }
}

/** @param {Credentials | null} [credentials] absent, or null: plaintext */
function readTls(credentials) {
  if (!credentials) return {}
  return { tls: { cert: readFileSync(credentials.certificatePath), key: readFileSync(credentials.keyPath) } }
}

/** @param {Endpoint} endpoint */
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
