import { setTimeout as delay } from 'node:timers/promises'
import { LIMIT_PER_SECOND } from './beside/corpus.js'
import { ANSWER_SECONDS, NARROW } from './rig.js'

/** Whether sidecars refuse what a route or a cluster does not take. @import { Rig } from './rig.js' */

// Times the limit: enough that some are refused, however long they take.
const TIMES = 4
const REFILLED_MS = 1500
const AT_ONCE = 4 * NARROW

/**
 * A second takes as many requests as the limit, some of four times as many are refused, and later ones pass.
 * @param {Rig} rig
 */
export async function checkRateLimit({ call, entry, signal }) {
  const ask = async () => (await call('send', { endpoint: entry, ask: { host: 'limited' } })).status
  const statuses = await Promise.all(Array.from({ length: TIMES * LIMIT_PER_SECOND }, ask))
  await delay(REFILLED_MS, undefined, { signal })
  return describeStatuses(statuses, await ask())
}

/** @param {number[]} statuses of requests at once @param {number} later */
export function describeStatuses(statuses, later) {
  const passed = statuses.filter(status => status === 200).length
  const refused = statuses.filter(status => status === 429).length
  return [
    ...(passed >= LIMIT_PER_SECOND && refused > 0
      ? []
      : [`${passed} of ${statuses.length} answered 200, ${refused} 429`]),
    ...(passed + refused === statuses.length ? [] : ['an answer other than 200 and 429']),
    ...(later === 200 ? [] : [`${later} after the limit was filled again`]),
  ]
}

/**
 * A route takes the requests of those it lists: the client's sidecar, and callers whose requests share connections.
 * @param {Rig} rig
 */
export async function checkAuthorization({ call, entry }) {
  const ofCallers = await call('probeCallers', undefined)
  const expected = { allowed: 200, denied: 403 }
  const found = await Promise.all(
    Object.entries(expected).map(async ([host, status]) => {
      const answer = await call('send', { endpoint: entry, ask: { host } })
      return answer.status === status ? [] : [`${answer.status} of a route that is ${host}, expected ${status}`]
    }),
  )
  return [...found.flat(), ...ofCallers]
}

/**
 * As many requests as the cluster takes wait for an upstream that does not answer; others are refused at once.
 * @param {Rig} rig
 */
export async function checkBreaker({ call, entry }) {
  const ask = async () =>
    (await call('send', { endpoint: entry, ask: { host: 'narrow' }, timeoutSeconds: ANSWER_SECONDS })).status
  const statuses = await Promise.all(Array.from({ length: AT_ONCE }, ask))
  const count = (/** @type {number} */ status) => statuses.filter(s => s === status).length
  const [waited, refused] = [count(504), count(503)]
  const isRight = waited === NARROW && refused === AT_ONCE - NARROW
  return isRight ? [] : [`${waited} of ${AT_ONCE} requests waited, ${refused} were refused; ${NARROW} may wait`]
}
