import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError } from '../lib/errors.js'
import { waitFor } from '../lib/wait.js'
import { probeAccess } from '../parity/beside/access.js'
import { probeCallers } from '../parity/beside/callers.js'
import { probeAnswers, probePooling } from '../parity/beside/probe.js'
import { startUpstreams } from '../parity/beside/upstreams.js'
import { perform } from './perform.js'
import { send } from './send.js'

/**
 * What is done from beside the services, where they can be reached: in the orchestrator on one machine, in a pod on a
 * cluster. Arguments and results are plain data.
 */
/** @import { Ask } from './send.js' */
/** @import { Probed } from '../parity/beside/probe.js' */
/** @import { Upstreams } from '../parity/beside/upstreams.js' */
/** @import { Endpoint, ReloadAction } from '../model/types.ts' */

const REACH_SECONDS = 60
const CONNECT_SECONDS = 1
// Of requests that never reached a sidecar: this machine could not send them.
const OWN_CODES = ['EMFILE', 'ENFILE', 'ENOMEM', 'EADDRNOTAVAIL', 'ENOBUFS']
const LOOK = { oftenMs: 5, oftenSeconds: 0.2, seldomMs: 50 }

/** @returns the procedures, each of one argument or none */
export function createProber() {
  /** @type {(Probed & Pick<Upstreams, 'close'>) | null} */
  let rig = null
  const opened = () => {
    if (rig === null) throw new Error('the rig is not open')
    return rig
  }
  return {
    /** @param {{ endpoint: Endpoint, ask: Ask, timeoutSeconds?: number }} args */
    send: ({ endpoint, ask, timeoutSeconds }) =>
      send(endpoint, ask, { timeoutSeconds }).catch(error => {
        if (error instanceof TypeError || OWN_CODES.includes(error.code)) throw error
        throw new BenchError(`${ask.host} was not answered: ${error.message}`, { cause: error })
      }),

    /** @param {{ address: string, ca: string } & Pick<Probed, 'configuration' | 'credentials' | 'sidecars'>} args */
    async open({ address, ca, configuration, credentials, sidecars }) {
      const { tls, group } = configuration
      const upstreams = await startUpstreams({ address, ca, credentials, tls, group })
      rig = { ...upstreams, configuration, credentials, sidecars }
    },

    /**
     * Until all can be connected: on a cluster an address works a while after what listens there.
     * @param {{ endpoints: Endpoint[] }} args
     */
    reach: ({ endpoints }) =>
      waitFor(async () => (await Promise.all(endpoints.map(canConnect))).every(Boolean), {
        what: `${endpoints.map(e => `${e.address}:${e.port}`).join(', ')} to be reached`,
        deadlineSeconds: REACH_SECONDS,
        intervalMs: 50,
      }),

    /**
     * Brings a configuration to a sidecar: hands it over, then puts it into effect, and waits until a new connection is
     * served by it.
     * @param {{ stage: ReloadAction[], commit: ReloadAction[], endpoint: Endpoint, host: string, deadlineMs: number }} args
     *   host: that is answered 200 from then on; deadlineMs: epoch milliseconds
     * @returns {Promise<number | null>} seconds from the commit on; null: not before the deadline
     */
    async change({ stage, commit, endpoint, host, deadlineMs }) {
      await perform(stage)
      const begin = performance.now()
      await perform(commit)
      for (;;) {
        const answer = await send(endpoint, { host }, { timeoutSeconds: 1 }).catch(() => null)
        const seconds = (performance.now() - begin) / 1000
        if (answer?.status === 200) return seconds
        if (Date.now() >= deadlineMs) return null
        // Seldom where it takes long: looking costs the sidecar, too.
        await delay(seconds < LOOK.oftenSeconds ? LOOK.oftenMs : LOOK.seldomMs)
      }
    },

    /** @param {{ actions: ReloadAction[] }} args */
    perform: ({ actions }) => perform(actions),

    probeAnswers: () => probeAnswers(opened()),
    probeAccess: () => probeAccess(opened()),
    probeCallers: () => probeCallers(opened()),
    probePooling: () => probePooling(opened()),

    close() {
      rig?.close()
      rig = null
    },
  }
}

/** @param {Endpoint} endpoint @returns {Promise<boolean>} */
function canConnect({ address, port }) {
  return new Promise(resolve => {
    const socket = net.connect({ port, host: address, timeout: CONNECT_SECONDS * 1000 })
    const settle = (/** @type {boolean} */ isConnected) => {
      socket.destroy()
      resolve(isConnected)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
    socket.once('timeout', () => settle(false))
  })
}
