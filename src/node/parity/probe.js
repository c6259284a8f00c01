import http from 'node:http'
import { describeAccess, listDifferences, probeAccess } from './access.js'
import { ANSWERS, ask } from './answers.js'
import { describeNegotiation, negotiateAsClient, negotiateAsServer } from './negotiation.js'

/**
 * Whether a plane does what every plane must, in the configuration that is measured.
 * @import { Credentials, Upstreams } from './upstreams.js'
 * @import { Check } from './answers.js'
 * @import { Endpoint, Protocol, Tls, TrafficPolicy } from '../../model/types.ts'
 */

const POOL_CLIENTS = 8
const POOL_REQUESTS = 20

/**
 * What the sidecars were given, and what they are pinned to.
 * @typedef {{ tls: Tls, protocol: Protocol, trafficPolicy: TrafficPolicy, suite: string, group: string }} Configuration
 */

/**
 * What a check needs.
 * @typedef {Pick<Upstreams, 'countConnections' | 'observed'> & { sidecars: Record<string, Endpoint>,
 *   credentials: Record<string, Credentials>, configuration: Configuration }} Probed sidecars: where each listens, by service
 */

/** A row of the table, without the arm that it is for. @typedef {{ name: string, found: string, expected: string | null, differences: string[] }} Row */

/**
 * What is answered, refused and negotiated.
 * @param {Probed} rig
 * @returns {Promise<Row[]>}
 */
export async function probeAnswers(rig) {
  const { configuration, credentials, sidecars } = rig
  const answers = await runChecks(rig, ANSWERS)
  const access = listDifferences(await probeAccess(rig))
  const asServer = await negotiateAsServer({ endpoint: sidecars.server, credentials: credentials.client })
  const asClient = await negotiateAsClient(rig)
  const count = (/** @type {number} */ wrong) => `${ANSWERS.length - wrong} of ${ANSWERS.length} as they must be`
  const words = describeAccess(configuration)
  return [
    { name: 'parity-answers', found: count(answers.length), expected: count(0), differences: answers },
    {
      name: 'parity-refusals',
      found: access.length === 0 ? words : `${access.length} peers treated otherwise`,
      expected: words,
      differences: access,
    },
    {
      name: 'parity-tls',
      found: asServer === asClient.tls ? asServer : `as a server ${asServer}, as a client ${asClient.tls}`,
      expected: describeNegotiation(configuration),
      differences: [],
    },
    {
      name: 'parity-protocol',
      found: asClient.protocol,
      expected: configuration.protocol.toUpperCase(),
      differences: [],
    },
  ]
}

/**
 * Whether some clients' requests reach the upstream over as many connections, kept on both sides.
 * @param {Probed} rig
 * @returns {Promise<{ row: Row, requests: number }>}
 */
export async function probePooling(rig) {
  const before = rig.countConnections()
  const ports = new Set()
  await Promise.all(
    Array.from({ length: POOL_CLIENTS }, async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      for (let i = 0; i < POOL_REQUESTS; i++)
        await ask(rig, { host: 'echo' }, agent).then(
          ({ localPort }) => ports.add(localPort),
          () => {},
        )
      agent.destroy()
    }),
  )
  const requests = POOL_CLIENTS * POOL_REQUESTS
  const opened = Math.max(rig.countConnections() - before, ports.size)
  const kept = 'kept and used again'
  const found = opened <= 2 * POOL_CLIENTS ? kept : `${opened} connections for ${requests} requests`
  const isConnected = rig.countConnections() > 0
  return {
    row: {
      name: 'parity-pooling',
      found: isConnected ? found : 'the application was never connected',
      expected: kept,
      differences: [],
    },
    requests,
  }
}

/**
 * @param {Probed} rig
 * @param {Check[]} checks
 * @returns {Promise<string[]>} what differs
 */
async function runChecks(rig, checks) {
  const found = await Promise.all(checks.map(check => check.run(rig).catch(error => `failed: ${error.message}`)))
  return checks.flatMap(({ name }, i) => (found[i] === '' ? [] : [`${name}: ${found[i]}`]))
}
