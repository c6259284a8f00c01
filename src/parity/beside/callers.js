import https from 'node:https'
import { send } from '../../node/send.js'

/** Checks whether a sidecar tells its callers apart if their requests are mixed. */
/** @import { Probed } from './probe.js' */
/** @import { Answer } from '../../node/send.js' */

/** The expected statuses by caller and host: the routes of these hosts list one caller, the other, or neither. */
const STATUSES = {
  client: { allowed: 200, guest: 403, denied: 403 },
  server: { allowed: 403, guest: 200, denied: 403 },
}
const TURNS = 5

/**
 * Keeps one connection of each caller, both at the same time, and sends requests to every route over it, in turns. Returns the
 * differences, also if a connection was not kept.
 * @param {Pick<Probed, 'sidecars' | 'credentials'>} rig
 */
export async function probeCallers({ sidecars, credentials }) {
  const differences = await Promise.all(
    Object.entries(STATUSES).map(async ([caller, statuses]) => {
      const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
      const tls = { servername: 'server', ...credentials[caller] }
      /** @type {{ host: string, answer: Answer }[]} */
      const answers = []
      try {
        for (let i = 0; i < TURNS; i++)
          for (const host of Object.keys(statuses))
            answers.push({ host, answer: await send(sidecars.server, { host }, { agent, tls }) })
      } finally {
        agent.destroy()
      }
      return listCallerDifferences({ caller, statuses, answers })
    }),
  )
  return differences.flat()
}

/**
 * Lists the differences of one caller's answers: other statuses, and more connections than one.
 * @param {{ caller: string, statuses: Record<string, number>,
 *   answers: { host: string, answer: Pick<Answer, 'status' | 'isReused'> }[] }} options
 */
export function listCallerDifferences({ caller, statuses, answers }) {
  const wrong = answers.filter(({ host, answer }) => answer.status !== statuses[host])
  const opened = answers.filter(({ answer }) => !answer.isReused).length
  return [
    ...wrong.map(
      ({ host, answer }) => `${answer.status} for ${caller} of a route that is ${host}, expected ${statuses[host]}`,
    ),
    ...(opened === 1 ? [] : [`${opened} connections for ${answers.length} requests of ${caller}`]),
  ]
}
