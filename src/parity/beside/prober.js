import https from 'node:https'
import { BenchError } from '../../lib/errors.js'
import { sendRequest } from '../../node/send.js'
import { probeAccess } from './access.js'
import { probeAnswers, probeLoneRetry, probePooling } from './probe.js'
import { startUpstreams } from './upstreams.js'

/** The procedures of the equal-work check that run beside the services. They take and return plain data. */
/**
 * @import { Response } from '../../node/send.js'
 * @import { Probed, ProbedRow } from './probe.js'
 */

/** The expected statuses by caller and host: the routes of these hosts list one caller, the other, or neither. */
const EXPECTED_STATUSES = {
  client: { allowed: 200, guest: 403, denied: 403 },
  server: { allowed: 403, guest: 200, denied: 403 },
}
const TURNS = 5

/**
 * Creates the procedures of one rig, each with one argument or none. All but `open` and `close` throw if the rig is not open.
 * @returns open: starts the upstreams; probe…: run the checks of the same name; close: ends the upstreams, if they run
 */
export function createParityProber() {
  /** @type {(Probed & Pick<import('./upstreams.js').Upstreams, 'close'>) | null} */
  let rig = null
  const requireRig = () => {
    if (rig === null) throw new Error('the rig is not open')
    return rig
  }
  return {
    /**
     * Starts the upstreams, and keeps the rig for the other procedures, until `close`. No rig may be open.
     * @param {{ address: string, ca: string } & Pick<Probed, 'configuration' | 'credentials' | 'sidecars'>} args address: that
     *   at which they listen; ca: PEM
     * @throws {Error} as `startUpstreams`
     */
    async open({ address, ca, configuration, credentials, sidecars }) {
      const { tls, protocol, group } = configuration
      const upstreams = await startUpstreams({ address, ca, credentials, tls, protocol, group })
      rig = { ...upstreams, configuration, credentials, sidecars }
    },
    /**
     * Probes the answers of the rig, and keeps the timeout and the differences for `probeLoneRetry`.
     * @param {Pick<Probed, 'requestSeconds'>} args
     * @returns {Promise<ProbedRow[]>} as `probeAnswers` of probe.js: all rows but that of the answers
     * @throws {Error} if the rig is not open
     */
    probeAnswers({ requestSeconds }) {
      rig = { ...requireRig(), requestSeconds }
      return probeAnswers(rig)
    },
    probeLoneRetry: () => probeLoneRetry(requireRig()),
    probeAccess: () => probeAccess(requireRig()),
    probeCallers: () => probeCallers(requireRig()),
    probePooling: () => probePooling(requireRig()),
    close() {
      rig?.close()
      rig = null
    },
  }
}

/**
 * Checks whether a sidecar distinguishes its callers if their requests are mixed: each caller keeps one connection, all at the
 * same time, and sends requests to every route over it, in turns.
 * @param {Pick<Probed, 'sidecars' | 'credentials'>} rig
 * @returns {Promise<string[]>} the differences, also that a connection was not kept; []: none
 * @throws {BenchError} if a request is not answered
 */
async function probeCallers(rig) {
  const differences = await Promise.all(
    Object.entries(EXPECTED_STATUSES).map(async ([caller, statuses]) => {
      const answers = await sendInTurns(rig, { caller, hosts: Object.keys(statuses) })
      return listCallerDifferences({ caller, statuses, answers })
    }),
  )
  return differences.flat()
}

/**
 * Sends TURNS requests to each host as a caller, over one connection to the server's sidecar.
 * @param {Pick<Probed, 'sidecars' | 'credentials'>} rig
 * @param {{ caller: string, hosts: string[] }} options
 * @returns {Promise<{ host: string, answer: Response }[]>}
 * @throws {BenchError} if a request is not answered
 */
async function sendInTurns({ sidecars, credentials }, { caller, hosts }) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  const tls = { servername: 'server', ...credentials[caller] }
  const answers = []
  try {
    for (let i = 0; i < TURNS; i++) {
      for (const host of hosts) {
        const answer = await sendRequest(sidecars.server, { host }, { agent, tls }).catch(cause => {
          throw new BenchError(`a request of ${caller} to ${host} was not answered: ${cause.message}`, { cause })
        })
        answers.push({ host, answer })
      }
    }
    return answers
  } finally {
    agent.destroy()
  }
}

/**
 * Lists the differences of one caller's answers: other statuses, and more connections than one.
 * @param {{ caller: string, statuses: Record<string, number>,
 *   answers: { host: string, answer: Pick<Response, 'status' | 'isReused'> }[] }} options statuses: expected, by host
 * @returns {string[]} []: none
 */
export function listCallerDifferences({ caller, statuses, answers }) {
  const wrongAnswers = answers.filter(({ host, answer }) => answer.status !== statuses[host])
  const opened = answers.filter(({ answer }) => !answer.isReused).length
  return [
    ...wrongAnswers.map(
      ({ host, answer }) => `${answer.status} for ${caller} of a route that is ${host}, expected ${statuses[host]}`,
    ),
    ...(opened === 1 ? [] : [`${opened} connections for ${answers.length} requests of ${caller}`]),
  ]
}
