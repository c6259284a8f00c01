import http from 'node:http'
import { parseJson } from '../../lib/json.js'
import { pollInTime } from '../../lib/wait.js'
import { countResets } from '../../node/kernel/sockets.js'
import { sendRequest } from '../../node/send.js'
import {
  CASES,
  chooseExpectedStatus,
  chooseHostEndpoint,
  EARLY_PATH,
  GRPC_CASES,
  IGNORED_HEADERS,
  PASSED_ON,
} from './corpus.js'

/** The checks of requests that every plane must answer alike. */
/** @import { Probed } from './probe.js' */
/** @import { EchoedRequest } from './corpus.js' */
/** @import { Request } from '../../node/send.js' */

// The cluster `half` has two endpoints: so many requests reach the one that refuses connections, too.
const HALF_REQUESTS = 20
const SPLIT_REQUESTS = 400
const SPLIT_CLIENTS = 8
const SPLIT_SHARE = 0.8
// The critical value of chi-square for one degree of freedom at 0.5 % (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
const CHI_SQUARE_MOST = 7.879
/** The prober waits for an answer this long, longer than the sidecars' own timeouts, also on a slow machine. */
export const ANSWER_SECONDS = 120
const ARRIVAL_SECONDS = 5
// Upstreams that never answer: only the timeout of the sidecar ends a request to them. The prober waits SILENT_TIMES times as
// long, and no longer: a sidecar as a mesh deploys it may have no timeout, and no answer would come.
const SILENT = new Set(['slow', 'full'])
const SILENT_TIMES = 3
// A request without a host is malformed (400; RFC 9112, 3.2), or has no route (404).
const NO_HOST = [400, 404]
// Two connect timeouts take half of a request's time, more on a busy machine; without a connect timeout, connecting takes all of it.
const CONNECT_SHARE_MOST = 0.9
// Tries that are expected, and how often the check is repeated: at least, and at most while it counts more.
const LONE = { tries: 2, times: 3, timesMost: 30 }

/** @typedef {{ name: string, run: (rig: Probed) => Promise<string[]> }} Check run: lists the differences; []: it passed */

/** @typedef {EchoedRequest & { extraHeaders: string[] }} Echo extraHeaders: names of headers that a sidecar added */

/**
 * Creates the check of a case of the corpus.
 * @param {{ name: string, request: Request, expected: Partial<EchoedRequest> }} testCase
 * @returns {Check}
 */
function createCaseCheck(testCase) {
  return {
    name: testCase.name,
    // A case makes its bodies when it is asked for them: 10 MiB would stay in memory.
    run: async rig => listAnswerDifferences(await requestEcho(rig, testCase.request), testCase.expected),
  }
}

/** Checks that are the same for requests and gRPC calls. @type {Check[]} */
const COMMON = [
  {
    name: 'headers that another proxy has set, passed on in both directions',
    run: async rig => {
      const { protocol } = rig.configuration
      const request = { host: 'echo', path: '/headers', headers: PASSED_ON, protocol }
      const { body, headers } = await sendRequest(rig.sidecars.client, request)
      return [
        ...listRemovedHeaders(PASSED_ON, parseJson(body) ?? {}).map(difference => `${difference} of the request`),
        ...listRemovedHeaders({ via: PASSED_ON.via }, headers).map(difference => `${difference} of the answer`),
      ]
    },
  },
  {
    name: 'a refused connection, tried once more at the endpoint that is next',
    run: async rig => {
      const answers = []
      for (let i = 0; i < HALF_REQUESTS; i++)
        answers.push(await requestEcho(rig, { host: 'half', method: 'POST', body: `${i}` }))
      const wrong = answers.filter(
        ({ status, upstream, body }, i) => status !== 200 || upstream !== 'a' || body !== `${i}`,
      )
      return wrong.length > 0 ? [`${wrong.length} of ${HALF_REQUESTS} failed`] : []
    },
  },
  {
    name: 'a split by weight',
    // A split is tested twice before it is called wrong: one right sample in 200 is as far off.
    run: async rig => ((await testSplit(rig)) || (await testSplit(rig)) ? [] : ['not 80 : 20 (chi-square, 0.5 %)']),
  },
]

/** @type {Check[]} */
export const ANSWERS = [
  ...CASES.map(createCaseCheck),
  {
    name: 'no host, which is no name of a route',
    run: async rig => {
      const { status, upstream } = await requestEcho(rig, { host: null })
      return NO_HOST.includes(status) && upstream === undefined ? [] : [`${status} from ${upstream ?? 'no upstream'}`]
    },
  },
  ...COMMON,
]

/** The checks of requests that gRPC calls can make, too. */
export const GRPC_CHECKS = [...GRPC_CASES.map(createCaseCheck), ...COMMON]

/** @type {Check} */
export const EARLY_ANSWER = {
  name: 'an answer that begins before its request has ended',
  run: async rig => {
    const body = 'e'.repeat(10 * 1024 * 1024)
    const answer = await requestEcho(rig, { host: 'echo', method: 'POST', path: EARLY_PATH, body })
    return listAnswerDifferences(answer, { status: 200, body })
  },
}

/**
 * Both tries of a connection take half of the timeout of a request. A plane, or the sidecar before it, that has no connect
 * timeout answers no sooner for an upstream that cannot be connected than for one that does not answer.
 * @type {Check}
 */
export const CONNECT_TIMEOUT = {
  name: 'an upstream that cannot be connected in time',
  run: async rig => {
    const [full, slow] = await Promise.all(
      ['full', 'slow'].map(host => measureSeconds(() => requestEcho(rig, { host }))),
    )
    const expected = { status: chooseExpectedStatus(504, rig.configuration), upstream: undefined }
    const differences = [slow, full].flatMap(({ answer }) => listAnswerDifferences(answer, expected))
    if (differences.length > 0) return [...new Set(differences)]
    if (full.seconds < CONNECT_SHARE_MOST * slow.seconds) return []
    return [`504 after ${full.seconds.toFixed(1)} s, where a request has ${slow.seconds.toFixed(1)} s`]
  },
}

/** @type {Check} */
export const LONE_RETRY = createLoneRetryCheck(({ sidecars, configuration: { protocol } }) =>
  sendRequest(sidecars.permissive, { host: 'gone', protocol }),
)

/**
 * Creates a check of how often a refused connection is tried. The prober's kernel refuses each try with a reset, and counts
 * other resets with them. The check must therefore run alone, and is repeated up to LONE.timesMost times: the fewest resets are
 * the sidecar's own tries.
 * @param {(rig: Probed) => Promise<unknown>} sendToRefusing sends a request or bytes to the upstream that refuses
 * @returns {Check} throws what `sendToRefusing` throws, or if the kernel's counters cannot be read
 */
export function createLoneRetryCheck(sendToRefusing) {
  return {
    name: 'a refused connection, tried once more at the only endpoint',
    run: async rig => {
      let fewest = Number.POSITIVE_INFINITY
      for (let i = 0; i < LONE.times || (fewest > LONE.tries && i < LONE.timesMost); i++) {
        const before = countResets()
        await sendToRefusing(rig)
        fewest = Math.min(fewest, countResets() - before)
      }
      return fewest === LONE.tries ? [] : [`${fewest} tries, expected ${LONE.tries}`]
    },
  }
}

/**
 * Sends a request to the client's sidecar, and reads what the upstream echoes of it.
 * @param {Probed} rig
 * @param {Request} request
 * @param {http.Agent} [agent] absent: a connection of its own
 * @returns {Promise<Echo & { localPort: number | undefined }>} upstream, path, method, nonce, long: undefined if a sidecar
 *   answered itself; nonce, long: undefined also if the request had none; extraHeaders: without those that may differ
 * @throws {Error} if no answer comes in time, or the connection breaks
 */
export async function requestEcho(rig, request, agent) {
  const { configuration, requestSeconds } = rig
  const endpoint = chooseHostEndpoint(rig, `${request.host}`)
  const message = { ...request, protocol: configuration.protocol }
  const timeoutSeconds =
    SILENT.has(`${request.host}`) && requestSeconds
      ? Math.min(SILENT_TIMES * requestSeconds, ANSWER_SECONDS)
      : ANSWER_SECONDS
  const { status, body, headers, localPort } = await sendRequest(endpoint, message, { agent, timeoutSeconds })
  const readHeader = (/** @type {string} */ name) => /** @type {string | undefined} */ (headers[name])
  return {
    status,
    body,
    localPort,
    upstream: readHeader('x-upstream'),
    path: readHeader('x-path'),
    method: readHeader('x-method'),
    nonce: readHeader('x-nonce'),
    long: readHeader('x-long')?.length,
    extraHeaders: Object.keys(headers).filter(
      name => !IGNORED_HEADERS.test(name) && !name.startsWith('x-') && name !== 'content-type',
    ),
  }
}

/**
 * Sends a request, and measures the time to its answer.
 * @template T
 * @param {() => Promise<T>} send
 * @returns {Promise<{ answer: T, seconds: number }>}
 * @throws what `send` throws
 */
async function measureSeconds(send) {
  const beganAt = performance.now()
  const answer = await send()
  return { answer, seconds: (performance.now() - beganAt) / 1000 }
}

/**
 * Tests a split by chi-square on SPLIT_REQUESTS answers.
 * @param {Probed} rig
 * @returns {Promise<boolean>} true: the shares of its upstreams fit its weights
 * @throws {Error} that of a request that is not answered, once none is under way
 */
async function testSplit(rig) {
  const agent = new http.Agent({ keepAlive: true })
  /** @type {EchoedRequest[]} */
  const answers = []
  let unsent = SPLIT_REQUESTS
  // Each gRPC call has a connection of its own: all at once would be 400 handshakes between sidecars that do not multiplex.
  const sendInTurn = async () => {
    try {
      while (unsent-- > 0) answers.push(await requestEcho(rig, { host: 'split' }, agent))
    } catch (error) {
      unsent = 0
      throw error
    }
  }
  // No request may be under way when this returns: a later check counts resets of the kernel.
  const outcomes = await Promise.allSettled(Array.from({ length: SPLIT_CLIENTS }, sendInTurn))
  agent.destroy()
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  const counts = ['a', 'b'].map(name => answers.filter(({ upstream }) => upstream === name).length)
  const expected = [SPLIT_SHARE * SPLIT_REQUESTS, (1 - SPLIT_SHARE) * SPLIT_REQUESTS]
  const chiSquare = counts.reduce((sum, count, i) => sum + (count - expected[i]) ** 2 / expected[i], 0)
  return chiSquare <= CHI_SQUARE_MOST
}

/**
 * Lists the differences of an answer from the expected one, a 503 without a reason, and headers that a sidecar added.
 * @param {Echo} answer
 * @param {Partial<EchoedRequest>} expected fields that it lacks may have any value
 * @returns {string[]} []: none
 */
function listAnswerDifferences(answer, expected) {
  const readField = (/** @type {string} */ name) => answer[/** @type {keyof EchoedRequest} */ (name)]
  const wrongFields = Object.entries(expected).filter(([name, value]) => readField(name) !== value)
  const isFromSidecar = answer.upstream === undefined
  // If a sidecar answers itself, the body says why.
  const reason = isFromSidecar && answer.body ? ` (${answer.body.slice(0, 100)})` : ''
  return [
    ...wrongFields.map(([name, value]) => {
      const text = `${name} ${renderShortValue(readField(name))}${name === 'status' ? reason : ''}`
      return `${text}, expected ${renderShortValue(value)}`
    }),
    ...(answer.status === 503 && isFromSidecar && answer.body === '' ? ['a 503 without a reason'] : []),
    ...(answer.extraHeaders.length > 0 ? [`headers of its own: ${answer.extraHeaders.join(', ')}`] : []),
  ]
}

/**
 * Waits until an upstream has noted a text, such as the path of a call or its cancellation, for ARRIVAL_SECONDS at most.
 * @param {Pick<Probed, 'hasReceived'>} rig
 * @param {string} text
 * @returns {Promise<boolean>} false: it did not arrive in time
 */
export function waitForArrival(rig, text) {
  return pollInTime(() => rig.hasReceived(text), { deadlineSeconds: ARRIVAL_SECONDS })
}

/**
 * Lists headers that did not arrive with their value. A proxy may have added its own value behind a comma.
 * @param {Record<string, string>} sent
 * @param {Record<string, unknown>} received
 * @returns {string[]} a line for each, with the value that arrived, or `removed`; []: all arrived
 */
function listRemovedHeaders(sent, received) {
  const isReceived = (/** @type {string} */ name) => `${received[name]}`.split(', ').includes(sent[name])
  return Object.keys(sent)
    .filter(name => !isReceived(name))
    .map(name => `${name} ${received[name] ?? 'removed'}, expected ${sent[name]}`)
}

/**
 * Renders a value, or the length of a text above 40 characters.
 * @param {unknown} value
 * @returns {string} `none` for null and undefined
 */
function renderShortValue(value) {
  return typeof value === 'string' && value.length > 40 ? `${value.length} bytes` : `${value ?? 'none'}`
}
