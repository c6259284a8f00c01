import { BenchError } from '../lib/errors.js'
import { waitUntil } from '../lib/wait.js'

/**
 * @import { Change, Window } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 * @import { Course } from './trial.js'
 */

/**
 * Changes the configuration of the first sidecar through the window, the first change half an interval after its start.
 * A failure is told to whoever awaits the changes: a trial that failed otherwise awaits them no more.
 * @param {Course} course
 * @param {{ changeTo: Started['changeTo'], window: Window }} options
 * @returns {Promise<Change[] | null>} null: no changes were asked for
 */
export function startChanges(course, options) {
  const changes = makeChanges(course, options)
  changes.catch(() => {})
  return changes
}

/**
 * @param {Course} course
 * @param {{ changeTo: Started['changeTo'], window: Window }} options
 */
async function makeChanges({ testbed, trials, signal }, { changeTo, window }) {
  const [trial] = trials
  const { changesPerMinute } = trial.arm.conditions
  if (!changesPerMinute || changeTo === null) return null
  const intervalMs = 60_000 / changesPerMinute
  /** @type {Change[]} */
  const changes = []
  for (let dueMs = window.startMs + intervalMs / 2; dueMs < window.endMs; dueMs += intervalMs) {
    // A change that took longer than an interval has taken the place of the next.
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
