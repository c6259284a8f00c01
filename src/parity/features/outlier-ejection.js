import { sleep } from '../../lib/wait.js'
import { FAILS_PATH } from '../beside/corpus.js'
import { EJECTION } from '../rig-models.js'

/**
 * The check of the feature `outlier-ejection`: an endpoint that keeps failing is ejected, and gets nothing for a time.
 * @import { Rig } from '../rig.js'
 */

const { consecutiveFailures: FAILURES, baseSeconds: BASE_SECONDS } = EJECTION
// Envoy's threads need a moment to tell each other that an endpoint is ejected.
const SETTLED_MS = 100
// The kit lets Envoy look once a second which ejections are over; the rest is for a busy machine.
const LATE_SECONDS = 3
const POLL_MS = 20
const REQUESTS_WHILE_EJECTED = 10
// Each of two endpoints gets at least one of this many requests.
const TURNS = 4

const NONE_IN_TIME = `no request was answered within the ${BASE_SECONDS} s of an ejection`

/** @typedef {{ status: number, upstream: string | undefined }} Answer upstream: that answered; undefined: the sidecar did */

/**
 * Checks the ejection of failing endpoints.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts
 */
export async function checkOutlierEjection(rig) {
  const differences = await Promise.all([
    checkEndpointWithErrors(rig),
    checkEndpointWithResets(rig),
    checkLoneEndpoint(rig),
  ])
  return differences.flat()
}

/**
 * Checks that one of two endpoints, which answers 5xx too often in a row, gets no request for a time, and that the other stays
 * whatever it answers, since at most half of a cluster may be ejected.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} as `checkOutlierEjection`
 */
async function checkEndpointWithErrors(rig) {
  const send = (/** @type {string} */ path) => sendToHost(rig, 'flaky', path)
  const failingPath = `${FAILS_PATH}/b`
  // Failures that a success interrupts are not in a row.
  await sendUntilAnsweredByB(send, failingPath, FAILURES - 1)
  await sendUntilAnsweredByB(send, '/', 1)
  await sendUntilAnsweredByB(send, failingPath, FAILURES - 1)
  const isStillThere = await sendUntilAnsweredByB(send, '/', 1)
  if (!isStillThere) return ['an endpoint ejected by failures that were not in a row']

  await sendUntilAnsweredByB(send, failingPath, FAILURES - 1)
  const ejectedAtMs = performance.now()
  await sendUntilAnsweredByB(send, failingPath, 1)
  await sleep(SETTLED_MS, rig.signal)
  const sendWhileEjected = (/** @type {number} */ i) => send(i < REQUESTS_WHILE_EJECTED / 2 ? '/' : '/status/500')
  const answers = await collectAnswersWhileEjected(sendWhileEjected, ejectedAtMs)

  const limitMs = ejectedAtMs + (BASE_SECONDS + LATE_SECONDS) * 1000
  let isBack = answers.some(({ upstream }) => upstream === 'b')
  while (!isBack && performance.now() < limitMs) {
    await sleep(POLL_MS, rig.signal)
    isBack = (await send('/')).upstream === 'b'
  }
  return listEjectionDifferences({ answers, backSeconds: isBack ? (performance.now() - ejectedAtMs) / 1000 : null })
}

/**
 * Sends requests to two endpoints until b has answered `times` of them, or each endpoint has had enough turns for that.
 * @param {(path: string) => Promise<Answer>} send
 * @param {string} path
 * @param {number} times at most TURNS requests are sent for each
 * @returns {Promise<boolean>} true: b has answered `times`
 * @throws what `send` throws
 */
async function sendUntilAnsweredByB(send, path, times) {
  let count = 0
  for (let i = 0; i < times * TURNS && count < times; i++) {
    const { upstream } = await send(path)
    if (upstream === 'b') count++
  }
  return count === times
}

/**
 * Lists the differences from an ejection of b: all requests go to a, and b returns neither before the ejection is over nor much
 * later. No answer in time is a difference, too.
 * @param {{ answers: Answer[], backSeconds: number | null }} options answers: those while b is ejected; backSeconds: from the
 *   ejection to the next answer of b, null: none came in time
 * @returns {string[]} []: none
 */
export function listEjectionDifferences({ answers, backSeconds }) {
  const elsewhere = answers.filter(({ upstream }) => upstream !== 'a')
  const returnTime =
    backSeconds === null ? `not back ${BASE_SECONDS + LATE_SECONDS} s after` : `back ${backSeconds} s after`
  return [
    ...(answers.length === 0 ? [NONE_IN_TIME] : []),
    ...(elsewhere.length === 0
      ? []
      : [`${elsewhere.length} of ${answers.length} requests not at the endpoint that was left`]),
    ...(backSeconds !== null && backSeconds >= BASE_SECONDS ? [] : [`${returnTime} an ejection of ${BASE_SECONDS} s`]),
  ]
}

/**
 * Checks that an endpoint which resets connections is ejected like one that answers 5xx.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} as `checkOutlierEjection`
 */
async function checkEndpointWithResets(rig) {
  const send = () => sendToHost(rig, 'fragile', '/')
  let brokenCount = 0
  let ejectedAtMs = 0
  for (let i = 0; i < FAILURES * TURNS && brokenCount < FAILURES; i++) {
    ejectedAtMs = performance.now()
    const { status } = await send()
    if (status === 503) brokenCount++
  }
  await sleep(SETTLED_MS, rig.signal)
  return listBrokenDifferences(brokenCount, await collectAnswersWhileEjected(send, ejectedAtMs))
}

/**
 * Lists how results differ from FAILURES broken connections after which b serves all requests.
 * @param {number} brokenCount how many connections were broken
 * @param {Answer[]} answers after them
 * @returns {string[]} []: none; one line if no answer came in time
 */
export function listBrokenDifferences(brokenCount, answers) {
  if (answers.length === 0) return [NONE_IN_TIME]
  const served = answers.filter(({ upstream }) => upstream === 'b').length
  return brokenCount === FAILURES && served === answers.length
    ? []
    : [`${served} of ${answers.length} requests served after ${brokenCount} broken connections`]
}

/**
 * Sends requests until the ejection is over, which on a busy machine is before the last request. The answer that comes after
 * that moment is left out.
 * @param {(i: number) => Promise<Answer>} send sends the i-th request
 * @param {number} ejectedAtMs the earliest time of the ejection, of performance.now()
 * @returns {Promise<Answer[]>} at most REQUESTS_WHILE_EJECTED; []: no answer came in time
 * @throws what `send` throws
 */
export async function collectAnswersWhileEjected(send, ejectedAtMs) {
  const answers = []
  for (let i = 0; i < REQUESTS_WHILE_EJECTED; i++) {
    const answer = await send(i)
    if (performance.now() >= ejectedAtMs + BASE_SECONDS * 1000) break
    answers.push(answer)
  }
  return answers
}

/**
 * Checks that a lone endpoint is not ejected.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} as `checkOutlierEjection`
 */
async function checkLoneEndpoint(rig) {
  for (let i = 0; i < 2 * FAILURES; i++) await sendToHost(rig, 'alone', '/status/500')
  await sleep(SETTLED_MS, rig.signal)
  const { status, upstream } = await sendToHost(rig, 'alone', '/')
  return status === 200 && upstream === 'b' ? [] : [`${status} of a lone endpoint that has failed`]
}

/**
 * Sends a request through both sidecars.
 * @param {Rig} rig
 * @param {string} host
 * @param {string} path
 * @returns {Promise<Answer>}
 * @throws {BenchError} if it is not answered; the reason of the rig's signal when it aborts
 */
async function sendToHost({ send }, host, path) {
  const { status, headers } = await send({ host, path })
  return { status, upstream: /** @type {string | undefined} */ (headers['x-upstream']) }
}
