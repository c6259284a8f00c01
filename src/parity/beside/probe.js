import http from 'node:http'
import { openChannel } from '../../node/call.js'
import { sendRequest } from '../../node/send.js'
import { probeHandshakes, probePeers } from './access.js'
import { ANSWERS, CONNECT_TIMEOUT, EARLY_ANSWER, GRPC_CHECKS, LONE_RETRY } from './answers.js'
import { BYTES, CONNECT_TIMEOUT_OF_BYTES, LONE_RETRY_OF_BYTES, NEXT_ENDPOINT } from './bytes.js'
import { chooseSecureEndpoint } from './corpus.js'
import { CANCELLATION, UNARY } from './grpc.js'
import { negotiateAsClient, negotiateAsServer, probeSuites, renderNegotiation } from './negotiation.js'

/** The rows of the corpus: whether a plane does what every plane must, in the configuration that is measured. */
/** @import { Credentials, Upstreams } from './upstreams.js' */
/** @import { Check } from './answers.js' */
/** @import { Endpoint, MtlsMode, Protocol, Tls, TrafficPolicy } from '../../model/types.ts' */

const POOL_CLIENTS = 8
const POOL_REQUESTS = 10
// The client's sidecar forwards to another over TLS; the permissive one takes plaintext at a port that takes TLS, too.
const POOL_ENTRIES = ['client', 'permissive']

/**
 * The configuration of the sidecars, by which checks know what to expect.
 * @typedef {object} Configuration
 * @property {Tls} tls
 * @property {Protocol} protocol
 * @property {TrafficPolicy} trafficPolicy
 * @property {string} suite to which they are pinned
 * @property {string} group to which they are pinned
 * @property {string[]} groups of the key exchange, in order
 * @property {number} [tunnelPort] at which they speak TLS; absent: at the port of their listener
 */

/**
 * The sidecars of a rig, and the results of its probes so far.
 * @typedef {object} ProbedSidecars
 * @property {Record<string, Endpoint>} sidecars where each listens, by service
 * @property {Record<string, Credentials>} credentials by name
 * @property {Configuration} configuration
 * @property {number} [requestSeconds] the sidecars' timeout of a request; absent: the answers were not probed yet
 * @property {string[]} [answerDifferences] absent: the answers were not probed yet
 */
/**
 * The rig as the checks beside the services use it.
 * @typedef {Pick<Upstreams, 'countConnections' | 'observed' | 'hasReceived'> & ProbedSidecars} Probed
 */

/**
 * A row of the parity table, without its arm.
 * @typedef {object} ProbedRow
 * @property {string} name
 * @property {MtlsMode} [mode] only links with a listener of that mode do this work; absent: every link does
 * @property {string} found
 * @property {string | null} expected null: the rows of planes are compared with each other
 * @property {string[]} differences each is `what was tried: what is different`; []: none
 */

/**
 * Chooses the checks of the row of answers.
 * @param {Configuration} configuration
 * @returns {Check[]}
 */
function chooseChecks({ protocol }) {
  if (protocol === 'tcp') return BYTES
  return protocol === 'grpc' ? [...GRPC_CHECKS, ...UNARY] : ANSWERS
}

/**
 * Probes the answers, the connect timeout, the refusals and the negotiation of a rig. The answers have no row yet:
 * `probeLoneRetry` creates it from their differences and one more check. An error of a check is a difference: it does not throw.
 * @param {Probed} rig gets `answerDifferences`
 * @returns {Promise<ProbedRow[]>} all rows but that of the answers
 */
export async function probeAnswers(rig) {
  const { configuration } = rig
  // The connect timeout is tried while no connection is kept: HAProxy answers it only on the first request of a connection.
  const connectCheck = configuration.protocol === 'tcp' ? CONNECT_TIMEOUT_OF_BYTES : CONNECT_TIMEOUT
  const timedOut = 'given up by the connect timeout'
  const words = { right: timedOut, wrong: `not ${timedOut}` }
  // This check takes as long as the timeout of a request, so the others run at the same time.
  const connecting = probeCheck(rig, { name: 'parity-connect-timeout', check: connectCheck, words })
  rig.answerDifferences = await runChecks(rig, chooseChecks(configuration))
  const rows = await probeProtocolChecks(rig)
  const access = await probePeers(rig)
  const negotiation = await probeNegotiation(rig)
  return [await connecting, ...rows, ...access, ...negotiation]
}

/**
 * Probes the checks that have a row of their own, by the protocol.
 * @param {Probed} rig
 * @returns {Promise<ProbedRow[]>}
 */
async function probeProtocolChecks(rig) {
  const { protocol } = rig.configuration
  const words = { right: 'passed on whole', wrong: 'cut off' }
  const early = await probeCheck(rig, { name: 'parity-early-answers', check: EARLY_ANSWER, words })
  if (protocol === 'tcp') {
    // For requests, a refused connection is a check among the answers.
    const nextWords = { right: 'tried at the endpoint that is next', wrong: 'not tried elsewhere' }
    return [early, await probeCheck(rig, { name: 'parity-next-endpoint', check: NEXT_ENDPOINT, words: nextWords })]
  }
  if (protocol === 'grpc') {
    // A call that the client cancels is cancelled at the upstream, too.
    const cancelWords = { right: 'passed on to the upstream', wrong: 'not passed on' }
    return [early, await probeCheck(rig, { name: 'parity-cancellation', check: CANCELLATION, words: cancelWords })]
  }
  return [early]
}

/**
 * Probes the handshakes of a rig, and the TLS and the protocol that its sidecars negotiate.
 * @param {Probed} rig
 * @returns {Promise<ProbedRow[]>} in plaintext only TLS and protocol
 */
async function probeNegotiation(rig) {
  const { configuration, credentials } = rig
  const { tls, protocol, suite } = configuration
  const server = { endpoint: chooseSecureEndpoint(rig), credentials: credentials.client }
  const asServer = await negotiateAsServer({ ...server, configuration })
  const asClient = await negotiateAsClient(rig)
  const handshakes = tls === 'plaintext' ? [] : [await probeHandshakes(rig), await probeSuites({ ...server, suite })]
  return [
    ...handshakes,
    {
      name: 'parity-tls',
      found: asServer === asClient.tls ? asServer : `as a server ${asServer}, as a client ${asClient.tls}`,
      expected: renderNegotiation(configuration),
      differences: [],
    },
    {
      name: 'parity-protocol',
      found: asClient.protocol,
      expected: protocol === 'grpc' ? 'HTTP/2' : protocol.toUpperCase(),
      differences: [],
    },
  ]
}

/**
 * Creates the row of answers from the differences of `probeAnswers` and one further check, which counts resets of the kernel:
 * nothing else may run meanwhile, in this rig or another.
 * @param {Probed} rig
 * @returns {Promise<ProbedRow>}
 * @throws {Error} if `probeAnswers` has not ended before
 */
export async function probeLoneRetry(rig) {
  const { configuration, answerDifferences } = rig
  if (!answerDifferences) throw new Error('the answers were not probed before')
  const checkCount = chooseChecks(configuration).length + 1
  const renderCount = (/** @type {number} */ wrong) => `${checkCount - wrong} of ${checkCount} as they must be`
  const loneRetryCheck = configuration.protocol === 'tcp' ? LONE_RETRY_OF_BYTES : LONE_RETRY
  const differences = [...answerDifferences, ...(await runChecks(rig, [loneRetryCheck]))]
  const wrong = new Set(differences.map(line => line.split(': ')[0])).size
  return createRow('parity-answers', differences, { right: renderCount(0), wrong: renderCount(wrong) })
}

/**
 * A row's `found` without differences (right), and with some (wrong).
 * @typedef {{ right: string, wrong: string }} Words
 */

/**
 * Runs one check, and creates its row.
 * @param {Probed} rig
 * @param {{ name: string, check: Check, words: Words }} options name: of the row
 * @returns {Promise<ProbedRow>}
 */
async function probeCheck(rig, { name, check, words }) {
  return createRow(name, await runChecks(rig, [check]), words)
}

/**
 * Creates a row from its differences.
 * @param {string} name of the row
 * @param {string[]} differences
 * @param {Words} words
 * @returns {ProbedRow}
 */
function createRow(name, differences, { right, wrong }) {
  return { name, found: differences.length === 0 ? right : wrong, expected: right, differences }
}

/**
 * Probes whether requests take at most twice as many connections as there are clients, on both sides of sidecars.
 * @param {Probed} rig
 * @returns {Promise<{ row: ProbedRow, requests: number }>} row: also not as expected if nothing has connected to upstream `a`;
 *   requests: how many were sent, whether they were answered or not
 */
export async function probePooling(rig) {
  const requests = POOL_CLIENTS * POOL_REQUESTS
  const pooledText = 'kept and used again'
  /** @type {string[]} */
  const exceeding = []
  for (const entry of POOL_ENTRIES) {
    const opened = await countOpenedConnections(rig, entry)
    if (opened > 2 * POOL_CLIENTS)
      exceeding.push(`${opened} connections for ${requests} requests at ${entry}'s sidecar`)
  }
  const pooling = rig.countConnections() === 0 ? 'the application was never connected' : exceeding.join(' and ')
  const row = { name: 'parity-pooling', found: pooling || pooledText, expected: pooledText, differences: [] }
  return { row, requests: requests * POOL_ENTRIES.length }
}

/**
 * Sends requests of several clients to a sidecar, and counts the connections on the side that has more: from the clients, or to
 * the upstream. Connections of failed requests are not counted at the client.
 * @param {Probed} rig
 * @param {string} entry the service of the sidecar
 * @returns {Promise<number>}
 */
async function countOpenedConnections(rig, entry) {
  const before = rig.countConnections()
  const ports = new Set()
  const sendAsClient = async () => {
    const { protocol } = rig.configuration
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const open = () => (protocol === 'grpc' ? openChannel(rig.sidecars[entry]) : undefined)
    let channel = open()
    for (let i = 0; i < POOL_REQUESTS; i++) {
      // If a sidecar has closed its connection, an agent connects again by itself; a channel does not.
      if (channel?.closed) channel = open()
      await sendRequest(rig.sidecars[entry], { host: 'echo', protocol }, { agent, channel }).then(
        ({ localPort }) => ports.add(localPort),
        () => {},
      )
    }
    agent.destroy()
    channel?.destroy()
  }
  await Promise.all(Array.from({ length: POOL_CLIENTS }, sendAsClient))
  return Math.max(rig.countConnections() - before, ports.size)
}

/**
 * Runs checks at the same time. An error of a check is a difference, too: it does not throw.
 * @param {Probed} rig
 * @param {Check[]} checks
 * @returns {Promise<string[]>} each is `check: difference`; []: none
 */
async function runChecks(rig, checks) {
  const differences = await Promise.all(
    checks.map(check => check.run(rig).catch(error => [`failed: ${error.message}`])),
  )
  return checks.flatMap(({ name }, i) => differences[i].map(difference => `${name}: ${difference}`))
}
