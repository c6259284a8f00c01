import { waitUntil } from '../lib/wait.js'

/** The end of a sidecar under load, and the start of its successor. */
/** @import { EndingStep, TrialRecord, Window } from '../model/types.ts' */
/** @import { Started } from './start-services.js' @import { Course } from './trial.js' */

/** A sidecar ends after this share of the window. */
const AT_SHARE = 1 / 6
// As long as its last step may take; then it is killed, as a container runtime would.
const GRACE_MS = 5000

/**
 * Ends a sidecar in the window, then starts another in its place. A failure is told to whoever awaits it.
 * @param {Course} course @param {{ ending: Started['ending'], window: Window, graceMs?: number }} options
 */
export function startEnding(course, options) {
  const ended = endSidecar(course, options)
  ended.catch(() => {})
  return ended
}

/** @param {Course} course @param {Parameters<typeof startEnding>[1]} options @returns {Promise<TrialRecord['ending']>} */
async function endSidecar({ testbed, signal }, { ending, window, graceMs = GRACE_MS }) {
  if (!ending) return undefined
  const { process, told, steps, asked, succeed } = ending
  const { target } = testbed.site
  await waitUntil(window.startMs + AT_SHARE * (window.endMs - window.startMs), signal)
  const beginMs = Date.now()
  const secondsSince = (/** @type {number} */ ms) => (Date.now() - ms) / 1000
  if (told) await target.call('change', { ...told, deadlineMs: window.endMs })
  for (const step of steps) await take(step)
  const late = waitUntil(Date.now() + graceMs, signal).then(() => null)
  const how = await Promise.race([process.exited, late])
  const goneSeconds = how === null ? null : secondsSince(beginMs)
  if (how === null) process.signal?.('SIGKILL')
  await process.exited
  const again = target.call('change', { stage: [], commit: [], ...asked, deadlineMs: window.endMs })
  again.catch(() => {})
  await succeed()
  return { atSeconds: (beginMs - window.startMs) / 1000, goneSeconds, answerSeconds: await again }

  /** @param {EndingStep} step */
  async function take(step) {
    if (step.kind === 'wait') await waitUntil(Date.now() + step.seconds * 1000, signal)
    else if (step.kind === 'signal') process.signal?.(step.signal)
    else await target.call('perform', { actions: [step] })
  }
}
