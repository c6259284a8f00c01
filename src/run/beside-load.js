import { BenchError } from '../lib/errors.js'
import { waitUntilEpoch, withAbort } from '../lib/wait.js'
import { createCheckRequest, hasChunks } from '../model/requests.js'

/**
 * Changes of configurations, and requests for chunked answers, that the kit itself makes beside the load.
 * @import { Arm, Change, TrialRecord, Window } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 * @import { TrialContext } from './trial.js'
 */

// The load's counts lack these requests: they are so few that they add little CPU to a sidecar.
const STREAM_EVERY_MS = 500

/** @typedef {NonNullable<TrialRecord['streams']>} Streams */

/**
 * Times answers in chunks until the window ends, since generators do not report when parts of a body arrive: for each arm one
 * request after the other, STREAM_EVERY_MS apart at least. The last answer may end after the window.
 * @param {TrialContext} context
 * @param {{ services: Started[], window: Window }} options services: by the place of the arm in `trials`
 * @returns {Promise<Streams[]>} by the place of the arm in `trials`; [] for an arm whose load has no chunks
 * @throws {BenchError} for a status other than 200 or another number of bytes; the error of a request that fails; the signal's
 *   reason when it aborts
 */
export function measureStreams(context, { services, window }) {
  return Promise.all(
    context.trials.map(({ arm }, i) =>
      hasChunks(arm.load) ? measureArmStreams(context, { arm, services: services[i], window }) : [],
    ),
  )
}

/**
 * Times answers of one arm.
 * @param {TrialContext} context
 * @param {{ arm: Arm, services: Started, window: Window }} options
 * @returns {Promise<Streams>}
 * @throws as `measureStreams`
 */
async function measureArmStreams({ testbed, signal }, { arm, services, window }) {
  const { endpoint, host } = services.entry
  const { request, answer } = createCheckRequest(arm.load, `stream-${arm.id}`)
  const args = { endpoint, request: { host, ...request } }
  /** @type {Streams} */
  const streams = []
  for (let dueMs = window.startMs; dueMs < window.endMs; dueMs = Math.max(dueMs + STREAM_EVERY_MS, Date.now())) {
    await waitUntilEpoch(dueMs, signal)
    signal.throwIfAborted()
    const answering = testbed.site.target.call('stream', args, { signal })
    const { status, bytes, ...stream } = await withAbort(answering, signal)
    if (status !== 200 || bytes !== answer.length)
      throw new BenchError(
        `a request for an answer in chunks through ${arm.id} was answered ${status} with ${bytes} bytes, not by the application`,
      )
    streams.push(stream)
  }
  return streams
}

/**
 * Changes a sidecar's configuration at a steady pace through the window. The first change comes half an interval after the
 * start of the window; a change that is more than an interval late is skipped.
 * @param {TrialContext} context
 * @param {{ changeTo: Started['changeTo'], window: Window }} options changeTo: renders the nth change; null: nothing can change
 *   the configuration
 * @returns {Promise<Change[] | null>} null: the arm has no changes, or nothing can make them; atSeconds: from the start of the window;
 *   effectSeconds: until the change was in effect, null if it was not before the window ended
 * @throws {BenchError} if a change fails; the signal's reason when it aborts
 */
export async function changeConfiguration({ testbed, trials, signal }, { changeTo, window }) {
  const [trial] = trials
  const { changesPerMinute } = trial.arm.conditions
  if (!changesPerMinute || changeTo === null) return null
  const intervalMs = 60_000 / changesPerMinute
  /** @type {Change[]} */
  const changes = []
  for (let dueMs = window.startMs + intervalMs / 2; dueMs < window.endMs; dueMs += intervalMs) {
    // The change before this one took more than an interval.
    if (Date.now() > dueMs + intervalMs) continue
    await waitUntilEpoch(dueMs, signal)
    signal.throwIfAborted()
    const atSeconds = (Date.now() - window.startMs) / 1000
    const version = changes.length + 1
    const changing = testbed.site.target.call('change', { ...changeTo(version), deadlineMs: window.endMs })
    const effectSeconds = await withAbort(changing, signal).catch(error => {
      signal.throwIfAborted()
      const failure = `change ${version} of the configuration, ${atSeconds.toFixed(1)} s into the window, failed`
      throw new BenchError(`${failure}: ${error.message}`, { cause: error })
    })
    changes.push({ atSeconds, effectSeconds })
  }
  return changes
}
