// The kinds of requests that an application answers, and its service times.
import { performance } from 'node:perf_hooks'

/**
 * @typedef {{ method: string, path: string, requestBytes: number, responseBytes: number, waitMs?: number,
 *   isExponential?: boolean, chunks?: { count: number, gapMs: number } }} Kind
 */

/** @param {string} text JSON @returns {Map<string, Kind>} by method and path */
export function readKinds(text) {
  return new Map(JSON.parse(text).map((/** @type {Kind} */ kind) => [`${kind.method} ${kind.path}`, kind]))
}

/** Renders a body that begins with the nonce of the request, as far as it has room. @param {Kind} kind @param {string | undefined} nonce */
export function renderBody({ responseBytes }, nonce = '') {
  return (nonce + 'x'.repeat(responseBytes)).slice(0, responseBytes)
}

/**
 * Waits for the service time of a kind. @param {Kind} kind
 * @returns {Promise<string>} the header x-waited: the milliseconds that were drawn, and how much later this is
 */
export async function waitForKind({ waitMs = 0, isExponential }) {
  const beganMs = performance.now()
  const ms = isExponential ? -waitMs * Math.log(1 - Math.random()) : waitMs
  await waitUntilDue(beganMs + ms)
  return `${ms.toFixed(3)} ${(performance.now() - beganMs - ms).toFixed(3)}`
}

/** Waits until a time of performance.now(). A timer of Node may fire up to a millisecond early. @param {number} dueMs */
export async function waitUntilDue(dueMs) {
  for (;;) {
    const leftMs = dueMs - performance.now()
    if (leftMs <= 0) return
    await new Promise(resolve => setTimeout(resolve, leftMs))
  }
}
