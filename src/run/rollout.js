import { BenchError, EndedError } from '../lib/errors.js'
import { readTextFiles } from '../lib/text-files.js'
import { waitFor } from '../lib/wait.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { createConvergence } from '../node/convergence.js'
import { readHostCpu } from '../node/kernel/host-cpu.js'
import { createPerformer } from '../node/perform.js'
import { BATCH_SIDECARS, CONTROL, createRollout, listRolloutNames } from '../services/rollout.js'
import { topologyOf } from '../services/topology.js'
import { assertAllRun } from './alive.js'
import { awaitEnded } from './start-services.js'

/**
 * Starts the sidecars of an arm with their control plane, waits until each has its first configuration, and changes that
 * of all once.
 * @import { Arm, Control, Deployment, Handle, Observation, ProcessSpec, ReloadAction, RolloutRecord, Target, Told, TrialRecord } from '../model/types.ts'
 * @import { Convergence } from '../node/convergence.js'
 * @import { Member, Rollout } from '../services/rollout.js'
 * @import { Started } from './start-services.js'
 * @import { Testbed } from './testbed.js'
 */

// Requests to the control plane at a time.
const LANES = 4
const DEADLINE = { seconds: 20, perSidecarSeconds: 0.1 }
const NAMED_MOST = 20
// The next batch starts when no more than these are to answer yet: started all at once, they would wait for each other.
const WAITING_MOST = BATCH_SIDECARS / 2

/** @typedef {Map<string, Told>} Times by the sidecar's name */

/**
 * @param {{ testbed: Testbed, arm: Arm, start: number, folder: string, signal: AbortSignal }} options as of startServices
 * @returns {Promise<Started & { rollout: RolloutRecord }>}
 * @throws {BenchError} where a process ended, or sidecars could not be started by the deadline
 */
export async function startRollout({ testbed, arm, start, folder, signal }) {
  const { target } = testbed.site
  const rollout = await renderRollout({ testbed, arm, start, folder })
  const { deploy, deployment } = createDeployer(target, { start, folder })
  const dying = new AbortController()
  const convergence = createConvergence()
  try {
    const fixed = [rollout.application, ...(rollout.control ? [rollout.control] : [])]
    const running = await deploy(fixed)
    await Promise.all(running.map(process => process.waitUntilReady(signal)))
    // Every sidecar needs them.
    for (const process of running) process.exited.then(() => dying.abort())
    const given = { signal: AbortSignal.any([signal, dying.signal]), convergence }
    const observing = observeControl(target, running.slice(1))
    const performer = createPerformer()
    try {
      await performer.perform(rollout.setUp)
      const members = rollout.batches.flatMap(batch => batch.members)
      await inLanes(members, member => performer.perform(member.enrolment))
      const first = await passPhase(given, () => startBatches({ ...given, rollout, deploy }))
      const changes = members.map(member => ({ member, ...member.changeTo(1) }))
      await inLanes(changes, ({ stage }) => performer.perform(stage))
      const commitAll = () => commitChanges({ ...given, changes, perform: performer.perform })
      const change = await passPhase(given, commitAll)
      return {
        deployment,
        changeTo: null,
        entry: { urls: [], host: '', admin: null, certificate: null },
        rollout: describe({ cpus: testbed.site.cpus, members, first, change, control: await observing.end() }),
      }
    } finally {
      performer.close()
      await observing.end()
    }
  } catch (error) {
    const { processes } = deployment
    const ended = await awaitEnded(processes)
    const failure = ended.length > 0 ? await assertAllRun(processes, 'starting').catch(told => told) : error
    await deployment.remove()
    if (ended.length > 0) throw new EndedError(failure.message, { cause: error, ended })
    throw failure
  } finally {
    convergence.close()
  }
}

/**
 * @param {NonNullable<TrialRecord['rollout']>} rollout
 * @throws {BenchError} where sidecars did not have a configuration by the deadline: which
 */
export function assertConverged({ sidecars, first, change }) {
  const phases = /** @type {const} */ ([
    [first, 'its first configuration'],
    [change, 'the change of its configuration'],
  ])
  for (const [{ converged, missing }, what] of phases) {
    if (converged === sidecars) continue
    const within = `within ${Math.round(deadlineSecondsOf(sidecars))} s`
    throw new BenchError(
      `not converged: ${sayNames(missing)}: ${converged} of ${sidecars} sidecars had ${what} ${within}`,
    )
  }
}

/** @param {string[]} names */
function sayNames(names) {
  const more = names.length > NAMED_MOST ? ` and ${names.length - NAMED_MOST} more` : ''
  return `${names.slice(0, NAMED_MOST).join(', ')}${more}`
}

/** @param {{ testbed: Testbed, arm: Arm, start: number, folder: string }} options */
async function renderRollout({ testbed, arm, start, folder }) {
  const { site, programs, settings, folders, layout } = testbed
  const topology = topologyOf(arm, layout.topologies)
  const { application, sidecars } = listRolloutNames(topology, Number(arm.conditions.sidecars))
  const places = await site.target.placesFor(start, [application, CONTROL, ...sidecars])
  const scripts = arm.variant ?? folders.pipyScripts
  return createRollout({
    arm,
    topology,
    places,
    programs,
    folders: { own: folder, scripts, echo: folders.echo, certificates: folders.certificates },
    locate: site.target.locate,
    scriptFiles: readTextFiles(scripts),
    trafficPolicy: settings.trafficPolicy,
    cpus: site.cpus,
    control: /** @type {Control} */ (programs.planes[arm.plane].control),
    sidecars,
  })
}

/**
 * @param {Target} target
 * @param {{ start: number, folder: string }} at
 */
function createDeployer(target, at) {
  /** @type {Deployment[]} */
  const deployments = []
  /** @param {ProcessSpec[]} specs @param {Omit<Parameters<Target['deploy']>[1], 'start' | 'folder'>} [how] */
  const deploy = async (specs, how = {}) => {
    const deployed = await target.deploy(specs, { ...at, ...how })
    deployments.push(deployed)
    return deployed.processes
  }
  /** @type {Deployment} */
  const deployment = {
    get processes() {
      return deployments.flatMap(d => d.processes)
    },
    remove: async () => void (await Promise.all(deployments.map(d => d.remove()))),
  }
  return { deploy, deployment }
}

/**
 * Reads the control plane until it is ended.
 * @param {Target} target
 * @param {Handle[]} control one, or none where nothing has to run
 */
function observeControl(target, control) {
  const ending = new AbortController()
  const startMs = Date.now()
  const window = { startMs, endMs: startMs + 24 * 3600 * 1000 }
  const seen = control.length > 0 ? target.observe(control, { window, signal: ending.signal }) : null
  return {
    /** @returns {Promise<Observation | null>} */
    async end() {
      ending.abort()
      return seen
    },
  }
}

/**
 * Starts batch after batch, and asks the sidecars of each from its start on.
 * @param {{ convergence: Convergence, signal: AbortSignal, rollout: Rollout,
 *   deploy: (specs: ProcessSpec[], how: Omit<Parameters<Target['deploy']>[1], 'start' | 'folder'>) => Promise<Handle[]> }} options
 * @returns {Promise<Promise<[string, Told]>[]>} of each sidecar
 */
async function startBatches({ convergence, signal, rollout, deploy }) {
  const { batches } = rollout
  const sidecars = batches.reduce((sum, { members }) => sum + members.length, 0)
  const deadlineMs = Date.now() + deadlineSecondsOf(sidecars) * 1000
  /** @type {Promise<[string, Told]>[]} */
  const asking = []
  await deploy(
    batches.map(({ spec }) => spec),
    {
      pace: () =>
        waitFor(() => convergence.countWaiting() <= WAITING_MOST, {
          what: 'the sidecars that were started to have their configuration, before the next are started',
          deadlineSeconds: Math.max(0, Math.round((deadlineMs - Date.now()) / 1000)),
          intervalMs: 5,
          signal,
        }).catch(error => {
          signal.throwIfAborted()
          throw new BenchError(`not converged: ${sayNames(convergence.listWaiting())}: ${error.message}`, {
            cause: error,
          })
        }),
      onStart({ spec, startedMs = Date.now() }) {
        const { members } = /** @type {Rollout['batches'][number]} */ (batches.find(batch => batch.spec === spec))
        for (const member of members) {
          const { host } = member.changeTo(0)
          asking.push(ask({ convergence, member, host, sinceMs: startedMs }))
        }
      },
    },
  )
  return asking
}

/**
 * @param {{ convergence: Convergence, changes: ({ member: Member } & ReturnType<Member['changeTo']>)[],
 *   perform: (actions: ReloadAction[]) => Promise<void> }} options
 * @returns {Promise<Promise<[string, Told]>[]>} of each sidecar
 */
async function commitChanges({ convergence, changes, perform }) {
  /** @type {Promise<[string, Told]>[]} */
  const asking = []
  await inLanes(changes, async ({ member, host, commit }) => {
    asking.push(ask({ convergence, member, host, sinceMs: Date.now() }))
    await perform(commit)
  })
  return asking
}

/**
 * @param {{ convergence: Convergence, member: Member, host: string, sinceMs: number }} options
 * @returns {Promise<[string, Told]>}
 */
function ask({ convergence, member: { name, endpoint }, host, sinceMs }) {
  const asked = convergence
    .expect({ name, endpoint, host })
    .then(seen => /** @type {[string, Told]} */ ([name, { sinceMs, ...seen }]))
  // Where the phase fails otherwise, nobody awaits it.
  asked.catch(() => {})
  return asked
}

/**
 * A phase until every sidecar has answered, or those that have not are given up at the deadline.
 * @param {{ convergence: Convergence, signal: AbortSignal }} given
 * @param {() => Promise<Promise<[string, Told]>[]>} begin
 */
async function passPhase({ convergence, signal }, begin) {
  const startMs = Date.now()
  const start = readHostCpu()
  const ownBefore = process.cpuUsage()
  const asking = await begin()
  const deadlineSeconds = Math.max(0, deadlineSecondsOf(asking.length) - (Date.now() - startMs) / 1000)
  const isDone = () => convergence.countWaiting() === 0
  await waitFor(isDone, { what: 'every sidecar to answer', deadlineSeconds, intervalMs: 10, signal }).catch(() =>
    signal.throwIfAborted(),
  )
  const endMs = Date.now()
  const own = process.cpuUsage(ownBefore)
  const host = { start, end: readHostCpu() }
  convergence.giveUp()
  const times = new Map(await Promise.all(asking))
  return { times, phase: { startMs, endMs, host, ownCpuSeconds: (own.user + own.system) / 1e6 } }
}

/** @param {number} sidecars */
function deadlineSecondsOf(sidecars) {
  return DEADLINE.seconds + DEADLINE.perSidecarSeconds * sidecars
}

/**
 * Does something with each item, a few at a time.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => Promise<void>} act
 */
async function inLanes(items, act) {
  const left = items[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const item of left) await act(item)
    }),
  )
}

/**
 * @param {{ cpus: number, members: Member[], first: Awaited<ReturnType<typeof passPhase>>,
 *   change: Awaited<ReturnType<typeof passPhase>>, control: Observation | null }} seen
 * @returns {RolloutRecord}
 */
function describe({ cpus, members, first, change, control }) {
  const numberOrNull = (/** @type {number | null | undefined} */ value) =>
    Number.isFinite(value) ? Number(value) : null
  return {
    schemaVersion: SCHEMA_VERSION,
    cpus,
    members: members.map(({ name }) => ({
      name,
      first: /** @type {Told} */ (first.times.get(name)),
      change: /** @type {Told} */ (change.times.get(name)),
    })),
    first: first.phase,
    change: change.phase,
    control:
      control?.samples.map(({ epochMs, readings: [reading] }) => ({
        epochMs,
        cpuSeconds: numberOrNull(reading.cpuSeconds),
        anonBytes: numberOrNull(reading.anonBytes),
        peakBytes: numberOrNull(reading.peakBytes),
      })) ?? null,
  }
}
