import http from 'node:http'
import { openChannel } from '../../node/call.js'
import { send } from '../../node/send.js'
import { tryHandshakes, tryPeers } from './access.js'
import { ANSWERS, CALLED, CONNECT_TIMEOUT, EARLY_ANSWER, LONE_RETRY } from './answers.js'
import { BYTES, CONNECT_TIMEOUT_OF_BYTES, LONE_RETRY_OF_BYTES, NEXT_ENDPOINT } from './bytes.js'
import { CANCELLATION, UNARY } from './grpc.js'
import { describeNegotiation, negotiateAsClient, negotiateAsServer, trySuites } from './negotiation.js'

/** Whether a plane does what every plane must, in the configuration that is measured. */
/** @import { Credentials, Upstreams } from './upstreams.js' */
/** @import { Check } from './answers.js' */
/** @import { Endpoint, MtlsMode, Protocol, Tls, TrafficPolicy } from '../../model/types.ts' */

const GIVEN_UP = 'given up by the connect timeout'
const POOL_CLIENTS = 8
const POOL_REQUESTS = 10
// The one passes on to another sidecar over TLS, the other takes plaintext at a port of TLS.
const POOL_ENTRIES = ['client', 'permissive']

/**
 * The configuration of the sidecars, and what they are pinned to.
 * @typedef {{ tls: Tls, protocol: Protocol, trafficPolicy: TrafficPolicy, suite: string, group: string }} Configuration
 */

/**
 * The rig as a check needs it.
 * @typedef {Pick<Upstreams, 'countConnections' | 'observed' | 'hasGot'> & { sidecars: Record<string, Endpoint>,
 *   credentials: Record<string, Credentials>, configuration: Configuration }} Probed sidecars: where each listens, by service
 */

/**
 * A row of the table, without the arm that it is for. mode: of a listener, where only links that have one do this work;
 * differences: each `what was tried: what is different`
 * @typedef {{ name: string, mode?: MtlsMode, found: string, expected: string | null, differences: string[] }} Row
 */

/** Tells what is answered, refused and negotiated. @param {Probed} rig @returns {Promise<Row[]>} */
export async function probeAnswers(rig) {
  const { configuration, credentials, sidecars } = rig
  // The connect timeout first, while no connection is kept: HAProxy gives this answer only to the first request of one.
  const isTcp = configuration.protocol === 'tcp'
  const [checks, connect, alone] = isTcp
    ? [BYTES, CONNECT_TIMEOUT_OF_BYTES, LONE_RETRY_OF_BYTES]
    : [configuration.protocol === 'grpc' ? [...CALLED, ...UNARY] : ANSWERS, CONNECT_TIMEOUT, LONE_RETRY]
  // It takes the time of a request, in which all others are tried.
  const connecting = runChecks(rig, [connect])
  const many = await runChecks(rig, checks)
  const answers = [...many, ...(await runChecks(rig, [alone]))]
  const early = await runChecks(rig, [EARLY_ANSWER])
  const own = isTcp
    ? [await tryNextEndpoint(rig)]
    : configuration.protocol === 'grpc'
      ? [await tryCancellation(rig)]
      : []
  const access = await tryPeers(rig)
  const asServer = await negotiateAsServer({ endpoint: sidecars.server, credentials: credentials.client })
  const asClient = await negotiateAsClient(rig)
  const tried = checks.length + 1
  const count = (/** @type {number} */ wrong) => `${tried - wrong} of ${tried} as they must be`
  const namesOf = (/** @type {string[]} */ differences) => new Set(differences.map(line => line.split(': ')[0]))
  const ofTls = { endpoint: sidecars.server, credentials: credentials.client, suite: configuration.suite }
  const handshakes = configuration.tls === 'plaintext' ? [] : [await tryHandshakes(rig), await trySuites(ofTls)]
  const connects = await connecting
  return [
    createRow('parity-answers', answers, { right: count(0), wrong: count(namesOf(answers).size) }),
    createRow('parity-connect-timeout', connects, { right: GIVEN_UP, wrong: `not ${GIVEN_UP}` }),
    createRow('parity-early-answers', early, { right: 'passed on whole', wrong: 'cut off' }),
    ...own,
    ...access,
    ...handshakes,
    {
      name: 'parity-tls',
      found: asServer === asClient.tls ? asServer : `as a server ${asServer}, as a client ${asClient.tls}`,
      expected: describeNegotiation(configuration),
      differences: [],
    },
    {
      name: 'parity-protocol',
      found: asClient.protocol,
      expected: configuration.protocol === 'grpc' ? 'HTTP/2' : configuration.protocol.toUpperCase(),
      differences: [],
    },
  ]
}

/** Tells whether a refused connection of bytes is tried elsewhere, which requests have among their answers. @param {Probed} rig */
async function tryNextEndpoint(rig) {
  const words = { right: 'tried at the endpoint that is next', wrong: 'not tried elsewhere' }
  return createRow('parity-next-endpoint', await runChecks(rig, [NEXT_ENDPOINT]), words)
}

/** Tells whether a call that the client cancels is cancelled at the upstream: no work of one that is answered. @param {Probed} rig */
async function tryCancellation(rig) {
  const words = { right: 'passed on to the upstream', wrong: 'not passed on' }
  return createRow('parity-cancellation', await runChecks(rig, [CANCELLATION]), words)
}

/** @param {string} name @param {string[]} differences @param {{ right: string, wrong: string }} words */
function createRow(name, differences, { right, wrong }) {
  return { name, found: differences.length === 0 ? right : wrong, expected: right, differences }
}

/**
 * Whether some clients' requests reach the upstream over as many connections, kept on both sides of every sidecar.
 * @param {Probed} rig
 * @returns {Promise<{ row: Row, requests: number }>}
 */
export async function probePooling(rig) {
  const requests = POOL_CLIENTS * POOL_REQUESTS
  const kept = 'kept and used again'
  let found = kept
  for (const entry of POOL_ENTRIES) {
    const opened = await countOpened(rig, entry)
    if (opened > 2 * POOL_CLIENTS) found = `${opened} connections for ${requests} requests at ${entry}'s sidecar`
  }
  if (rig.countConnections() === 0) found = 'the application was never connected'
  const row = { name: 'parity-pooling', found, expected: kept, differences: [] }
  return { row, requests: requests * POOL_ENTRIES.length }
}

/**
 * Counts the connections on the side of a sidecar that has more.
 * @param {Probed} rig @param {string} entry the sidecar's service
 */
async function countOpened(rig, entry) {
  const before = rig.countConnections()
  const ports = new Set()
  await Promise.all(
    Array.from({ length: POOL_CLIENTS }, async () => {
      const { protocol } = rig.configuration
      const kept =
        protocol === 'grpc'
          ? { channel: openChannel(rig.sidecars[entry]) }
          : { agent: new http.Agent({ keepAlive: true, maxSockets: 1 }) }
      for (let i = 0; i < POOL_REQUESTS; i++)
        await send(rig.sidecars[entry], { host: 'echo', protocol }, kept).then(
          ({ localPort }) => ports.add(localPort),
          () => {},
        )
      for (const own of Object.values(kept)) own.destroy()
    }),
  )
  return Math.max(rig.countConnections() - before, ports.size)
}

/** @param {Probed} rig @param {Check[]} checks @returns {Promise<string[]>} what differs */
async function runChecks(rig, checks) {
  const found = await Promise.all(checks.map(check => check.run(rig).catch(error => [`failed: ${error.message}`])))
  return checks.flatMap(({ name }, i) => found[i].map(difference => `${name}: ${difference}`))
}
