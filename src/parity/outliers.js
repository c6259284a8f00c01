import { sleep } from '../lib/wait.js'
import { FAILS_PATH } from './beside/corpus.js'
import { EJECTION } from './rig.js'

/**
 * Checks whether sidecars eject an endpoint that keeps failing, and send nothing to it for a time.
 * @import { Rig } from './rig.js'
 */

const { consecutiveFailures: FAILURES, baseSeconds: BASE_SECONDS } = EJECTION
// Envoy's threads need a moment to tell each other that an endpoint is ejected.
const SETTLED_MS = 100
// Envoy checks once a second which ejections are over; the other two seconds are for a busy machine.
const LATE_SECONDS = 3
const OFTEN_MS = 20
// Requests that are sent while an endpoint is ejected.
const OTHERS = 10
// Each of two endpoints gets at least one of this many requests.
const TURNS = 4

const NONE_IN_TIME = `no request was answered within the ${BASE_SECONDS} s of an ejection`

/** @typedef {{ status: number, upstream: string | undefined }} Answer upstream: that answered; undefined: the sidecar did */

/**
 * Checks the ejection of failing endpoints.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
export async function checkEjection(rig) {
  const differences = await Promise.all([checkTurns(rig), checkBrokenEndpoint(rig), checkLoneEndpoint(rig)])
  return differences.flat()
}

/**
 * Checks that one of two endpoints, which fails too often in a row, gets no request for a time, and that the other stays
 * whatever it answers, since at most half of a cluster may be ejected.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
async function checkTurns(rig) {
  const ask = (/** @type {string} */ path) => sendToHost(rig, 'flaky', path)
  const askB = async (/** @type {string} */ path, times = 1) => {
    let count = 0
    for (let i = 0; i < times * TURNS && count < times; i++) if ((await ask(path)).upstream === 'b') count++
    return count === times
  }
  const failingPath = `${FAILS_PATH}/b`
  await askB(failingPath, FAILURES - 1)
  await askB('/')
  await askB(failingPath, FAILURES - 1)
  if (!(await askB('/'))) return ['an endpoint ejected by failures that were not in a row']

  await askB(failingPath, FAILURES - 1)
  const ejectedMs = performance.now()
  await askB(failingPath)
  await sleep(SETTLED_MS, rig.signal)
  const answers = await collectAnswersWhileEjected(i => ask(i < OTHERS / 2 ? '/' : '/status/500'), ejectedMs)

  const limitMs = ejectedMs + (BASE_SECONDS + LATE_SECONDS) * 1000
  let isBack = answers.some(({ upstream }) => upstream === 'b')
  while (!isBack && performance.now() < limitMs) {
    await sleep(OFTEN_MS, rig.signal)
    isBack = (await ask('/')).upstream === 'b'
  }
  return listEjectionDifferences({ answers, backSeconds: isBack ? (performance.now() - ejectedMs) / 1000 : null })
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
 * Checks that an endpoint which breaks connections is ejected like one that answers 5xx.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
async function checkBrokenEndpoint(rig) {
  let brokenCount = 0
  let ejectedMs = 0
  for (let i = 0; i < FAILURES * TURNS && brokenCount < FAILURES; i++) {
    ejectedMs = performance.now()
    if ((await sendToHost(rig, 'fragile', '/')).status === 503) brokenCount++
  }
  await sleep(SETTLED_MS, rig.signal)
  return listBrokenDifferences(
    brokenCount,
    await collectAnswersWhileEjected(() => sendToHost(rig, 'fragile', '/'), ejectedMs),
  )
}

/**
 * Lists the difference from a connection that was broken FAILURES times, after which b serves all requests.
 * @param {number} brokenCount how many connections were broken
 * @param {Answer[]} answers after them
 * @returns {string[]} []: none
 */
export function listBrokenDifferences(brokenCount, answers) {
  if (answers.length === 0) return [NONE_IN_TIME]
  const served = answers.filter(({ upstream }) => upstream === 'b').length
  return brokenCount === FAILURES && served === answers.length
    ? []
    : [`${served} of ${answers.length} requests served after ${brokenCount} broken connections`]
}

/**
 * Sends requests until the endpoint may be back, which on a busy machine is before the last request. The answer that comes
 * after that moment is left out.
 * @param {(i: number) => Promise<Answer>} ask sends the i-th request
 * @param {number} ejectedMs the earliest time of the ejection, of performance.now()
 * @returns {Promise<Answer[]>} []: no answer came in time
 */
export async function collectAnswersWhileEjected(ask, ejectedMs) {
  const answers = []
  for (let i = 0; i < OTHERS; i++) {
    const answer = await ask(i)
    if (performance.now() >= ejectedMs + BASE_SECONDS * 1000) break
    answers.push(answer)
  }
  return answers
}

/**
 * Checks that a lone endpoint is not ejected.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 */
async function checkLoneEndpoint(rig) {
  for (let i = 0; i < 2 * FAILURES; i++) await sendToHost(rig, 'alone', '/status/500')
  await sleep(SETTLED_MS, rig.signal)
  const { status, upstream } = await sendToHost(rig, 'alone', '/')
  return status === 200 && upstream === 'b' ? [] : [`${status} of a lone endpoint that has failed`]
}

/**
 * Sends a request to a host.
 * @param {Rig} rig
 * @param {string} host
 * @param {string} path
 * @returns {Promise<Answer>}
 */
async function sendToHost({ send }, host, path) {
  const { status, headers } = await send({ host, path })
  return { status, upstream: /** @type {string | undefined} */ (headers['x-upstream']) }
}
