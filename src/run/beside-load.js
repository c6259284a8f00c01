import { BenchError } from '../lib/errors.js'
import { waitUntilEpoch, withAbort } from '../lib/wait.js'
import { createCheck, hasChunks } from '../model/requests.js'

/**
 * Changes of configurations, and requests for chunked answers, that the kit itself makes beside the load.
 * @import { Change, TrialRecord, Window } from '../model/types.ts'
 */
/**
 * @import { Started } from './start-services.js'
 * @import { Course } from './trial.js'
 */

// The load's counts lack these requests: they are so few that they add little CPU to a sidecar.
const STREAM_EVERY_MS = 500

/**
 * Requests answers in chunks until the window ends, at most twice a second and one after the other for each arm, since
 * generators do not report when parts of a body arrive. The last answer may end after the window.
 * @param {Course} course
 * @param {{ services: Started[], window: Window }} options
 * @returns {Promise<NonNullable<TrialRecord['streams']>[]>} by the place of the arm in `trials`; []: its load has no chunks
 * @throws {BenchError} for a status other than 200 or another number of bytes; the error of a request that fails; the signal's
 *   reason when it aborts
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
        await waitUntilEpoch(dueMs, signal)
        signal.throwIfAborted()
        const args = { endpoint: { address, port: Number(port) }, ask: { host, ...request } }
        const answering = testbed.site.target.call('stream', args, { signal })
        const { status, bytes, ...stream } = await withAbort(answering, signal)
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
 * Changes a sidecar's configuration at a steady pace through the window. The first change comes half an interval after the
 * start of the window; a change that is more than an interval late is skipped.
 * @param {Course} course
 * @param {{ changeTo: Started['changeTo'], window: Window }} options changeTo: renders the nth change; null: nothing can change
 *   the configuration
 * @returns {Promise<Change[] | null>} atSeconds: from the start of the window; effectSeconds: until the change was in effect,
 *   null: it was not before the window ended; null: the arm has no changes, or nothing can make them
 * @throws {BenchError} if a change fails; the signal's reason when it aborts
 */
export async function makeChanges({ testbed, trials, signal }, { changeTo, window }) {
  const [trial] = trials
  const { changesPerMinute } = trial.arm.conditions
  if (!changesPerMinute || changeTo === null) return null
  const intervalMs = 60_000 / changesPerMinute
  /** @type {Change[]} */
  const changes = []
  for (let dueMs = window.startMs + intervalMs / 2; dueMs < window.endMs; dueMs += intervalMs) {
    // Skip a change that is more than an interval late: the one before it took that long.
    if (Date.now() > dueMs + intervalMs) continue
    await waitUntilEpoch(dueMs, signal)
    signal.throwIfAborted()
    const atSeconds = (Date.now() - window.startMs) / 1000
    const nextChange = changeTo(changes.length + 1)
    const effectSeconds = await testbed.site.target
      .call('change', { ...nextChange, deadlineMs: window.endMs })
      .catch(error => {
        signal.throwIfAborted()
        const failure = `change ${changes.length + 1} of the configuration, ${atSeconds.toFixed(1)} s into the window, failed`
        throw new BenchError(`${failure}: ${error.message}`, { cause: error })
      })
    changes.push({ atSeconds, effectSeconds })
  }
  return changes
}
