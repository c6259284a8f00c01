import { readNowMs } from '../lib/clock.js'
import { BenchError } from '../lib/errors.js'
import { waitUntilEpoch, withAbort, withTimeout } from '../lib/wait.js'
import { assertAllRun, awaitAnyExit, markEnding } from './alive.js'

/**
 * The end of a sidecar under load, and the start of its successor.
 * @import { EndingStep, TrialRecord, Window } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 * @import { TrialContext } from './trial.js'
 */

/** The end of a sidecar begins after this share of the window. */
const AT_SHARE = 1 / 6
// A sidecar that still runs this long after its last step is killed, as a container runtime would do.
const GRACE_MS = 5000

/**
 * @typedef {object} EndingOptions
 * @property {Started['ending']} ending null: no sidecar ends
 * @property {Window} window
 * @property {number} [graceMs] after its last step the sidecar is killed if it runs longer; GRACE_MS by default
 */
/** @typedef {EndingOptions & { ending: NonNullable<Started['ending']>, graceMs: number }} PlannedEnding */

/**
 * Ends a sidecar in the window, and waits until its successor answers and the window has ended.
 * @param {Pick<TrialContext, 'testbed' | 'signal'>} context
 * @param {EndingOptions} options
 * @returns {Promise<TrialRecord['ending']>} undefined: no sidecar ends; atSeconds: from the start of the window; goneSeconds:
 *   null if it was killed; answerSeconds: from the successor's start to its first answer
 * @throws {BenchError} if the sidecar dies otherwise or refuses a step, or its end or its successor does not fit into the
 *   window; the error of a change or of the successor's start; the signal's reason when it aborts
 */
export async function endSidecar(context, { ending, window, graceMs = GRACE_MS }) {
  if (!ending) return undefined
  const planned = { ending, window, graceMs }
  await waitUntilEpoch(window.startMs + AT_SHARE * (window.endMs - window.startMs), context.signal)
  await notifyClient(context, planned)
  const { beginMs, goneSeconds } = await terminateSidecar(context, planned)
  const answerSeconds = await startSuccessor(context, planned)
  return { atSeconds: (beginMs - window.startMs) / 1000, goneSeconds, answerSeconds }
}

/**
 * Makes the client of the sidecar stop calling it, if that is planned.
 * @param {Pick<TrialContext, 'testbed' | 'signal'>} context
 * @param {PlannedEnding} planned
 * @throws {BenchError} if the change takes no effect before the window ends; the error of the change if it fails; the signal's
 *   reason when it aborts
 */
async function notifyClient({ testbed, signal }, { ending: { process, notice }, window }) {
  if (!notice) return
  const changing = testbed.site.target.call('change', { ...notice, deadlineMs: window.endMs })
  if ((await withAbort(changing, signal)) === null)
    throw new BenchError(
      `the client of ${process.spec.service}'s sidecar was told to call it no more, and the change took no effect in the window`,
    )
}

/**
 * Performs the steps that end the sidecar, and kills it if it still runs after the grace time.
 * @param {Pick<TrialContext, 'testbed' | 'signal'>} context
 * @param {PlannedEnding} planned
 * @returns {Promise<{ beginMs: number, goneSeconds: number | null }>} beginMs: of the first step, epoch ms; goneSeconds: from then
 *   to its exit, null if it was killed
 * @throws {BenchError} if it died before, dies of another signal than those sent, refuses a step, or is gone only after the
 *   window; the signal's reason when it aborts
 */
async function terminateSidecar(context, { ending: { process, steps }, window, graceMs }) {
  const { signal } = context
  const sidecarName = `${process.spec.service}'s sidecar`
  const exitCause = process.ending()
  if (exitCause !== null)
    throw new BenchError(await process.renderFailure(`${sidecarName} died before it was ended, with ${exitCause}`))
  markEnding(process)
  const beginMs = Date.now()
  for (const step of steps) await performStep(context, { process, step })
  const exiting = process.exited.then(() => true)
  const hasExited = await withTimeout(exiting, { seconds: graceMs / 1000, late: () => false, signal })
  const goneSeconds = hasExited ? (Date.now() - beginMs) / 1000 : null
  if (!hasExited) process.signal?.('SIGKILL')
  const exitedWith = await withAbort(process.exited, signal)
  const sentSignals = steps.flatMap(step => (step.kind === 'signal' ? `signal ${step.signal}` : []))
  if (hasExited && exitedWith.startsWith('signal') && !sentSignals.includes(exitedWith))
    throw new BenchError(await process.renderFailure(`${sidecarName} died while it was ended, with ${exitedWith}`))
  if (Date.now() >= window.endMs)
    throw new BenchError(
      `${sidecarName} was gone only after the window, which is too short for its end and its successor`,
    )
  return { beginMs, goneSeconds }
}

/**
 * Performs a step of the end: waits, or sends a signal or a request to the sidecar.
 * @param {Pick<TrialContext, 'testbed' | 'signal'>} context
 * @param {{ process: PlannedEnding['ending']['process'], step: EndingStep }} options
 * @throws {BenchError} if the sidecar refuses a request or dies before it answers; the signal's reason when it aborts
 */
async function performStep({ testbed, signal }, { process, step }) {
  if (step.kind === 'wait') await waitUntilEpoch(Date.now() + step.seconds * 1000, signal)
  else if (step.kind === 'signal') process.signal?.(step.signal)
  else {
    const performing = testbed.site.target.call('perform', { actions: [step] })
    await withAbort(performing, signal).catch(async cause => {
      signal.throwIfAborted()
      await awaitAnyExit([process])
      const exitCause = process.ending()
      const problem = exitCause === null ? 'did not take its end' : `ended before it had answered, with ${exitCause}`
      const failure = `${process.spec.service}'s sidecar ${problem}: ${cause.message}`
      throw new BenchError(await process.renderFailure(failure), { cause })
    })
  }
  signal.throwIfAborted()
}

/**
 * Starts the successor, and waits until it has answered and the window has ended.
 * @param {Pick<TrialContext, 'testbed' | 'signal'>} context
 * @param {PlannedEnding} planned
 * @returns {Promise<number>} seconds from its start to its first answer
 * @throws {BenchError} if it never answers, or has died when the window ends; the error of its start; the signal's reason when it
 *   aborts
 */
async function startSuccessor({ testbed, signal }, { ending: { process, request, deploySuccessor }, window }) {
  // Requests are sent already before it listens, so that its first answer is not missed.
  const answering = testbed.site.target
    .call('change', { stage: [], commit: [], ...request, deadlineMs: window.endMs })
    .then(seconds => (seconds === null ? null : readNowMs()))
  answering.catch(() => {})
  const successor = await deploySuccessor()
  const answeredMs = await withAbort(answering, signal)
  if (answeredMs === null) {
    const failure = `the successor of ${process.spec.service}'s sidecar never answered`
    throw new BenchError(await successor.renderFailure(failure))
  }
  await waitUntilEpoch(window.endMs, signal)
  await assertAllRun([successor], 'window')
  return (answeredMs - Number(successor.startedMs)) / 1000
}
