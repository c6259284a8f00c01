import net from 'node:net'
import { send } from './lib/send.js'
import { waitFor } from './lib/wait.js'
import { ADMISSIONS, ANSWERS, negotiateAsServer, probeAnswers, probePooling, REFUSALS } from './parity/probe.js'
import { startUpstreams } from './parity/upstreams.js'

/**
 * What is done from beside the services, where they can be reached: in the orchestrator on one machine, in a pod on a
 * cluster. Arguments and results are plain data.
 * @import { Ask } from './lib/send.js'
 * @import { Probed } from './parity/probe.js'
 * @import { Upstreams } from './parity/upstreams.js'
 * @import { Endpoint } from './types.ts'
 */

const REACH_SECONDS = 20
const CONNECT_SECONDS = 1

/**
 * @param {{ environment: Record<string, string> }} options environment: of the processes it starts
 * @returns the procedures, each of one argument or none
 */
export function createProber({ environment }) {
  /** @type {(Probed & Pick<Upstreams, 'close'>) | null} */
  let rig = null
  const opened = () => {
    if (rig === null) throw new Error('the rig is not open')
    return rig
  }
  return {
    /** @param {{ endpoint: Endpoint, ask: Ask }} args */
    send: ({ endpoint, ask }) => send(endpoint, ask),

    /** @param {{ address: string, ca: string } & Pick<Probed, 'credentials' | 'sidecars'>} args */
    async open({ address, ca, credentials, sidecars }) {
      const upstreams = await startUpstreams({ address, environment, credentials: { ...credentials.server, ca } })
      rig = { ...upstreams, credentials, sidecars }
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

    /** @param {{ name: string }} args of one check of the corpus */
    check: ({ name }) => [...ANSWERS, ...ADMISSIONS, ...REFUSALS].find(check => check.name === name)?.run(opened()),

    probeAnswers: () => probeAnswers(opened()),
    probePooling: () => probePooling(opened()),
    countConnections: () => opened().countConnections(),
    listNegotiated: () => opened().negotiated,
    /** @param {{ options: import('node:tls').ConnectionOptions } | null} args */
    negotiateAsServer: args => negotiateAsServer(opened(), { ...opened().credentials.client, ...args?.options }),

    close() {
      rig?.close()
      rig = null
    },
  }
}

/**
 * @param {Endpoint} endpoint
 * @returns {Promise<boolean>}
 */
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
