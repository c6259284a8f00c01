import { setTimeout as delay } from 'node:timers/promises'
import { ANSWER_SECONDS, RETRIES } from './rig.js'

/** Whether sidecars try no more requests again than their budget has. @import { Rig } from './rig.js' */

const REQUESTS = 8
// Each request has its turn, and that of its retry, before the next comes.
const APART_MS = 100
// Unless the machine was busy just then.
const TRIES = 3

/**
 * Every other request to the cluster is refused, as is every request after one that was tried again. As many as may be
 * tried again wait at the endpoint that is next, which does not answer, and the others are answered 503. Later there is a
 * budget again.
 * @param {Rig} rig
 */
export async function checkRetryBudget(rig) {
  /** @type {string[]} */
  let differences = []
  for (let i = 0; i < TRIES; i++) {
    const many = await askApart(rig, REQUESTS)
    differences = describeRetries(many, await askApart(rig, RETRIES))
    if (differences.length === 0) break
  }
  return differences
}

/** @param {Rig} rig @param {number} times @returns {Promise<number[]>} statuses */
async function askApart({ call, entry, signal }, times) {
  const asked = []
  for (let i = 0; i < times; i++) {
    const one = call('send', { endpoint: entry, ask: { host: 'crowded' }, timeoutSeconds: ANSWER_SECONDS })
    // Nobody awaits it when another check fails.
    one.catch(() => {})
    asked.push(one)
    await delay(APART_MS, undefined, { signal })
  }
  return (await Promise.all(asked)).map(({ status }) => status)
}

/**
 * @param {number[]} many statuses of requests that were under way at a time
 * @param {number[]} few later, not more than may be tried again
 */
export function describeRetries(many, few) {
  // The turns of the two endpoints: two for each request that is tried again, and then every other one is refused.
  const refused = Math.floor((REQUESTS - RETRIES) / 2)
  const count = many.filter(status => status === 503).length
  const others = [...many, ...few].filter(status => status !== 503 && status !== 504)
  return [
    ...(count === refused ? [] : [`${count} of ${many.length} requests not tried again, expected ${refused}`]),
    ...(few.includes(503) ? ['a request not tried again when the others had ended'] : []),
    ...(others.length === 0 ? [] : [`answered ${others.join(', ')}, expected 503 and 504`]),
  ]
}
