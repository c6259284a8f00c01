import { BenchError } from '../lib/errors.js'
import { withAbort } from '../lib/wait.js'
import { computeChunksMs, createCheckRequest } from '../model/requests.js'

/**
 * The row `parity-chunks`: whether a plane passes an answer's first chunk on before the application has written the last.
 * @import { Arm, RequestKind } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Started } from '../run/start-services.js'
 * @import { ProbedRow } from './beside/probe.js'
 */

const NAME = 'parity-chunks'
const PASSED_ON = 'the first passed on before the last was written'
const KEPT = 'kept until the last was written'
// A busy machine may read all parts of an answer at once: one try whose answer comes in parts shows that parts are passed on.
const TRIES = 3
// Share of the time in which an answer is written that it must take to come, as in the gate `streams`.
const SPAN_LEAST = 0.5

/** @typedef {{ testbed: Testbed, arm: Arm, services: Pick<Started, 'entry'>, signal: AbortSignal }} StartedArm */

/**
 * Sends a request of each kind of the load that has chunks to started services, and times the parts of its answer. It is sent at
 * most TRIES times, until the parts come over at least SPAN_LEAST of the time in which they were written; the longest time counts.
 * @param {StartedArm} options
 * @returns {Promise<ProbedRow>} differences: one for each kind of request whose chunks were not passed on; []: none, or no kind has
 *   chunks
 * @throws {BenchError} if a request fails, or its answer is not 200 with all bytes; the signal's reason when it aborts
 */
export async function probeChunks(options) {
  const kinds = (options.arm.load.requests ?? []).filter(kind => computeChunksMs(kind) > 0)
  const differences = []
  for (const kind of kinds) {
    const writtenMs = computeChunksMs(kind)
    let longestMs = 0
    for (let i = 0; i < TRIES && longestMs < SPAN_LEAST * writtenMs; i++)
      longestMs = Math.max(longestMs, await measureSpanMs(kind, options))
    if (longestMs < SPAN_LEAST * writtenMs)
      differences.push(
        `${kind.method} ${kind.path}: chunks written over ${writtenMs} ms came within ${longestMs.toFixed(0)} ms`,
      )
  }
  return { name: NAME, found: differences.length > 0 ? KEPT : PASSED_ON, expected: PASSED_ON, differences }
}

/**
 * Sends one request, and measures the time from the first part of its answer to the last.
 * @param {RequestKind} kind
 * @param {StartedArm} options
 * @returns {Promise<number>} milliseconds
 * @throws {BenchError} if the request fails, or its answer is not 200 with all bytes; the signal's reason when it aborts
 */
async function measureSpanMs(kind, { testbed, arm, services: { entry }, signal }) {
  const { endpoint } = entry
  const { request, answer } = createCheckRequest({ requests: [kind] }, `chunks-${arm.id}`)
  const requestName = `${request.method} ${request.path} for an answer in chunks through ${arm.id} (${endpoint.address}:${endpoint.port})`
  const args = { endpoint, request: { host: entry.host, ...request } }
  const answering = testbed.site.target.call('stream', args, { signal })
  const { status, bytes, spanMs } = await withAbort(answering, signal).catch(cause => {
    signal.throwIfAborted()
    throw new BenchError(`${requestName} failed: ${cause.message}`, { cause })
  })
  if (status !== 200 || bytes !== answer.length)
    throw new BenchError(
      `${requestName} was answered ${status} with ${bytes} bytes, not by the application with ${answer.length}`,
    )
  return spanMs
}
