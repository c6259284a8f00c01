import path from 'node:path'
import { BenchError, EndedError } from '../../lib/errors.js'
import { readTextFiles } from '../../lib/text-files.js'
import { assertAllRun, awaitEarlyExits } from '../../run/alive.js'
import { runControlPlaneSteps } from '../../run/control-plane.js'
import { measureRounds } from '../../run/rounds.js'
import { createSpecOptions, UNLOADED } from '../../run/start-services.js'
import { chooseControl } from '../../services/control.js'
import { createArmTopology } from '../../services/topology.js'
import { computeRolloutNumbers } from './numbers.js'
import { createRolloutRecord, runPhases } from './phases.js'
import { createRolloutSpecs, listRolloutNames } from './services.js'

/** A trial of rollout: starts sidecars until each has its first configuration, changes that of all once; a window follows. */
/** @import { Conditions, Control, Deployment, Handle, RolloutRecord, Target, TrialRecord } from '../../model/types.ts' */
/**
 * @import { StepContext } from '../../run/control-plane.js'
 * @import { Kind } from '../../run/kind.js'
 * @import { StartRequest } from '../../run/start-services.js'
 * @import { RolloutSpecs } from './services.js'
 */

// Seconds that each sidecar adds to the timeout of a phase. A node starts two to ten pods a second: a pod may take twice the longest.
const PER_SIDECAR_SECONDS = { inBatches: 0.1, inPods: 1 }
const REFUSALS_EVERY_MS = 1000
// The fixed part of a phase's timeout, to which each sidecar adds.
const LEAST_SECONDS = 20

/** The pace of simulated sidecars. @typedef {{ everyMs: number, commitsPerSecond: number }} Pace everyMs: from start to start */

/**
 * @typedef {object} PaceOptions
 * @property {number} leastSeconds the fixed part of a phase's timeout
 * @property {Pace} [pace] absent: no sidecar is simulated
 */
/** @typedef {StartRequest & PaceOptions} RolloutRequest */
/** @typedef {{ deployment: Deployment, rollout: RolloutRecord, deadlineSeconds: number }} StartedRollout deadlineSeconds: of a phase */

export const kind = createRolloutKind()

/**
 * Creates the kind of rollouts, whose phases run when its services are started.
 * @param {number} [leastSeconds] the shortest timeout of a phase; tests pass a lower one
 * @returns {Kind}
 */
export function createRolloutKind(leastSeconds = LEAST_SECONDS) {
  return {
    name: 'rollout',
    hasRequests: false,
    async start(request) {
      const { deployment, rollout, deadlineSeconds } = await startRollout({ ...request, leastSeconds })
      const numbers = computeRolloutNumbers(rollout)
      return {
        deployment,
        ...UNLOADED,
        findings: {
          observed: { partFiles: { rollout } },
          record: { rollout: numbers },
          isOver: false,
          async assertWhole() {
            // A process that exited is reported before the sidecars that miss its configuration.
            await assertAllRun(deployment.processes, 'starting')
            assertRolloutConverged(numbers, deadlineSeconds)
          },
        },
      }
    },
    measure: measureRounds,
  }
}

/**
 * Runs a rollout and leaves its processes running. If sidecars are simulated, two smaller rollouts come first, with as
 * many sidecars as are real: one with real ones only, one with all but one simulated. They show the pace of real
 * sidecars, and whether simulated ones cost the control plane as much.
 * @param {RolloutRequest} request
 * @returns {Promise<StartedRollout>} even if sidecars have no configuration: the record names them
 * @throws {BenchError} if a smaller rollout does not converge; as `runRollout`
 */
async function startRollout(request) {
  const { sidecars = 0, simulated = 0 } = request.arm.conditions
  if (simulated === 0) return runRollout(request)
  const real = sidecars - simulated
  const allReal = await runSmallerRollout(request, { name: 'all-real', sidecars: real, simulated: 0 })
  // The CPU time of a control plane depends on the pace, so simulated sidecars start and change at that of real ones.
  const everyMs = Math.round((allReal.first.endMs - allReal.first.startMs) / real)
  const { toldSeconds = 0 } = computeRolloutNumbers(allReal).change ?? {}
  const commitsPerSecond = toldSeconds > 0 ? (real - 1) / toldSeconds : Number.POSITIVE_INFINITY
  const paced = { ...request, pace: { everyMs, commitsPerSecond } }
  const allSimulated = await runSmallerRollout(paced, { name: 'all-simulated', sidecars: real, simulated: real - 1 })
  const started = await runRollout(paced)
  return { ...started, rollout: { ...started.rollout, fidelity: { real: allReal, simulated: allSimulated } } }
}

/**
 * Runs a smaller rollout, and removes its processes before it asserts that all sidecars were configured.
 * @param {RolloutRequest} request
 * @param {{ name: string, sidecars: number, simulated: number }} options name: of its folder; sidecars, simulated:
 *   their numbers
 * @returns {Promise<RolloutRecord>}
 * @throws {BenchError} if it does not converge; as `runRollout`; the target's error if the processes cannot be removed
 */
async function runSmallerRollout(request, { name, ...counts }) {
  const arm = { ...request.arm, conditions: { ...request.arm.conditions, ...counts } }
  const started = await runRollout({ ...request, arm, folder: path.join(request.folder, name) })
  const { deployment, rollout, deadlineSeconds } = started
  await deployment.remove()
  assertRolloutConverged(computeRolloutNumbers(rollout), deadlineSeconds)
  return rollout
}

/**
 * Runs one rollout and leaves its processes running; if it throws, it removes them.
 * @param {RolloutRequest} request
 * @returns {Promise<StartedRollout>} even if sidecars have no configuration: the record names them
 * @throws {BenchError} if a process exits, a sidecar refuses its configuration, or none starts; as `createPlacedSpecs`; an error of the
 *   target; the signal's reason when it aborts
 */
async function runRollout({ testbed, arm, start, round, folder, leastSeconds, signal, pace }) {
  const { target, cpus } = testbed.site
  const specs = await createPlacedSpecs({ testbed, arm, start, round, folder, pace })
  const arePods = target.pods !== undefined
  const deadlineSeconds = computeDeadlineSeconds({ ...arm.conditions, leastSeconds, arePods, everyMs: pace?.everyMs })
  const conditions = { ...arm.conditions, ...(pace && { commitsPerSecond: pace.commitsPerSecond }) }
  return runControlPlaneSteps({ target, start, folder, signal, chooseError }, async context => {
    const shards = await startApplicationAndShards(context, { target, specs })
    const phases = await runPhases(context, { target, specs, shards, conditions, seed: round, deadlineSeconds })
    return { deployment: context.deployment, deadlineSeconds, rollout: createRolloutRecord({ cpus, ...phases }) }
  })
}

/**
 * Starts the application and the control planes, and waits until they are ready. From then on it aborts `failing` if one of them
 * exits, or, until the steps are over, a log shows that a sidecar refused its configuration.
 * @param {StepContext} context
 * @param {{ target: Target, specs: RolloutSpecs }} options
 * @returns {Promise<Handle[]>} the control planes; []: none run
 * @throws if a process does not start, or is not ready or reachable in time; the signal's reason when it aborts
 */
async function startApplicationAndShards(context, { target, specs }) {
  const { deploy, deployment, failing, signal, addTeardown } = context
  const { application, controls, moves, reachable, parseRefusals } = specs
  // The shard that is removed is a deployment of its own, since it ends before the others.
  const keptCount = controls.length - (moves ? 1 : 0)
  const running = [
    ...(await deploy([application, ...controls.slice(0, keptCount)])),
    ...(moves ? await deploy(controls.slice(keptCount)) : []),
  ]
  await Promise.all(running.map(process => process.waitUntilReady(signal)))
  await target.call('reach', { endpoints: reachable })
  // Every sidecar needs the control planes. A process that is no longer part of the deployment was ended on purpose.
  for (const process of running) process.exited.then(() => deployment.processes.includes(process) && failing.abort())
  const [, ...shards] = running
  addTeardown(watchRefusals(shards, { parse: parseRefusals, failing }))
  return shards
}

/**
 * Chooses the most specific error: a process that exited or is stopped, else a configuration that a sidecar refused, else
 * the error itself.
 * @param {unknown} error
 * @param {StepContext} context
 * @returns {Promise<unknown>} an EndedError if processes exited, with their causes
 */
async function chooseError(error, { deployment: { processes }, failing }) {
  const ended = await awaitEarlyExits(processes)
  const refused = failing.signal.reason instanceof BenchError ? failing.signal.reason : null
  const failure = (await assertAllRun(processes, 'starting').catch(failed => failed)) ?? refused ?? error
  return ended.length > 0 ? new EndedError(failure.message, { cause: error, ended }) : failure
}

/**
 * Asserts that all sidecars, including simulated ones, had the configuration of each phase that was started.
 * @param {NonNullable<TrialRecord['rollout']>} rollout
 * @param {number} deadlineSeconds the timeout of a phase, for the error
 * @throws {BenchError} for the first phase in which some had not; it names the real sidecars in `missing`, and no
 *   simulated ones
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
  for (const [phase, count, nounOfPhase, configuration] of phases) {
    if (!phase) continue
    const { converged, missing, isOfSimulated = true } = phase
    const within = `within ${Math.round(deadlineSeconds)} s`
    if (!isOfSimulated)
      throw new BenchError(`not converged: not all of ${simulated} simulated sidecars had ${configuration} ${within}`)
    if (converged === count) continue
    throw new BenchError(
      `not converged: ${missing.join(', ')}: ${converged} of ${count} ${nounOfPhase} had ${configuration} ${within}`,
    )
  }
}

/**
 * Reads the logs of the control planes every REFUSALS_EVERY_MS, and aborts `failing` with a BenchError if a sidecar refused its
 * configuration. A log that cannot be read shows nothing.
 * @param {Handle[]} shards
 * @param {{ parse: Control['parseRefusals'], failing: AbortController }} options parse: finds refusals in a log;
 *   absent: logs do not show them, and none is read
 * @returns {() => void} ends the watch
 */
function watchRefusals(shards, { parse, failing }) {
  if (!parse) return () => {}
  const checkLogs = async () => {
    const logs = await Promise.all(shards.map(process => process.readLog().catch(() => '')))
    const [refused, ...others] = new Set(logs.flatMap(log => parse(log)))
    if (refused === undefined) return
    const othersText = others.length > 0 ? ` (and ${others.length} more)` : ''
    failing.abort(new BenchError(`nack: a sidecar did not accept its configuration: ${refused}${othersText}`))
  }
  const timer = setInterval(() => checkLogs().catch(() => {}), REFUSALS_EVERY_MS)
  return () => clearInterval(timer)
}

/**
 * Creates the processes of a rollout, with addresses from the target.
 * @param {Omit<RolloutRequest, 'leastSeconds' | 'signal'>} options
 * @returns {Promise<RolloutSpecs>}
 * @throws {BenchError} as `createRolloutSpecs`; the system's error if the scripts cannot be read; an error of the target
 */
async function createPlacedSpecs({ testbed, arm, start, round, folder, pace }) {
  const { target } = testbed.site
  const topology = createArmTopology(arm, testbed.layout.topologies)
  const names = listRolloutNames(topology, arm.conditions)
  const shared = createSpecOptions({ testbed, arm, folder })
  const { pods } = target
  // Pods get their addresses when they start: until then all have the target's place.
  const inPods = [...names.simulated, ...names.sidecars]
  const placed = await target.placesFor(start, [names.application, ...names.controls, ...(pods ? [] : inPods)])
  return createRolloutSpecs({
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
 * Computes the timeout of a phase: `leastSeconds`, PER_SIDECAR_SECONDS for each sidecar, and the start intervals of all
 * simulated ones.
 * @param {Pick<Conditions, 'sidecars' | 'simulated'> & { leastSeconds: number, arePods?: boolean, everyMs?: number }}
 *   options arePods: each sidecar is a pod, false by default; everyMs: the interval between the starts of simulated sidecars
 * @returns {number} seconds
 */
export function computeDeadlineSeconds({ leastSeconds, sidecars = 0, simulated = 0, arePods = false, everyMs = 0 }) {
  const perSidecar = PER_SIDECAR_SECONDS[arePods ? 'inPods' : 'inBatches']
  return leastSeconds + perSidecar * sidecars + (simulated * everyMs) / 1000
}
