import path from 'node:path'
import { BenchError, EndedError } from '../../lib/errors.js'
import { readTextFiles } from '../../lib/text-files.js'
import { sleep } from '../../lib/wait.js'
import { assertAllRun } from '../../run/alive.js'
import { passCourse } from '../../run/control-plane.js'
import { UNLOADED } from '../../run/deployer.js'
import { runInLanes } from '../../run/lanes.js'
import { LANES, readControl } from '../../run/phase.js'
import { measureRounds } from '../../run/rounds.js'
import { awaitEarlyExits, createSpecOptions } from '../../run/start-services.js'
import { chooseControl } from '../../services/control.js'
import { createArmTopology } from '../../services/topology.js'
import { judgeRollout } from './numbers.js'
import {
  changeAllSidecars,
  createRolloutRecord,
  isConverged,
  removeShard,
  startAllSidecars,
  withdrawServices,
} from './phases.js'
import { createRollout, listRolloutNames } from './services.js'

/** A trial of rollout: starts sidecars until each has its first configuration, changes that of all once; a window follows. */
/** @import { Conditions, Control, Deployment, Handle, RolloutRecord, TrialRecord } from '../../model/types.ts' */
/**
 * @import { Course } from '../../run/control-plane.js'
 * @import { PhaseOptions } from '../../run/phase.js'
 */
/**
 * @import { Kind } from '../../run/kind.js'
 * @import { StartRequest } from '../../run/start-services.js'
 */

// A node starts two to ten pods a second: the timeout allows twice the longer time.
const PER_SIDECAR_SECONDS = { inBatches: 0.1, inPods: 1 }
const REFUSALS_EVERY_MS = 1000
// Wait this long before memory is read: by then, a process has released what it needed only to apply a change.
const SETTLE_MS = 2000
// The shortest timeout of a phase.
const LEAST_SECONDS = 20

/** @typedef {{ deployment: Deployment, rollout: RolloutRecord, deadlineSeconds: number }} RolledOut */

/**
 * @typedef {object} Pace
 * @property {number} leastSeconds the least deadline of a phase
 * @property {{ everyMs: number, commitsPerSecond: number }} [pace] of simulated sidecars: milliseconds from start to start, and
 *   commits of the change; absent: none are simulated
 */
/** @typedef {StartRequest & Pace} Paced */

export const kind = createRolloutKind()

/**
 * Creates the kind.
 * @param {number} [leastSeconds] the shortest timeout of a phase; tests pass a lower one
 * @returns {Kind}
 */
export function createRolloutKind(leastSeconds = LEAST_SECONDS) {
  return {
    name: 'rollout',
    hasRequests: false,
    async start(request) {
      const { deployment, rollout, deadlineSeconds } = await startRollout({ ...request, leastSeconds })
      const judged = judgeRollout(rollout)
      return {
        deployment,
        ...UNLOADED,
        findings: {
          observed: { partFiles: { rollout } },
          record: { rollout: judged },
          isOver: false,
          async assertWhole() {
            // Report a process that exited before the sidecars that miss its configuration.
            await assertAllRun(deployment.processes, 'starting')
            assertRolloutConverged(judged, deadlineSeconds)
          },
        },
      }
    },
    measure: measureRounds,
  }
}

/**
 * Runs a rollout. If sidecars are simulated, two smaller rollouts come first, with as many sidecars as are real: one
 * with real ones only, one with all but one simulated. They show the pace of real sidecars, and whether simulated
 * ones cost the control plane as much.
 * @param {Paced} request
 * @returns {Promise<RolledOut>} even if sidecars have no configuration: the record names them
 * @throws {BenchError} if a process exits or is stopped, or a smaller rollout does not converge
 */
async function startRollout(request) {
  const { sidecars = 0, simulated = 0 } = request.arm.conditions
  if (simulated === 0) return runRollout(request)
  const real = sidecars - simulated
  const allReal = await runSmallerRollout(request, { name: 'all-real', sidecars: real, simulated: 0 })
  // The CPU time of a control plane depends on the pace, so simulated sidecars start and change at that of real ones.
  const everyMs = Math.round((allReal.first.endMs - allReal.first.startMs) / real)
  const { toldSeconds = 0 } = judgeRollout(allReal).change ?? {}
  const commitsPerSecond = toldSeconds > 0 ? (real - 1) / toldSeconds : Number.POSITIVE_INFINITY
  const paced = { ...request, pace: { everyMs, commitsPerSecond } }
  const allSimulated = await runSmallerRollout(paced, { name: 'all-simulated', sidecars: real, simulated: real - 1 })
  const started = await runRollout(paced)
  return { ...started, rollout: { ...started.rollout, fidelity: { real: allReal, simulated: allSimulated } } }
}

/**
 * Runs a smaller rollout and removes it.
 * @param {Paced} request
 * @param {{ name: string, sidecars: number, simulated: number }} other name: of its folder; sidecars, simulated:
 *   their numbers
 * @returns {Promise<RolloutRecord>}
 * @throws {BenchError} if it does not converge
 */
async function runSmallerRollout(request, { name, ...other }) {
  const arm = { ...request.arm, conditions: { ...request.arm.conditions, ...other } }
  const started = await runRollout({ ...request, arm, folder: path.join(request.folder, name) })
  const { deployment, rollout, deadlineSeconds } = started
  await deployment.remove()
  assertRolloutConverged(judgeRollout(rollout), deadlineSeconds)
  return rollout
}

/**
 * Runs the phases of one rollout and leaves its processes running; if it throws, it removes them. A phase starts only
 * if each sidecar has the configuration of the one before.
 * @param {Paced} options
 * @returns {Promise<RolledOut>} even if sidecars have no configuration: the record names them
 * @throws {BenchError} if a process exits, or a sidecar refuses its configuration; the signal's reason when it aborts
 */
async function runRollout({ testbed, arm, start, round, folder, leastSeconds, signal, pace }) {
  const { target } = testbed.site
  const rollout = await createRolloutSpecs({ testbed, arm, start, round, folder, pace })
  return passCourse({ target, start, folder, signal, chooseError }, async course => {
    const { asking, deploy, end, deployment, falling, signal } = course
    // The shard that is removed is a deployment of its own, since it ends before the others.
    const { controls, moves } = rollout
    const keptCount = controls.length - (moves ? 1 : 0)
    const running = [
      ...(await deploy([rollout.application, ...controls.slice(0, keptCount)])),
      ...(moves ? await deploy(controls.slice(keptCount)) : []),
    ]
    await Promise.all(running.map(process => process.waitUntilReady(signal)))
    await target.call('reach', { endpoints: rollout.reachable })
    // Every sidecar needs the control planes. A process that is no longer part of the deployment was ended on purpose.
    for (const process of running) process.exited.then(() => deployment.processes.includes(process) && falling.abort())
    const shards = running.slice(1)
    course.whenOver(watchRefusals(shards, { parse: rollout.parseRefusals, falling }))
    const members = rollout.batches.flatMap(batch => batch.members)
    const arePods = target.pods !== undefined
    const deadlineSeconds = computeTimeoutSeconds({ ...arm.conditions, leastSeconds, arePods, everyMs: pace?.everyMs })
    const readMemory = async () => {
      if (!arm.conditions.areServicesRemoved) return { sidecars: null, control: null }
      await sleep(SETTLE_MS, signal)
      const readAnonBytes = async (/** @type {Handle[]} */ processes) =>
        (await readControl(target, processes))?.anonBytes ?? null
      const sidecars = deployment.processes.filter(({ spec }) => spec.role === 'sidecar')
      return { sidecars: await readAnonBytes(sidecars), control: await readAnonBytes(shards) }
    }
    const observing = course.observe(shards)
    /** @type {PhaseOptions} */
    const phaseOptions = { asking, signal, deadlineSeconds, readControl: observing.read }
    await runInLanes({ items: rollout.setUps, lanes: LANES, signal }, asking.perform)
    await runInLanes({ items: members, lanes: LANES, signal }, ({ enrolment }, signal) =>
      asking.perform(enrolment, signal),
    )
    const fail = (/** @type {Error} */ error) => falling.abort(error)
    const { first, pods } = await startAllSidecars({ ...phaseOptions, batches: rollout.batches, deploy, arePods, fail })
    const conditions = { ...arm.conditions, ...(pace && { commitsPerSecond: pace.commitsPerSecond }) }
    const changeOptions = { ...phaseOptions, members, conditions, seed: round }
    const memoryBefore = await readMemory()
    const change = isConverged(members, first) ? await changeAllSidecars(changeOptions) : null
    const isChanged = change !== null && isConverged(members, change)
    const areRemoved = isChanged && arm.conditions.areServicesRemoved
    const withdrawal = areRemoved
      ? await withdrawServices({ ...changeOptions, before: memoryBefore, readMemory })
      : null
    const control = await observing.end()
    const removalOptions = { ...phaseOptions, readControl: () => readControl(target, shards.slice(0, keptCount)) }
    const removal =
      moves && isChanged
        ? await removeShard({
            ...removalOptions,
            batches: rollout.batches,
            moves,
            deploy,
            end,
            shard: controls[keptCount],
          })
        : null
    const { cpus } = testbed.site
    const rolloutRecord = createRolloutRecord({ cpus, members, first, pods, change, withdrawal, removal, control })
    return { deployment, deadlineSeconds, rollout: rolloutRecord }
  })
}

/**
 * Chooses the most specific error: a process that exited, else a configuration that a sidecar refused, else the error
 * itself.
 * @param {unknown} error
 * @param {Course} course
 * @returns {Promise<unknown>} an EndedError if processes exited
 */
async function chooseError(error, { deployment: { processes }, falling }) {
  const ended = await awaitEarlyExits(processes)
  const refused = falling.signal.reason instanceof BenchError ? falling.signal.reason : null
  const failure = (await assertAllRun(processes, 'starting').catch(failed => failed)) ?? refused ?? error
  return ended.length > 0 ? new EndedError(failure.message, { cause: error, ended }) : failure
}

/**
 * Asserts that all sidecars, including simulated ones, had the configuration of each phase that was started.
 * @param {NonNullable<TrialRecord['rollout']>} rollout
 * @param {number} deadlineSeconds the timeout of a phase, for the error
 * @throws {BenchError} for the first phase in which some had not; it names up to 20 real sidecars, and no simulated
 *   ones
 */
export function assertRolloutConverged({ sidecars, simulated, first, change, withdrawal, removal }, deadlineSeconds) {
  const real = sidecars - (simulated ?? 0)
  const noun = simulated ? 'real sidecars' : 'sidecars'
  const phases = /** @type {const} */ ([
    [first, real, noun, 'its first configuration'],
    [change, real, noun, 'the change of its configuration'],
    [withdrawal, real, noun, 'its configuration without the services'],
    [removal, removal?.moved ?? 0, 'sidecars that moved', 'the configuration of its new shard'],
  ])
  for (const [phase, count, sidecarsOfPhase, what] of phases) {
    if (!phase) continue
    const { converged, missing, isOfSimulated = true } = phase
    const within = `within ${Math.round(deadlineSeconds)} s`
    if (!isOfSimulated)
      throw new BenchError(`not converged: not all of ${simulated} simulated sidecars had ${what} ${within}`)
    if (converged === count) continue
    throw new BenchError(
      `not converged: ${missing.join(', ')}: ${converged} of ${count} ${sidecarsOfPhase} had ${what} ${within}`,
    )
  }
}

/**
 * Reads the logs of the control planes every second, and aborts `falling` if a sidecar refused its configuration.
 * @param {Handle[]} control
 * @param {{ parse: Control['parseRefusals'], falling: AbortController }} options parse: finds refusals in a log;
 *   absent: logs do not show them
 * @returns {() => void} ends the watch
 */
function watchRefusals(control, { parse, falling }) {
  const read = async () => {
    const logs = parse ? await Promise.all(control.map(process => process.readLog())) : []
    const [refused, ...others] = new Set(logs.flatMap(log => parse?.(log) ?? []))
    if (refused === undefined) return
    const more = others.length > 0 ? ` (and ${others.length} more)` : ''
    falling.abort(new BenchError(`nack: a sidecar did not accept its configuration: ${refused}${more}`))
  }
  const timer = parse && setInterval(() => read().catch(() => {}), REFUSALS_EVERY_MS)
  return () => clearInterval(timer)
}

/**
 * Creates the processes of a rollout, with addresses from the target.
 * @param {Omit<Paced, 'leastSeconds' | 'signal'>} options
 * @returns {Promise<ReturnType<typeof createRollout>>}
 */
async function createRolloutSpecs({ testbed, arm, start, round, folder, pace }) {
  const { target } = testbed.site
  const topology = createArmTopology(arm, testbed.layout.topologies)
  const names = listRolloutNames(topology, arm.conditions)
  const shared = createSpecOptions({ testbed, arm, folder })
  const { pods } = target
  // Pods get their addresses when they start: until then all have the target's place.
  const inPods = [...names.simulated, ...names.sidecars]
  const placed = await target.placesFor(start, [names.application, ...names.controls, ...(pods ? [] : inPods)])
  return createRollout({
    ...shared,
    topology,
    places: pods ? { ...placed, ...Object.fromEntries(inPods.map(name => [name, pods.place])) } : placed,
    isBatched: !pods,
    scriptFiles: readTextFiles(shared.folders.scripts),
    ...chooseControl(testbed.programs, arm),
    names,
    seed: round,
    everyMs: pace?.everyMs,
  })
}

/**
 * Computes the timeout of a phase: at least `leastSeconds`, with 0.1 s for each sidecar of a process (1 s of a pod),
 * and the start intervals of all simulated ones.
 * @param {Pick<Conditions, 'sidecars' | 'simulated'> & { leastSeconds: number, arePods?: boolean, everyMs?: number }}
 *   options everyMs: the interval between the starts of simulated sidecars
 * @returns {number} seconds
 */
export function computeTimeoutSeconds({ leastSeconds, sidecars = 0, simulated = 0, arePods = false, everyMs = 0 }) {
  const perSidecar = PER_SIDECAR_SECONDS[arePods ? 'inPods' : 'inBatches']
  return leastSeconds + perSidecar * sidecars + (simulated * everyMs) / 1000
}
