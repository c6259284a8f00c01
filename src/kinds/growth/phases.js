import { BenchError, OWN_CODES } from '../../lib/errors.js'
import { pollInTime } from '../../lib/wait.js'
import { readFreeMemoryFraction } from '../../node/machine.js'
import { assertAllRun, awaitAnyExit } from '../../run/alive.js'
import { runForEach } from '../../run/concurrency.js'
import { CALLS_AT_ONCE, labelAnswer, measurePhase } from '../../run/phase.js'
import { AVAILABLE_LEAST, isHostCpuUsedUp } from './numbers.js'
import { BACKENDS } from './services.js'

/** The steps of a growth, and the causes for which one fails. */
/** @import { ConfigurationTimes, FailureReason, GrowthRecord, Handle, RolloutPoller } from '../../model/types.ts' */
/** @import { StepContext } from '../../run/control-plane.js' */
/** @import { Growth } from './services.js' */

const NAMED_MOST = 5
// Error codes of what this machine itself could not do.
const OWN_CODE = new RegExp(`\\b(${OWN_CODES.join('|')})\\b`)

/** @typedef {{ reason: FailureReason, why: string }} Failure */
/** @typedef {GrowthRecord['steps'][number]} Step */

/**
 * Options that all steps share.
 * @typedef {object} StepOptions
 * @property {RolloutPoller} poller
 * @property {StepContext['deploy']} deploy
 * @property {() => Handle[]} listProcesses of the deployment
 * @property {Handle[]} control the control plane; []: no process hands out configurations
 * @property {ReturnType<StepContext['observe']>['read']} readControlUsage
 * @property {number} deadlineSeconds of a step
 * @property {AbortSignal} stopping aborts with the run
 * @property {AbortSignal} signal aborts with the run, and when the control plane has exited or is stopped
 */

/**
 * Sets up the control plane, and runs step after step until one fails or the machine's memory runs short.
 * @param {Growth['setUp']} setUp actions once the control plane runs
 * @param {Growth['steps']} steps
 * @param {StepOptions} options
 * @returns {Promise<{ taken: Step[], ended: GrowthRecord['ended'] }>} taken: the steps, including the failed one;
 *   ended: the failure, null: there is none; its sidecars: 0: the control plane was not ready, or refused the set-up
 * @throws the signal's reason when the run aborts; an error of which neither the control plane, a sidecar nor the machine is the
 *   cause, such as one of `measurePhase`
 */
export async function runSteps(setUp, steps, options) {
  /** @type {Step[]} */
  const taken = []
  try {
    await Promise.all(options.control.map(process => process.waitUntilReady(options.signal)))
    await options.poller.perform(setUp, options.signal)
  } catch (error) {
    return { taken, ended: { sidecars: 0, ...(await findFailure(error, options)) } }
  }
  for (const step of steps) {
    const { step: result, failure } = await runStep(step, options)
    taken.push(result)
    if (failure) return { taken, ended: { sidecars: step.sidecars, ...failure } }
    if (result.availableFraction < AVAILABLE_LEAST) {
      const why = `the machine has ${Math.round(100 * result.availableFraction)} % of its memory left`
      return { taken, ended: { sidecars: step.sidecars, reason: 'host-memory', why } }
    }
  }
  return { taken, ended: null }
}

/**
 * Runs a step: starts its sidecars, and polls until each serves and each client has seen every backend, or until the deadline.
 * @param {Growth['steps'][number]} step
 * @param {StepOptions} options
 * @returns {Promise<{ step: Step, failure: Failure | null }>} failure: null: all served in time
 * @throws as `findFailure`; an error of `measurePhase`, or of a sidecar's poll
 */
async function runStep({ sidecars, spec, members }, options) {
  const { poller, deploy, deadlineSeconds, signal } = options
  /** @type {Promise<[string, ConfigurationTimes | null]>[]} */
  const answers = []
  const configure = async () => {
    const begun = performance.now()
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(1000 * deadlineSeconds)])
    await runForEach({ items: members, concurrency: CALLS_AT_ONCE, signal: inTime }, ({ enrolment }, taskSignal) =>
      poller.perform(enrolment, taskSignal),
    )
    await deploy([spec], {
      onStart(process) {
        for (const { enrolment, ...expected } of members)
          answers.push(labelAnswer(expected.name, poller.expectFirst(process, expected)))
      },
    })
    const leftSeconds = Math.max(0, deadlineSeconds - (performance.now() - begun) / 1000)
    const hasAll = () => poller.countWaiting() === 0
    await pollInTime(hasAll, { deadlineSeconds: leftSeconds, intervalMs: 10, signal })
  }
  // The counters after a failure are part of the record, too.
  const settle = () =>
    configure().then(
      () => null,
      cause => cause,
    )
  const { value: error, phase } = await measurePhase(options, settle)
  const times = new Map(await Promise.all(answers))
  const configured = members.map(({ name }) => ({ name, told: times.get(name) ?? null }))
  const result = { ...phase, sidecars, members: configured, availableFraction: readFreeMemoryFraction() }
  if (error === null && configured.every(member => member.told?.yesMs != null)) return { step: result, failure: null }
  return { step: result, failure: await findFailure(error ?? createLateFailure(result, options), options) }
}

/**
 * Creates the failure of a step that missed its deadline: this machine could not send requests, its CPUs were used
 * up, or sidecars were late.
 * @param {Step} step
 * @param {StepOptions} options
 * @returns {Failure} its reason is host-limit, host-cpu or deadline; it names at most NAMED_MOST sidecars
 */
function createLateFailure({ members, host }, { deadlineSeconds }) {
  const late = `not within ${deadlineSeconds} s`
  const unsent = members.find(({ told }) => told?.yesMs === null && told.unsent)?.told?.unsent
  if (unsent) return { reason: 'host-limit', why: `${late}: this machine could not ask: ${unsent}` }
  const missing = members.flatMap(({ name, told }) => {
    if (told && told.yesMs !== null) return []
    return told?.backends === undefined ? name : `${name} (${told.backends} of ${BACKENDS} backends)`
  })
  const more = missing.length > NAMED_MOST ? ` and ${missing.length - NAMED_MOST} more` : ''
  const sidecarNames = `${missing.slice(0, NAMED_MOST).join(', ')}${more}`
  return isHostCpuUsedUp(host)
    ? { reason: 'host-cpu', why: `${late}, and the machine had no CPU left: ${sidecarNames}` }
    : { reason: 'deadline', why: `${late}: ${sidecarNames}` }
}

/**
 * Finds the cause of a failure: the exit or stop of the control plane, the exit of a sidecar, a limit of the machine,
 * else the error itself.
 * @param {unknown} error or the Failure of a step that was late
 * @param {StepOptions} options
 * @returns {Promise<Failure>}
 * @throws {BenchError} if an application exited or is stopped; the signal's reason when the run aborts; the error itself, if no
 *   control plane could have caused it
 */
async function findFailure(error, { control, listProcesses, stopping }) {
  stopping.throwIfAborted()
  await awaitAnyExit(control)
  const controlFailure = await findControlFailure(control)
  if (controlFailure) return controlFailure
  const processes = listProcesses()
  await assertAllRun(listHandlesByRole(processes, 'application'), 'starting')
  const sidecars = listHandlesByRole(processes, 'sidecar')
  const sidecarFailure = await findSidecarFailure(sidecars)
  if (sidecarFailure) return sidecarFailure
  const why = error instanceof Error ? error.message : /** @type {Failure} */ (error).why
  const limit = [...control, ...sidecars].map(process => process.findHostLimit?.()).find(Boolean)
  if (limit) return { reason: 'host-limit', why: `${limit}: ${why}` }
  if (!(error instanceof Error)) return /** @type {Failure} */ (error)
  if (OWN_CODE.test(why)) return { reason: 'host-limit', why }
  if (control.length === 0) throw error
  // A BenchError says what the control plane refused; any other error means that it does not answer.
  if (error instanceof BenchError) return { reason: 'nack', why: error.message }
  return { reason: 'deadline', why: `the control plane does not answer: ${error.message}` }
}

/** @param {Handle[]} processes @param {Handle['spec']['role']} role */
const listHandlesByRole = (processes, role) => processes.filter(({ spec }) => spec.role === role)

/**
 * Finds the failure of a control plane that has exited or is stopped.
 * @param {Handle[]} control its processes
 * @returns {Promise<Failure | null>} null: all of them run
 */
async function findControlFailure(control) {
  for (const process of control) {
    const ending = process.ending()
    if (ending !== null) {
      const memoryReason = isOutOfHostMemory(process) ? 'host-memory' : 'oom'
      const reason = process.isOutOfMemory() ? memoryReason : 'ended'
      return { reason, why: await process.renderFailure(`the control plane ended with ${ending}`) }
    }
    if (process.isStopped())
      return { reason: 'stopped', why: await process.renderFailure('the control plane came to a stop') }
  }
  return null
}

/**
 * Finds the failure of sidecars of which one has exited or is stopped.
 * @param {Handle[]} sidecars
 * @returns {Promise<Failure | null>} null: all of them run
 */
async function findSidecarFailure(sidecars) {
  // Look first for sidecars that this machine could not start: their ending has the code of the error, their log does not.
  const unstarted = sidecars.filter(process => OWN_CODE.test(process.ending() ?? ''))
  const exitError = await assertAllRun(unstarted.concat(sidecars), 'starting').catch(error => error)
  if (!exitError) return null
  const memoryReason = sidecars.some(isOutOfHostMemory) ? 'host-memory' : 'ended'
  return { reason: unstarted.length > 0 ? 'host-limit' : memoryReason, why: exitError.message }
}

/**
 * Says whether a process was killed because its machine was out of memory, and not its own limit.
 * @param {Handle} process
 */
function isOutOfHostMemory(process) {
  return process.isOutOfMemory() && Boolean(process.findHostLimit?.())
}
