import { randomBytes } from 'node:crypto'
import http2 from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { CODES, callUnary, frameMessage, openChannel } from '../../node/call.js'
import { ANSWER_SECONDS, waitForArrival } from './answers.js'
import { CANCELLED, GRPC_PATHS, REASON } from './grpc-upstream.js'

/** The checks of gRPC: unary calls that every plane which carries gRPC must carry alike. */
/**
 * @import { Probed } from './probe.js'
 * @import { Check } from './answers.js'
 * @import { Called } from '../../node/call.js'
 */

const { NGHTTP2_CANCEL } = http2.constants
const HELD_MS = 300
// The longest message that a gRPC client accepts by default.
const LARGE_BYTES = 4 * 1024 * 1024
const CONCURRENT = 32

/** @type {Check[]} */
export const UNARY = [
  createCallCheck('a status and a trailer of its own, behind the message', async ({ ask }) => {
    const nonce = randomBytes(8).toString('hex')
    const { code, body, trailers } = await ask('/', { body: 'message', nonce })
    return listFieldDifferences(
      { code, body, trailer: trailers['x-trailer'] },
      { code: CODES.ok, body: 'message', trailer: nonce },
    )
  }),
  createCallCheck('an error, in trailers behind the message', async ({ ask }) => {
    const { code, body, trailers } = await ask(`${GRPC_PATHS.code}5`, { body: 'message' })
    return listFieldDifferences(
      { code, body, trailer: trailers['x-trailer'] },
      { code: 5, body: REASON, trailer: 'none' },
    )
  }),
  createCallCheck('an error, and nothing else', async ({ ask }) => {
    const { code, body } = await ask(`${GRPC_PATHS.only}${CODES.permissionDenied}`, {})
    return listFieldDifferences({ code, body }, { code: CODES.permissionDenied, body: REASON })
  }),
  createCallCheck('a large message, both ways', async ({ ask }) => {
    // Bodies are bytes as latin1 (call.js), which keeps any byte as it is.
    const sent = randomBytes(LARGE_BYTES).toString('latin1')
    const { code, body } = await ask('/', { body: sent })
    return listFieldDifferences(
      { code, bytes: body.length, same: body === sent },
      { code: 0, bytes: LARGE_BYTES, same: true },
    )
  }),
  createCallCheck('many calls at once over one connection, with messages of different lengths', async ({ ask }) => {
    const sent = Array.from({ length: CONCURRENT }, (_, i) => `${i}-`.repeat(1 + 997 * i))
    const answers = await Promise.all(sent.map((body, i) => ask('/', { body, nonce: `${i}` })))
    const wrong = answers.filter(
      ({ code, body, trailers }, i) => code !== 0 || body !== sent[i] || trailers['x-trailer'] !== `${i}`,
    )
    return wrong.length > 0 ? [`${wrong.length} of ${CONCURRENT} answered otherwise`] : []
  }),
  createCallCheck('a half-close: the answer comes when the client has ended its half', async ({ ask }) => {
    let isEnded = false
    const { code, body } = await ask('/', {
      begin: async stream => {
        stream.once('response', () => isEnded || stream.destroy(new Error('answered before the client ended')))
        stream.write(frameMessage(Buffer.from('held')))
        await delay(HELD_MS)
        isEnded = true
        stream.end()
      },
    })
    return listFieldDifferences({ code, body }, { code: CODES.ok, body: 'held' })
  }),
  createCallCheck('a call that the client cancels, and one after it', async ({ ask, rig }) => {
    const { differences } = await cancelCall(ask, rig)
    return [...differences, ...(await checkNextCall(ask))]
  }),
  ...[
    [GRPC_PATHS.reset, 'a stream that the upstream resets, and one after it'],
    [GRPC_PATHS.cut, 'a stream that the upstream resets in the middle of its answer, and one after it'],
  ].map(([path, name]) =>
    createCallCheck(name, async ({ ask }) => {
      const failed = await ask(path, { body: 'b'.repeat(1024) }).catch(() => null)
      return [...(failed?.code === CODES.ok ? ['answered OK'] : []), ...(await checkNextCall(ask))]
    }),
  ),
]

/** @type {Check} */
export const CANCELLATION = createCallCheck('a call that the client cancels', async ({ ask, rig }) => {
  const { path, differences } = await cancelCall(ask, rig)
  if (differences.length > 0) return differences
  return (await waitForArrival(rig, CANCELLED + path)) ? [] : ['the upstream was not told']
})

/**
 * The parts in which a call differs from the others of a check.
 * @typedef {object} CallParts
 * @property {string} [body]
 * @property {string} [nonce]
 * @property {(stream: http2.ClientHttp2Stream) => void} [begin] writes the stream itself, in place of a body
 */
/**
 * Calls the upstream `a` over the check's connection. It rejects as `callUnary`.
 * @typedef {(path: string, parts: CallParts) => Promise<Called>} AskUpstream
 */

/**
 * Creates a check whose calls share one connection to the client's sidecar.
 * @param {string} name of the check
 * @param {(tools: { ask: AskUpstream, rig: Probed }) => Promise<string[]>} run lists the differences; []: it passed
 * @returns {Check}
 */
function createCallCheck(name, run) {
  return {
    name,
    async run(rig) {
      const channel = openChannel(rig.sidecars.client)
      /** @type {AskUpstream} */
      const ask = (path, { body, nonce, begin }) => {
        const headers = nonce === undefined ? undefined : { 'x-nonce': nonce }
        const options = { channel, begin, timeoutSeconds: ANSWER_SECONDS }
        return callUnary(rig.sidecars.client, { host: 'echo', path, body, headers }, options)
      }
      try {
        return await run({ ask, rig })
      } finally {
        channel.destroy()
      }
    },
  }
}

/**
 * Makes a call, and cancels it when it has arrived at the upstream, or after ARRIVAL_SECONDS.
 * @param {AskUpstream} ask
 * @param {Probed} rig
 * @returns {Promise<{ path: string, differences: string[] }>} path: of the call; differences: []: it arrived, and was not
 *   answered
 */
async function cancelCall(ask, rig) {
  const path = `${GRPC_PATHS.hang}${randomBytes(8).toString('hex')}`
  /** @type {string[]} */
  const differences = []
  await ask(path, {
    begin: async stream => {
      stream.end(frameMessage(Buffer.from('message')))
      if (!(await waitForArrival(rig, path))) differences.push('it did not come to the upstream')
      stream.close(NGHTTP2_CANCEL)
    },
  }).then(
    ({ code }) => differences.push(`answered ${code}`),
    () => {},
  )
  return { path, differences }
}

/**
 * Checks that the connection still serves calls after one that failed.
 * @param {AskUpstream} ask
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {Error} if the call is not answered
 */
async function checkNextCall(ask) {
  const { code, body } = await ask('/', { body: 'after' })
  return listFieldDifferences({ code, body }, { code: CODES.ok, body: 'after' }).map(line => `after it ${line}`)
}

/**
 * Lists the expected fields in which values differ.
 * @param {Record<string, unknown>} actual
 * @param {Record<string, unknown>} expected
 * @returns {string[]} []: none
 */
function listFieldDifferences(actual, expected) {
  return Object.keys(expected)
    .filter(name => actual[name] !== expected[name])
    .map(name => `${name} ${renderFieldValue(actual[name])}, expected ${renderFieldValue(expected[name])}`)
}

/**
 * Renders a value, or the length of a text above 60 characters.
 * @param {unknown} value
 * @returns {string}
 */
function renderFieldValue(value) {
  return typeof value === 'string' && value.length > 60 ? `${value.length} bytes` : `${value}`
}
