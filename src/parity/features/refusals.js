import { sleep } from '../../lib/wait.js'
import { ANSWER_SECONDS } from '../beside/answers.js'
import { LIMIT_PER_SECOND } from '../beside/corpus.js'
import { NARROW_REQUESTS, RETRIES } from '../rig-models.js'

/**
 * The checks of the features that refuse requests: `authorization`, `rate-limit`, `circuit-breaker` and `retry-budget`.
 * @import { Rig } from '../rig.js'
 */

// The check sends this many times the limit: some requests are refused, however long sending them takes.
const TIMES = 4
// By then a limit for each second has been filled again.
const REFILLED_MS = 1500
const CONCURRENT = 4 * NARROW_REQUESTS

/**
 * Checks the rate limit of a route: of TIMES times as many requests as a second allows, at least those of a second pass, and some
 * are refused; a later one passes.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts
 */
export async function checkRateLimit({ send, signal }) {
  const requestStatus = async () => (await send({ host: 'limited' })).status
  const statuses = await Promise.all(Array.from({ length: TIMES * LIMIT_PER_SECOND }, requestStatus))
  await sleep(REFILLED_MS, signal)
  return listLimitDifferences(statuses, await requestStatus())
}

/**
 * Lists how statuses differ from those of a rate limit.
 * @param {number[]} statuses of concurrent requests, more than the limit
 * @param {number} laterStatus the status of a request after a pause
 * @returns {string[]} []: they do not differ
 */
export function listLimitDifferences(statuses, laterStatus) {
  const passed = statuses.filter(status => status === 200).length
  const refused = statuses.filter(status => status === 429).length
  return [
    ...(passed >= LIMIT_PER_SECOND && refused > 0
      ? []
      : [`${passed} of ${statuses.length} answered 200, ${refused} 429`]),
    ...(passed + refused === statuses.length ? [] : ['an answer other than 200 and 429']),
    ...(laterStatus === 200 ? [] : [`${laterStatus} after the limit was filled again`]),
  ]
}

/**
 * Checks that a route takes the requests of the identities that it lists, and no others: those of the client's sidecar, and of
 * callers whose requests share connections.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts
 */
export async function checkAuthorization({ call, send }) {
  const callerDifferences = await call('probeCallers', undefined)
  const expected = { allowed: 200, denied: 403 }
  const differences = await Promise.all(
    Object.entries(expected).map(async ([host, status]) => {
      const answer = await send({ host })
      return answer.status === status ? [] : [`${answer.status} of a route that is ${host}, expected ${status}`]
    }),
  )
  return [...differences.flat(), ...callerDifferences]
}

/**
 * Checks the circuit breaker: as many requests as the cluster allows wait for an upstream that does not answer; others are
 * refused at once.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts
 */
export async function checkCircuitBreaker({ send }) {
  const requestStatus = async () => (await send({ host: 'narrow' }, { timeoutSeconds: ANSWER_SECONDS })).status
  const statuses = await Promise.all(Array.from({ length: CONCURRENT }, requestStatus))
  const timedOut = statuses.filter(status => status === 504).length
  const refused = statuses.filter(status => status === 503).length
  const isRight = timedOut === NARROW_REQUESTS && refused === CONCURRENT - NARROW_REQUESTS
  return isRight
    ? []
    : [`${timedOut} of ${CONCURRENT} requests waited, ${refused} were refused; ${NARROW_REQUESTS} may wait`]
}

const REQUESTS = 8
// A request and its retry take their turns of the endpoints before the next request comes, and the sidecar returns the budget of
// requests that have timed out. A busy machine needs longer for both: a check that fails is repeated, with twice the time.
const INTERVAL_MS = 100
const TRIES = 3

/**
 * Checks the retry budget of a cluster with two endpoints, of which one refuses connections and the other never answers. A
 * refused request is retried at the endpoint that never answers, and waits there, while the budget lasts; beyond it, it is
 * answered 503. When those requests have ended, the budget is whole again. The check is made up to TRIES times, until it passes.
 * @param {Rig} rig
 * @returns {Promise<string[]>} the differences of the last try; []: none
 * @throws {BenchError} if a request is not answered; the reason of the rig's signal when it aborts
 */
export async function checkRetryBudget(rig) {
  /** @type {string[]} */
  let differences = []
  for (let i = 0; i < TRIES; i++) {
    const intervalMs = INTERVAL_MS * 2 ** i
    const crowdedStatuses = await sendToCrowded(rig, { count: REQUESTS, intervalMs })
    await sleep(intervalMs, rig.signal)
    differences = listRetryDifferences(crowdedStatuses, await sendToCrowded(rig, { count: RETRIES, intervalMs }))
    if (differences.length === 0) break
  }
  return differences
}

/**
 * Sends requests to the host `crowded`, each some time after the one before it, without waiting for its answer, and then waits for all.
 * @param {Rig} rig
 * @param {{ count: number, intervalMs: number }} options intervalMs: between the starts of two requests
 * @returns {Promise<number[]>} statuses, in the order of the requests
 * @throws {BenchError} if one is not answered; the reason of the rig's signal when it aborts
 */
async function sendToCrowded({ send, signal }, { count, intervalMs }) {
  const requests = []
  for (let i = 0; i < count; i++) {
    const request = send({ host: 'crowded' }, { timeoutSeconds: ANSWER_SECONDS })
    // If another check fails, this request is never awaited: an unhandled rejection would end the kit.
    request.catch(() => {})
    requests.push(request)
    await sleep(intervalMs, signal)
  }
  return (await Promise.all(requests)).map(({ status }) => status)
}

/**
 * Lists how statuses differ from those of a retry budget.
 * @param {number[]} crowdedStatuses statuses of REQUESTS concurrent requests
 * @param {number[]} laterStatuses statuses of later requests, at most as many as may be retried at a time
 * @returns {string[]} []: they do not differ
 */
export function listRetryDifferences(crowdedStatuses, laterStatuses) {
  // A request that is retried takes the turns of both endpoints; every other one of the rest is refused.
  const expectedRefusals = Math.floor((REQUESTS - RETRIES) / 2)
  const refusedCount = crowdedStatuses.filter(status => status === 503).length
  const otherStatuses = [...crowdedStatuses, ...laterStatuses].filter(status => status !== 503 && status !== 504)
  return [
    ...(refusedCount === expectedRefusals
      ? []
      : [`${refusedCount} of ${crowdedStatuses.length} requests not tried again, expected ${expectedRefusals}`]),
    ...(laterStatuses.includes(503) ? ['a request not tried again when the others had ended'] : []),
    ...(otherStatuses.length === 0 ? [] : [`answered ${otherStatuses.join(', ')}, expected 503 and 504`]),
  ]
}
