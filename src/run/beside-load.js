import { BenchError } from '../lib/errors.js'
import { waitUntil } from '../lib/wait.js'
import { createCheck, hasChunks } from '../model/requests.js'

/** Changes and chunked answers that the kit itself makes beside the load of a window. @import { Change, TrialRecord, Window } from '../model/types.ts' */
/** @import { Started } from './start-services.js' @import { Course } from './trial.js' */

// So seldom that these requests, which no count has, take little of a sidecar.
const STREAM_EVERY_MS = 500

/**
 * Reads answers in chunks through the window, of each arm one at a time: generators do not tell when parts of a body come.
 * @param {Course} course @param {{ services: Started[], window: Window }} options
 * @returns {Promise<NonNullable<TrialRecord['streams']>[]>} of each arm
 */
export function readStreams({ testbed, trials, signal }, { services, window }) {
  return Promise.all(
    trials.map(async ({ arm }, i) => {
      /** @type {NonNullable<TrialRecord['streams']>} */
      const streams = []
      if (!hasChunks(arm.load)) return streams
      const { urls, host } = services[i].entry
      const { hostname: address, port } = new URL(urls[0])
      const { request, answer } = createCheck(arm.load, `stream-${arm.id}`)
      for (let dueMs = window.startMs; dueMs < window.endMs; dueMs = Math.max(dueMs + STREAM_EVERY_MS, Date.now())) {
        await waitUntil(dueMs, signal)
        signal.throwIfAborted()
        const { status, bytes, ...stream } = await testbed.site.target.call('stream', {
          endpoint: { address, port: Number(port) },
          ask: { host, ...request },
        })
        if (status !== 200 || bytes !== answer.length)
          throw new BenchError(
            `a request for an answer in chunks through ${arm.id} was answered ${status} with ${bytes} bytes, not by the application`,
          )
        streams.push(stream)
      }
      return streams
    }),
  )
}

/**
 * Changes the configuration of the first sidecar through the window, the first change half an interval after its start.
 * @param {Course} course @param {{ changeTo: Started['changeTo'], window: Window }} options @returns {Promise<Change[] | null>}
 */
export async function makeChanges({ testbed, trials, signal }, { changeTo, window }) {
  const [trial] = trials
  const { changesPerMinute } = trial.arm.conditions
  if (!changesPerMinute || changeTo === null) return null
  const intervalMs = 60_000 / changesPerMinute
  /** @type {Change[]} */
  const changes = []
  for (let dueMs = window.startMs + intervalMs / 2; dueMs < window.endMs; dueMs += intervalMs) {
    // A change that took longer than an interval replaces the next.
    if (Date.now() > dueMs + intervalMs) continue
    await waitUntil(dueMs, signal)
    signal.throwIfAborted()
    const atSeconds = (Date.now() - window.startMs) / 1000
    const next = changeTo(changes.length + 1)
    const effectSeconds = await testbed.site.target
      .call('change', { ...next, deadlineMs: window.endMs })
      .catch(error => {
        signal.throwIfAborted()
        const what = `change ${changes.length + 1} of the configuration, ${atSeconds.toFixed(1)} s into the window, failed`
        throw new BenchError(`${what}: ${error.message}`, { cause: error })
      })
    changes.push({ atSeconds, effectSeconds })
  }
  return changes
}
