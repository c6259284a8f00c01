import { setTimeout as delay } from 'node:timers/promises'
import { BenchError } from '../lib/errors.js'
import { renderPercent } from '../lib/units.js'
import { withAbort } from '../lib/wait.js'
import { computeCpuCores } from '../model/compute-cpu-cores.js'
import { createRequestKind, renderFillerHeaders } from '../model/requests.js'
import { assertNoneExits } from '../run/alive.js'
import { addSidecarLogs } from '../run/first-request.js'

/**
 * @import { Arm, Handle, Target } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Started } from '../run/start-services.js'
 */

// A sidecar in an endless loop takes a CPU for itself, or its share of a busy one; one that waits takes none.
const HANG_SECONDS = 0.2
const HANG_SHARE = 0.2

/**
 * @typedef {object} SenderOptions
 * @property {Testbed} testbed
 * @property {Arm} arm
 * @property {number} timeoutSeconds of each answer
 * @property {AbortSignal} signal
 */

/**
 * Creates a function that sends requests through started services.
 * @param {SenderOptions & Pick<Started, 'entry' | 'deployment'>} options
 * @returns {(requests: number, atOnce: number, place?: { before?: number, total?: number }) => Promise<void>} atOnce:
 *   the number of concurrent requests; place: for errors, the number of requests before these, and of all. It throws a
 *   BenchError for a request that the application did not answer, with its number, the sidecars that hang, and the last
 *   lines that they logged, or if a process has exited; the signal's reason when it aborts; any other error of the target
 */
export function createRequestSender({ testbed, arm, entry, deployment, timeoutSeconds, signal }) {
  const { target } = testbed.site
  const { processes } = deployment
  const { endpoint, certificate: credentials } = entry
  const { request, answer } = createLoadRequest(arm, entry)
  return async (count, atOnce, place = {}) => {
    const repetition = { answer, expected: entry.request, timeoutSeconds, requests: count, atOnce, ...place }
    const repeating = target.call('repeat', { endpoint, request, credentials, ...repetition })
    await withAbort(repeating, signal).catch(async error => {
      signal.throwIfAborted()
      await assertNoneExits(processes, 'window')
      throw await addSidecarLogs(await addHangingSidecars(error, { target, processes }), processes)
    })
  }
}

/**
 * Creates the request of a load: that of the pipeline, else the first kind of the arm's requests, else a POST of its payload. The path
 * is that of the entry; for requests of a kind, if that is `/`, the path of the kind.
 * @param {Arm} arm
 * @param {Started['entry']} entry
 * @returns request; answer: the body with which the kit's application answers
 */
function createLoadRequest(arm, { path: entryPath, host, request: pipelineRequest }) {
  const { requests, payloadBytes = 0 } = arm.load
  const kind = requests?.[0] ?? createRequestKind({}, payloadBytes)
  const answer = 'x'.repeat(kind.responseBytes)
  if (pipelineRequest) {
    const { method, headers, body } = pipelineRequest
    return { request: { host, method, path: entryPath, headers, body }, answer }
  }
  const path = entryPath === '/' ? kind.path : entryPath
  const headers = renderFillerHeaders(kind.requestHeaderBytes)
  return { request: { host, method: kind.method, path, headers, body: 'x'.repeat(kind.requestBytes) }, answer }
}

/**
 * Adds the sidecars that hang to the error of an unanswered request: those that still use at least HANG_SHARE of a CPU within
 * HANG_SECONDS, though no request is under way. A sidecar whose CPU cannot be read is not added.
 * @template {Error} E
 * @param {E} error
 * @param {{ target: Pick<Target, 'look'>, processes: Pick<Handle, 'spec'>[] }} services
 * @returns {Promise<E | BenchError>} a copy, with `error` as its cause; any other error is returned unchanged
 */
export async function addHangingSidecars(error, { target, processes }) {
  if (!(error instanceof BenchError) || !/no answer within/.test(error.message)) return error
  const sidecars = /** @type {Handle[]} */ (processes.filter(({ spec }) => spec.role === 'sidecar'))
  const look = () => target.look(sidecars).catch(() => [])
  const before = await look()
  await delay(1000 * HANG_SECONDS)
  const after = await look()
  const hanging = sidecars.flatMap(({ spec }, i) => {
    const share = computeCpuCores(before[i]?.cpu, after[i]?.cpu) ?? 0
    return share >= HANG_SHARE
      ? [`; ${spec.service}'s sidecar still uses ${renderPercent(share)} of a CPU: does it hang in a loop?`]
      : []
  })
  return new BenchError(`${error.message}${hanging.join('')}`, { cause: error, exitStatus: error.exitStatus })
}
