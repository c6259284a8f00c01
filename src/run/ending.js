import { BenchError } from '../lib/errors.js'
import { waitUntilEpoch, withAbort, withTimeout } from '../lib/wait.js'
import { readNowMs } from '../node/convergence.js'
import { assertAllRun, awaitAnyExit, expectEnd } from './alive.js'

/** The end of a sidecar under load, and the start of its successor. */
/** @import { EndingStep, TrialRecord, Window } from '../model/types.ts' */
/**
 * @import { Started } from './start-services.js'
 * @import { Course } from './trial.js'
 */

/** The end of a sidecar begins after this share of the window. */
const AT_SHARE = 1 / 6
// A sidecar that still runs this long after its last step is killed, as a container runtime would do.
const GRACE_MS = 5000

/**
 * Ends a sidecar in the window, then starts a successor. The returned promise need not be awaited: its rejection is no
 * unhandled rejection, which would end the kit.
 * @param {Course} course
 * @param {{ ending: Started['ending'], window: Window, graceMs?: number }} options ending: null: no sidecar ends; graceMs:
 *   after its last step the sidecar is killed if it runs longer, 5 s by default
 * @returns {Promise<TrialRecord['ending']>} as that of `endSidecar`
 */
export function startEnding(course, options) {
  const ended = endSidecar(course, options)
  ended.catch(() => {})
  return ended
}

/**
 * Ends a sidecar and waits until its successor answers and the window has ended.
 * @param {Course} course
 * @param {Parameters<typeof startEnding>[1]} options
 * @returns {Promise<TrialRecord['ending']>} undefined: no sidecar ends; atSeconds: from the start of the window; goneSeconds:
 *   null if it was killed; answerSeconds: from the successor's start to its first answer
 * @throws {BenchError} if the sidecar dies otherwise or refuses a step, or its end or its successor does not fit into the
 *   window; the signal's reason when it aborts
 */
async function endSidecar({ testbed, signal }, { ending, window, graceMs = GRACE_MS }) {
  if (!ending) return undefined
  const { process, notice, steps, request, succeed } = ending
  const { target } = testbed.site
  const sidecarName = `${process.spec.service}'s sidecar`
  await waitUntilEpoch(window.startMs + AT_SHARE * (window.endMs - window.startMs), signal)
  if (notice && (await withAbort(target.call('change', { ...notice, deadlineMs: window.endMs }), signal)) === null)
    throw new BenchError(
      `the client of ${sidecarName} was told to call it no more, and the change took no effect in the window`,
    )
  const exitCause = process.ending()
  if (exitCause !== null)
    throw new BenchError(await process.renderFailure(`${sidecarName} died before it was ended, with ${exitCause}`))
  expectEnd(process)
  const beginMs = Date.now()
  for (const step of steps) await performStep(step)
  const isGone = process.exited.then(() => true)
  const hasGone = await withTimeout(isGone, { seconds: graceMs / 1000, late: () => false, signal })
  const goneSeconds = hasGone ? (Date.now() - beginMs) / 1000 : null
  if (!hasGone) process.signal?.('SIGKILL')
  const exitedWith = await withAbort(process.exited, signal)
  const sentSignals = steps.flatMap(step => (step.kind === 'signal' ? `signal ${step.signal}` : []))
  if (hasGone && exitedWith.startsWith('signal') && !sentSignals.includes(exitedWith))
    throw new BenchError(await process.renderFailure(`${sidecarName} died while it was ended, with ${exitedWith}`))
  if (Date.now() >= window.endMs)
    throw new BenchError(
      `${sidecarName} was gone only after the window, which is too short for its end and its successor`,
    )
  const answering = target
    .call('change', { stage: [], commit: [], ...request, deadlineMs: window.endMs })
    .then(seconds => (seconds === null ? null : readNowMs()))
  answering.catch(() => {})
  const successor = await succeed()
  const answeredMs = await withAbort(answering, signal)
  if (answeredMs === null)
    throw new BenchError(await successor.renderFailure(`the successor of ${sidecarName} never answered`))
  // The successor has to run until the window ends.
  await waitUntilEpoch(window.endMs, signal)
  await assertAllRun([successor], 'window')
  const answerSeconds = (answeredMs - Number(successor.startedMs)) / 1000
  return { atSeconds: (beginMs - window.startMs) / 1000, goneSeconds, answerSeconds }

  /**
   * Performs a step of the end: waits, or sends a signal or a request to the sidecar.
   * @param {EndingStep} step
   */
  async function performStep(step) {
    if (step.kind === 'wait') await waitUntilEpoch(Date.now() + step.seconds * 1000, signal)
    else if (step.kind === 'signal') process.signal?.(step.signal)
    else await withAbort(target.call('perform', { actions: [step] }), signal).catch(throwEndingError)
    signal.throwIfAborted()
  }

  /**
   * Throws the error of a sidecar that died, or of one that refused its step.
   * @param {Error} cause
   * @throws {BenchError}
   */
  async function throwEndingError(cause) {
    signal.throwIfAborted()
    await awaitAnyExit([process])
    const exitCause = process.ending()
    const problem = exitCause === null ? 'did not take its end' : `ended before it had answered, with ${exitCause}`
    throw new BenchError(await process.renderFailure(`${sidecarName} ${problem}: ${cause.message}`), { cause })
  }
}
