import { BenchError, OWN_CODES } from '../../lib/errors.js'
import { readTextFiles } from '../../lib/text-files.js'
import { isInTime } from '../../lib/wait.js'
import { SCHEMA_VERSION } from '../../model/versions.js'
import { readRoomFraction } from '../../node/machine.js'
import { assertAllRun, awaitAnyExit } from '../../run/alive.js'
import { passCourse } from '../../run/control-plane.js'
import { UNLOADED } from '../../run/deployer.js'
import { runInLanes } from '../../run/lanes.js'
import { LANES, lookAtControl, observePhase, sumReadings } from '../../run/phase.js'
import { measureRounds } from '../../run/rounds.js'
import { awaitEarlyExits, createSpecOptions } from '../../run/start-services.js'
import { withName } from '../../run/start-sidecars.js'
import { CONTROL, chooseControl } from '../../services/control.js'
import { AVAILABLE_LEAST, isHostUsedUp, judgeGrowth } from './numbers.js'
import { STEP_SIDECARS } from './plan.js'
import { BACKENDS, createGrowth, listGrowthNames } from './services.js'

/** A trial of growth: adds sidecars to a control plane until a step fails, or there are enough. A failure is its result. */
/** @import { Asking, FailureReason, GrowthRecord, Handle, Target, ConfigurationTimes } from '../../model/types.ts' */
/**
 * @import { Course } from '../../run/control-plane.js'
 * @import { Kind } from '../../run/kind.js'
 */
/**
 * @import { StartRequest, Started } from '../../run/start-services.js'
 * @import { Growth } from './services.js'
 */

const WATCH_MS = 200
const NAMED_MOST = 5
/** Cores by which the quota that the kernel reports may differ from the cap. */
const CAP_TOLERANCE = 0.001
const OWN = new RegExp(`\\b(${OWN_CODES.join('|')})\\b`)

/** @typedef {{ reason: FailureReason, why: string }} Failure */
/** @typedef {GrowthRecord['steps'][number]} Step */

/**
 * Options that all steps share.
 * @typedef {object} StepOptions
 * @property {Asking} asking
 * @property {Course['deploy']} deploy
 * @property {() => Handle[]} listProcesses of the deployment
 * @property {Handle[]} control the control plane; []: no process hands out configurations
 * @property {ReturnType<Course['observe']>['read']} readControl
 * @property {number} deadlineSeconds of a step
 * @property {AbortSignal} stopping aborts with the run
 * @property {AbortSignal} signal aborts with the run, and when the control plane has exited or is stopped
 */

/** @type {Kind} */
export const kind = { name: 'growth', hasRequests: false, start: startGrowth, measure: measureRounds }

/**
 * Runs a whole growth. Its end, whatever the cause, is part of the record.
 * @param {StartRequest} options
 * @returns {Promise<Started>} the trial is over by then
 * @throws an error, if something other than the control plane, the sidecars or the machine fails; the signal's reason
 *   when it aborts
 */
async function startGrowth({ testbed, arm, start, folder, signal }) {
  const { target, cpus } = testbed.site
  const deadlineSeconds = Number(testbed.settings.grows?.deadlineSeconds)
  const sidecarsMost = Number(arm.conditions.sidecars)
  const names = listGrowthNames(sidecarsMost)
  const shared = createSpecOptions({ testbed, arm, folder })
  const {
    applications,
    control: planned,
    setUp,
    steps,
  } = createGrowth({
    ...shared,
    places: await target.placesFor(start, [...names.applications, CONTROL, ...names.sidecars]),
    scriptFiles: readTextFiles(shared.folders.scripts),
    ...chooseControl(testbed.programs, arm),
    link: testbed.layout.topologies[arm.link],
    sidecars: sidecarsMost,
  })
  return passCourse({ target, start, folder, signal }, async course => {
    const { asking, deploy, deployment } = course
    const serving = await deploy(applications)
    await Promise.all(serving.map(process => process.waitUntilReady(signal)))
    const control = await deploy(planned ? [planned] : [])
    const observing = course.observe(control)
    course.whenOver(watchControl(control, course.falling))
    await assertControlLimited(target, control)
    const { taken, ended } = await runSteps(setUp, steps, {
      asking,
      deploy,
      control,
      deadlineSeconds,
      stopping: signal,
      listProcesses: () => deployment.processes,
      readControl: observing.read,
      signal: course.signal,
    })
    const observed = await observing.end()
    /** @type {GrowthRecord} */
    const growth = {
      schemaVersion: SCHEMA_VERSION,
      cpus,
      stepSidecars: STEP_SIDECARS,
      sidecarsMost,
      backends: BACKENDS,
      deadlineSeconds,
      steps: taken,
      ended,
      control: observed?.samples.map(sumReadings) ?? null,
    }
    return {
      deployment,
      ...UNLOADED,
      findings: {
        observed: { partFiles: { growth } },
        record: {
          outcome: 'completed',
          growth: judgeGrowth(growth),
          ended: ended ? await awaitEarlyExits(control) : [],
        },
        isOver: true,
        assertWhole: async () => {},
      },
    }
  })
}

/**
 * Watches the control plane, and aborts `falling` when it exits or is stopped, so that no step waits for its
 * deadline.
 * @param {Handle[]} control its processes
 * @param {AbortController} falling
 * @returns {() => void} ends the watch
 */
function watchControl(control, falling) {
  for (const process of control) process.exited.then(() => falling.abort())
  const timer = setInterval(() => control.some(process => process.isStopped()) && falling.abort(), WATCH_MS)
  return () => clearInterval(timer)
}

/**
 * Asserts that the control plane has its CPU limit, if it has one.
 * @param {Target} target
 * @param {Handle[]} control
 * @throws {BenchError} if the kernel reports another limit
 */
async function assertControlLimited(target, control) {
  if (!control.some(({ spec }) => spec.cpuLimitCores !== null)) return
  const start = await lookAtControl(target, control)
  for (const [i, { spec }] of control.entries()) {
    const limitCores = start?.states[i].cpuLimitCores ?? null
    const isSet =
      spec.cpuLimitCores === null || Math.abs((limitCores ?? Infinity) - spec.cpuLimitCores) <= CAP_TOLERANCE
    const mismatch = `capped at ${spec.cpuLimitCores} cores, and the kernel says ${limitCores ?? 'no quota'}`
    if (!isSet) throw new BenchError(`the control plane was to be ${mismatch}`)
  }
}

/**
 * Runs step after step until one fails or the machine's memory runs short.
 * @param {Growth['setUp']} setUp actions once the control plane runs
 * @param {Growth['steps']} steps
 * @param {StepOptions} options
 * @returns {Promise<{ taken: Step[], ended: GrowthRecord['ended'] }>} taken: the steps, including the failed one;
 *   ended: the failure, null: there is none; its sidecars: 0: the control plane was not ready, or refused the set-up
 * @throws as `findFailure`
 */
async function runSteps(setUp, steps, options) {
  /** @type {Step[]} */
  const taken = []
  try {
    await Promise.all(options.control.map(process => process.waitUntilReady(options.signal)))
    await options.asking.perform(setUp, options.signal)
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
 * Starts the sidecars of a step, and polls until each serves and each client has seen every backend, or until the
 * deadline.
 * @param {Growth['steps'][number]} step
 * @param {StepOptions} options
 * @returns {Promise<{ step: Step, failure: Failure | null }>} failure: null: all served in time
 * @throws as `findFailure`
 */
async function runStep({ sidecars, spec, members }, options) {
  const { asking, deploy, deadlineSeconds, signal } = options
  /** @type {Promise<[string, ConfigurationTimes | null]>[]} */
  const answers = []
  const { value: error, phase } = await observePhase(options, async () => {
    const begun = performance.now()
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(1000 * deadlineSeconds)])
    try {
      await runInLanes({ items: members, lanes: LANES, signal: inTime }, ({ enrolment }, signal) =>
        asking.perform(enrolment, signal),
      )
      await deploy([spec], {
        onStart(process) {
          for (const { enrolment, ...expected } of members)
            answers.push(withName(expected.name, asking.expectFirst(process, expected)))
        },
      })
      const leftSeconds = Math.max(0, deadlineSeconds - (performance.now() - begun) / 1000)
      const hasAll = () => asking.countWaiting() === 0
      await isInTime(hasAll, { deadlineSeconds: leftSeconds, intervalMs: 10, signal })
      return null
    } catch (error) {
      return error
    }
  })
  const times = new Map(await Promise.all(answers))
  const configured = members.map(({ name }) => ({ name, told: times.get(name) ?? null }))
  const result = { ...phase, sidecars, members: configured, availableFraction: readRoomFraction() }
  if (error === null && configured.every(member => member.told?.yesMs != null)) return { step: result, failure: null }
  return { step: result, failure: await findFailure(error ?? createLateFailure(result, options), options) }
}

/**
 * Creates the failure of a step that missed its deadline: this machine could not send requests, its CPUs were used
 * up, or sidecars were late.
 * @param {Step} step
 * @param {StepOptions} options
 * @returns {Failure} it names at most NAMED_MOST sidecars
 */
function createLateFailure({ members, host }, { deadlineSeconds }) {
  const unsent = members.find(({ told }) => told?.yesMs === null && told.unsent)?.told?.unsent
  if (unsent)
    return { reason: 'host-limit', why: `not within ${deadlineSeconds} s: this machine could not ask: ${unsent}` }
  const missing = members.flatMap(({ name, told }) => {
    if (told && told.yesMs !== null) return []
    return told?.backends === undefined ? name : `${name} (${told.backends} of ${BACKENDS} backends)`
  })
  const more = missing.length > NAMED_MOST ? ` and ${missing.length - NAMED_MOST} more` : ''
  const sidecarNames = `${missing.slice(0, NAMED_MOST).join(', ')}${more}`
  return isHostUsedUp(host)
    ? { reason: 'host-cpu', why: `not within ${deadlineSeconds} s, and the machine had no CPU left: ${sidecarNames}` }
    : { reason: 'deadline', why: `not within ${deadlineSeconds} s: ${sidecarNames}` }
}

/**
 * Says whether a process was killed because its machine was out of memory, and not its own limit.
 * @param {Handle} process
 */
function isOutOfHostMemory(process) {
  return process.isOutOfMemory() && Boolean(process.findHostLimit?.())
}

/**
 * Finds the cause of a failure: the exit or stop of the control plane, the exit of a sidecar, a limit of the machine,
 * else the error itself.
 * @param {unknown} error or the Failure of a step that was late
 * @param {StepOptions} options
 * @returns {Promise<Failure>}
 * @throws an error, if the run aborts, an application failed, or there is no control plane that could have caused the
 *   error
 */
async function findFailure(error, { control, listProcesses, stopping }) {
  stopping.throwIfAborted()
  await awaitAnyExit(control)
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
  const processes = listProcesses()
  await assertAllRun(
    processes.filter(({ spec }) => spec.role === 'application'),
    'starting',
  )
  const sidecars = processes.filter(({ spec }) => spec.role === 'sidecar')
  // Look first for sidecars that this machine could not start: their ending has the code of the error, their log does not.
  const unstarted = sidecars.filter(process => OWN.test(process.ending() ?? ''))
  const fallen = await assertAllRun(unstarted.concat(sidecars), 'starting').catch(error => error)
  if (fallen) {
    const memoryReason = sidecars.some(isOutOfHostMemory) ? 'host-memory' : 'ended'
    return { reason: unstarted.length > 0 ? 'host-limit' : memoryReason, why: fallen.message }
  }
  const why = error instanceof Error ? error.message : /** @type {Failure} */ (error).why
  const limit = [...control, ...sidecars].map(process => process.findHostLimit?.()).find(Boolean)
  if (limit) return { reason: 'host-limit', why: `${limit}: ${why}` }
  if (!(error instanceof Error)) return /** @type {Failure} */ (error)
  if (OWN.test(why)) return { reason: 'host-limit', why }
  if (control.length === 0) throw error
  // A BenchError says what the control plane refused; any other error means that it does not answer.
  if (error instanceof BenchError) return { reason: 'nack', why: error.message }
  return { reason: 'deadline', why: `the control plane does not answer: ${error.message}` }
}
