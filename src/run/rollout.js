import { BenchError, EndedError } from '../lib/errors.js'
import { readTextFiles } from '../lib/text-files.js'
import { waitFor } from '../lib/wait.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { ASKED_PER_SECOND, createConvergence, readNowMs } from '../node/convergence.js'
import { readHostCpu } from '../node/kernel/host-cpu.js'
import { createPerformer } from '../node/perform.js'
import { BATCH_SIDECARS, CONTROL, createRollout, listRolloutNames } from '../services/rollout.js'
import { topologyOf } from '../services/topology.js'
import { assertAllRun } from './alive.js'
import { awaitEnded, describeSpecs } from './start-services.js'

/**
 * Starts the sidecars of an arm with their control plane, waits until each has its first configuration, and changes that
 * of all once.
 * @import { Arm, Control, Deployment, Handle, Observation, ProcessSpec, ReloadAction, RolloutRecord, Sample, Target, Told, TrialRecord } from '../model/types.ts'
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

/**
 * What every phase needs.
 * @typedef {{ convergence: Convergence, signal: AbortSignal, readControl: () => ReturnType<typeof readControl> }} Given
 */

/** @typedef {(actions: ReloadAction[], signal: AbortSignal) => Promise<void>} Perform */

/**
 * @param {{ testbed: Testbed, arm: Arm, start: number, folder: string, signal: AbortSignal }} options as of startServices
 * @returns {Promise<Started & { rollout: RolloutRecord }>}
 * @throws {BenchError} where a process ended or was stopped. That sidecars have no configuration is in the record.
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
    const control = running.slice(1)
    const either = AbortSignal.any([signal, dying.signal])
    /** @type {Given} */
    const given = { signal: either, convergence, readControl: () => readControl(target, control) }
    const observing = observeControl(target, control)
    const performer = createPerformer()
    try {
      const { perform } = performer
      await perform(rollout.setUp, either)
      const members = rollout.batches.flatMap(batch => batch.members)
      await inLanes({ items: members, signal: either }, (member, signal) => perform(member.enrolment, signal))
      const first = await passPhase(given, () => startBatches({ ...given, rollout, deploy }))
      const haveAll = members.every(({ name }) => typeof first.times.get(name)?.yesMs === 'number')
      const change = haveAll ? await changeAll({ ...given, members, perform }) : null
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
    const failure = (await assertAllRun(processes, 'starting').catch(told => told)) ?? error
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
  for (const [phase, what] of phases) {
    if (!phase || phase.converged === sidecars) continue
    const { converged, missing } = phase
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
  const topology = topologyOf(arm, testbed.layout.topologies)
  const { application, sidecars } = listRolloutNames(topology, Number(arm.conditions.sidecars))
  const shared = describeSpecs({ testbed, arm, folder })
  return createRollout({
    ...shared,
    topology,
    places: await testbed.site.target.placesFor(start, [application, CONTROL, ...sidecars]),
    scriptFiles: readTextFiles(shared.folders.scripts),
    control: /** @type {Control} */ (testbed.programs.planes[arm.plane].control),
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
 * Reads the control plane once, at the edge of a phase.
 * @param {Target} target
 * @param {Handle[]} control
 */
async function readControl(target, control) {
  if (control.length === 0) return null
  const nowMs = Date.now()
  const window = { startMs: nowMs, endMs: nowMs }
  const { start } = await target.observe(control, { window, signal: new AbortController().signal })
  return start && describeReading(start.sample)
}

/** @param {Sample} sample of the control plane */
function describeReading({ epochMs, readings: [reading] }) {
  const numberOrNull = (/** @type {number | null | undefined} */ value) =>
    Number.isFinite(value) ? Number(value) : null
  return {
    epochMs,
    cpuSeconds: numberOrNull(reading.cpuSeconds),
    anonBytes: numberOrNull(reading.anonBytes),
    peakBytes: numberOrNull(reading.peakBytes),
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
  let isLate = false
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
          // Before the target removes them, which would answer for them.
          convergence.giveUp()
          isLate = true
          throw error
        }),
      onStart({ spec, startedMs = readNowMs() }) {
        const { members } = /** @type {Rollout['batches'][number]} */ (batches.find(batch => batch.spec === spec))
        for (const member of members) {
          const { host } = member.changeTo(0)
          asking.push(ask({ convergence, member, host, sinceMs: startedMs, isStarting: true }))
        }
      },
    },
  ).catch(error => {
    if (!isLate) throw error
  })
  return asking
}

/**
 * Gives every sidecar a change that was staged before.
 * @param {Given & { members: Member[], perform: Perform }} options
 */
async function changeAll({ members, perform, ...given }) {
  const changes = members.map(member => ({ member, ...member.changeTo(1) }))
  await inLanes({ items: changes, signal: given.signal }, ({ stage }, signal) => perform(stage, signal))
  return passPhase(given, () => commitChanges({ ...given, changes, perform }))
}

/**
 * @param {Given & { changes: ({ member: Member } & ReturnType<Member['changeTo']>)[], perform: Perform }} options
 * @returns {Promise<Promise<[string, Told]>[]>} of each sidecar
 */
async function commitChanges({ convergence, signal, changes, perform }) {
  /** @type {Promise<[string, Told]>[]} */
  const asking = []
  await inLanes({ items: changes, signal }, async ({ member, host, commit }, signal) => {
    asking.push(ask({ convergence, member, host, sinceMs: readNowMs(), isStarting: false }))
    await perform(commit, signal)
  })
  return asking
}

/**
 * @param {{ convergence: Convergence, member: Member, host: string, sinceMs: number, isStarting: boolean }} options
 * @returns {Promise<[string, Told]>}
 */
function ask({ convergence, member: { name, endpoint }, host, sinceMs, isStarting }) {
  const asked = convergence.expect({ name, endpoint, host, isStarting }).then(seen => {
    if (seen.yesMs !== null && seen.yesMs < sinceMs)
      throw new BenchError(`${name} had ${host} ${sinceMs - seen.yesMs} ms before it was to: a clock was set back`)
    return /** @type {[string, Told]} */ ([name, { sinceMs, ...seen }])
  })
  // Where the phase fails otherwise, nobody awaits it.
  asked.catch(() => {})
  return asked
}

/**
 * A phase until every sidecar has answered, or those that have not are given up at the deadline.
 * @param {Given} given
 * @param {() => Promise<Promise<[string, Told]>[]>} begin
 */
async function passPhase({ convergence, signal, readControl }, begin) {
  const controlStart = await readControl()
  const startMs = readNowMs()
  const start = readHostCpu()
  const ownBefore = process.cpuUsage()
  const asking = await begin()
  const deadlineSeconds = Math.max(0, deadlineSecondsOf(asking.length) - (readNowMs() - startMs) / 1000)
  const isDone = () => convergence.countWaiting() === 0
  await waitFor(isDone, { what: 'every sidecar to answer', deadlineSeconds, intervalMs: 10, signal }).catch(() =>
    signal.throwIfAborted(),
  )
  const endMs = readNowMs()
  const own = process.cpuUsage(ownBefore)
  const host = { start, end: readHostCpu() }
  convergence.giveUp()
  const control = { start: controlStart, end: await readControl() }
  const times = new Map(await Promise.all(asking))
  return { times, phase: { startMs, endMs, host, control, ownCpuSeconds: (own.user + own.system) / 1e6 } }
}

/** @param {number} sidecars */
function deadlineSecondsOf(sidecars) {
  return DEADLINE.seconds + DEADLINE.perSidecarSeconds * sidecars
}

/**
 * Does something with each item, a few at a time. The first failure ends the others, and nothing goes on after it returns.
 * @template T
 * @param {{ items: T[], signal: AbortSignal }} options
 * @param {(item: T, signal: AbortSignal) => Promise<void>} act
 */
async function inLanes({ items, signal }, act) {
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  const left = items[Symbol.iterator]()
  const lanes = Array.from({ length: LANES }, async () => {
    for (const item of left) {
      either.throwIfAborted()
      await act(item, either)
    }
  })
  await Promise.allSettled(lanes.map(lane => lane.catch(error => failing.abort(error))))
  either.throwIfAborted()
}

/**
 * @param {{ cpus: number, members: Member[], first: Awaited<ReturnType<typeof passPhase>>,
 *   change: Awaited<ReturnType<typeof passPhase>> | null, control: Observation | null }} seen
 * @returns {RolloutRecord}
 */
function describe({ cpus, members, first, change, control }) {
  return {
    schemaVersion: SCHEMA_VERSION,
    cpus,
    askedPerSecondMost: ASKED_PER_SECOND,
    members: members.map(({ name }) => ({
      name,
      ...(first.times.has(name) && { first: first.times.get(name) }),
      ...(change && { change: change.times.get(name) }),
    })),
    first: first.phase,
    ...(change && { change: change.phase }),
    control: control?.samples.map(describeReading) ?? null,
  }
}
