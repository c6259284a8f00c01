import http from 'node:http'
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

/** Requests that every plane must answer alike. */
/** @import { Probed } from './probe.js' */
/** @import { EchoedRequest } from './corpus.js' */
/** @import { Ask } from '../../node/send.js' */

const SPLIT_REQUESTS = 400
const SPLIT_CLIENTS = 8
const SPLIT_SHARE = 0.8
// The critical value of chi-square for one degree of freedom at 0.5 % (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
const CHI_SQUARE_MOST = 7.879
/** The prober waits for an answer this long, longer than the sidecars' own timeouts, also on a slow machine. */
export const ANSWER_SECONDS = 120
// Upstreams that never answer: only a timeout of the sidecar ends a request to them. One that comes after this many times the
// timeout is none of the rig's: a sidecar as it is deployed may have no timeout, and no answer would come.
const SILENT = new Set(['slow', 'full'])
const SILENT_TIMES = 3
// A request without a host is malformed (400; RFC 9112, 3.2), or has no route (404).
const NO_HOST = [400, 404]
// Two connect timeouts take half of a request's time, more on a busy machine; without a connect timeout, connecting takes all of it.
const CONNECT_SHARE_MOST = 0.9
// Tries that are expected, and how often the check is repeated: at least, and at most while it counts more.
const LONE = { tries: 2, times: 3, timesMost: 30 }

/** @typedef {{ name: string, run: (rig: Probed) => Promise<string[]> }} Check run: lists the differences; empty: it passed */

/**
 * Creates the check of a case of the corpus.
 * @param {{ name: string, request: Ask, expected: Partial<EchoedRequest> }} row
 * @returns {Check}
 */
const checkCase = ({ name, ...row }) => ({
  name,
  run: async rig => listAnswerDifferences(await requestEcho(rig, row.request), row.expected),
})

/** Checks that are the same for requests and gRPC calls. @type {Check[]} */
const COMMON = [
  {
    name: 'headers that another proxy has set, passed on in both directions',
    run: async rig => {
      const { protocol } = rig.configuration
      const request = { host: 'echo', path: '/headers', headers: PASSED_ON, protocol }
      const { body, headers } = await sendRequest(rig.sidecars.client, request)
      return [
        ...listRemovedHeaders(PASSED_ON, JSON.parse(body)).map(lost => `${lost} of the request`),
        ...listRemovedHeaders({ via: PASSED_ON.via }, headers).map(lost => `${lost} of the answer`),
      ]
    },
  },
  {
    name: 'a refused connection, tried once more at the endpoint that is next',
    run: async rig => {
      const answers = []
      for (let i = 0; i < 20; i++) answers.push(await requestEcho(rig, { host: 'half', method: 'POST', body: `${i}` }))
      const wrong = answers.filter((a, i) => a.status !== 200 || a.upstream !== 'a' || a.body !== `${i}`)
      return wrong.length > 0 ? [`${wrong.length} of 20 failed`] : []
    },
  },
  {
    name: 'a split by weight',
    // A split is tested twice before it is called wrong: one right sample in 200 is as far off.
    run: async rig =>
      (await isSplitRight(rig)) || (await isSplitRight(rig)) ? [] : ['not 80 : 20 (chi-square, 0.5 %)'],
  },
]

/** @type {Check[]} */
export const ANSWERS = [
  ...CASES.map(checkCase),
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
export const GRPC_CHECKS = [...GRPC_CASES.map(checkCase), ...COMMON]

/** @type {Check} */
export const EARLY_ANSWER = {
  name: 'an answer that begins before its request has ended',
  run: async rig => {
    const body = 'e'.repeat(10 * 1024 * 1024)
    return listAnswerDifferences(await requestEcho(rig, { host: 'echo', method: 'POST', path: EARLY_PATH, body }), {
      status: 200,
      body,
    })
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
      ['full', 'slow'].map(host => measureAnswer(() => requestEcho(rig, { host }))),
    )
    const differences = [slow, full].flatMap(({ answer }) =>
      listAnswerDifferences(answer, { status: chooseExpectedStatus(504, rig.configuration), upstream: undefined }),
    )
    if (differences.length > 0) return [...new Set(differences)]
    if (full.seconds < CONNECT_SHARE_MOST * slow.seconds) return []
    const [late, request] = [full, slow].map(({ seconds }) => seconds.toFixed(1))
    return [`504 after ${late} s, where a request has ${request} s`]
  },
}

/** @type {Check} */
export const LONE_RETRY = createLoneRetry(({ sidecars, configuration: { protocol } }) =>
  sendRequest(sidecars.permissive, { host: 'gone', protocol }),
)

/**
 * Creates a check of how often a refused connection is tried. The prober's kernel refuses each try with a reset, and counts
 * other resets with them. The check must therefore run alone, and is repeated up to LONE.timesMost times: the fewest resets are
 * the sidecar's own tries.
 * @param {(rig: Probed) => Promise<unknown>} sendToRefusing sends a request or bytes to the upstream that refuses
 * @returns {Check}
 */
export function createLoneRetry(sendToRefusing) {
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
 * @param {Ask} request
 * @param {http.Agent} [agent] absent: a connection of its own
 * @returns {Promise<EchoedRequest & { extraHeaders: string[], localPort: number | undefined }>} upstream: absent if a sidecar
 *   answered itself; extraHeaders: names of headers that a sidecar added, without those that may differ
 * @throws if no answer comes in time, or the connection breaks
 */
export async function requestEcho(rig, request, agent) {
  const endpoint = chooseHostEndpoint(rig, `${request.host}`)
  const { configuration, requestSeconds } = rig
  const { protocol } = configuration
  const message = { ...request, protocol }
  const { status, body, headers, localPort } = await sendRequest(endpoint, message, {
    agent,
    timeoutSeconds:
      SILENT.has(`${request.host}`) && requestSeconds
        ? Math.min(SILENT_TIMES * requestSeconds, ANSWER_SECONDS)
        : ANSWER_SECONDS,
  })
  const get = (/** @type {string} */ name) => /** @type {string | undefined} */ (headers[name])
  return {
    status,
    body,
    localPort,
    upstream: get('x-upstream'),
    path: get('x-path'),
    method: get('x-method'),
    nonce: get('x-nonce'),
    long: get('x-long')?.length,
    extraHeaders: Object.keys(headers).filter(
      name => !IGNORED_HEADERS.test(name) && !name.startsWith('x-') && name !== 'content-type',
    ),
  }
}

/**
 * Measures how long an answer takes.
 * @template T
 * @param {() => Promise<T>} getAnswer sends the request
 * @returns {Promise<{ answer: T, seconds: number }>}
 */
async function measureAnswer(getAnswer) {
  const beganAt = performance.now()
  const answer = await getAnswer()
  return { answer, seconds: (performance.now() - beganAt) / 1000 }
}

/**
 * Says whether the shares of a split's upstreams fit its weights, by a chi-square test.
 * @param {Probed} rig
 * @returns {Promise<boolean>}
 */
async function isSplitRight(rig) {
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
  const counts = [answers.filter(a => a.upstream === 'a').length, answers.filter(a => a.upstream === 'b').length]
  const expected = [SPLIT_SHARE * SPLIT_REQUESTS, (1 - SPLIT_SHARE) * SPLIT_REQUESTS]
  const chiSquare = counts.reduce((sum, n, i) => sum + (n - expected[i]) ** 2 / expected[i], 0)
  return chiSquare <= CHI_SQUARE_MOST
}

/**
 * Lists the differences of an answer from the expected one, a 503 without a reason, and headers that a sidecar added.
 * @param {EchoedRequest & { extraHeaders: string[] }} answer
 * @param {Partial<EchoedRequest>} expected fields that it lacks may have any value
 * @returns {string[]} []: none
 */
function listAnswerDifferences(answer, expected) {
  const wrongFields = Object.entries(expected).filter(
    ([name, value]) => answer[/** @type {keyof EchoedRequest} */ (name)] !== value,
  )
  const isMute = answer.status === 503 && answer.upstream === undefined && answer.body === ''
  return [
    ...wrongFields.map(([name, value]) => {
      // If a sidecar answers itself, the body says why.
      const why = name === 'status' && answer.upstream === undefined && answer.body
      const text = renderShortValue(answer[/** @type {keyof EchoedRequest} */ (name)])
      return `${name} ${text}${why ? ` (${why.slice(0, 100)})` : ''}, expected ${renderShortValue(value)}`
    }),
    ...(isMute ? ['a 503 without a reason'] : []),
    ...(answer.extraHeaders.length > 0 ? [`headers of its own: ${answer.extraHeaders.join(', ')}`] : []),
  ]
}

/**
 * Lists headers that did not arrive with their value. A proxy may have added its own value behind a comma.
 * @param {Record<string, string>} sent
 * @param {Record<string, unknown>} received
 * @returns {string[]} []: all arrived
 */
function listRemovedHeaders(sent, received) {
  const hasArrived = (/** @type {string} */ name) => `${received[name]}`.split(', ').includes(sent[name])
  return Object.keys(sent)
    .filter(name => !hasArrived(name))
    .map(name => `${name} ${received[name] ?? 'removed'}, expected ${sent[name]}`)
}

/**
 * Renders a value, or the length of a text above 40 characters.
 * @param {unknown} value
 * @returns {string}
 */
function renderShortValue(value) {
  return typeof value === 'string' && value.length > 40 ? `${value.length} bytes` : `${value ?? 'none'}`
}
