import { readNowMs } from '../../lib/clock.js'
import { BenchError } from '../../lib/errors.js'
import { createRandom, shuffleItems } from '../../lib/random.js'
import { sleep } from '../../lib/wait.js'
import { SCHEMA_VERSION } from '../../model/versions.js'
import { POLLS_PER_SECOND } from '../../node/convergence.js'
import { pollInTurns } from '../../node/poll-in-turns.js'
import { runForEach } from '../../run/concurrency.js'
import { CALLS_AT_ONCE, labelAnswer, readControlUsage, runPhase, sumReadings } from '../../run/phase.js'
import { startSidecars } from '../../run/start-sidecars.js'

/** The phases of a rollout (the first configuration, a change, its withdrawal, the removal of a shard), and their record. */
/** @import { Conditions, ConfigurationTimes, Handle, Observation, ProcessSpec, RolloutRecord, Target } from '../../model/types.ts' */
/**
 * @import { Batch, RolloutMember } from '../../services/control.js'
 * @import { RolloutSpecs } from './services.js'
 */
/**
 * @import { StepContext } from '../../run/control-plane.js'
 * @import { PhaseOptions } from '../../run/phase.js'
 * @import { PodTimes } from '../../run/start-sidecars.js'
 * @import { Deploy } from '../../run/deployer.js'
 */
/**
 * @typedef {Awaited<ReturnType<typeof changeAllSidecars>>} Phase
 * @typedef {Awaited<ReturnType<typeof removeShard>>} Removal
 */
/** @typedef {Awaited<ReturnType<typeof withdrawServicesTwice>>} Withdrawal */
/**
 * Anonymous memory in bytes of all sidecars and of the control plane; null: not read.
 * @typedef {Record<'sidecars' | 'control', number | null>} Memory
 */

/**
 * The number of sidecars that are timed in a change, besides the first and the last: probes of more would load two CPUs as much as
 * the change itself, or come too seldom.
 */
const SAMPLE = 30
// The wait before memory is read: by then, a process has released what it needed only to apply a change.
const SETTLE_MS = 2000

/**
 * Sets up the control planes, enrols the sidecars, and runs the phases of a rollout. A phase starts only if each sidecar has the
 * configuration of the one before.
 * @param {StepContext} context
 * @param {{ target: Target, specs: RolloutSpecs, shards: Handle[], conditions: Conditions, seed: number, deadlineSeconds: number }}
 *   options shards: the control planes; seed: of the sample that a change times; deadlineSeconds: of each phase
 * @returns {Promise<Omit<RolloutPhases, 'cpus'>>} null: the phase was not begun; control: observed until a removal begins
 * @throws an error of a phase or of the observation; the signal's reason when it aborts
 */
export async function runPhases(context, { target, specs, shards, conditions, seed, deadlineSeconds }) {
  const { poller, deploy, end, failing, signal } = context
  const { batches, controls, moves } = specs
  const members = batches.flatMap(batch => batch.members)
  const observing = context.observe(shards)
  /** @type {PhaseOptions} */
  const phaseOptions = { poller, signal, deadlineSeconds, readControlUsage: observing.read }
  await runForEach({ items: specs.setUps, concurrency: CALLS_AT_ONCE, signal }, poller.perform)
  await runForEach({ items: members, concurrency: CALLS_AT_ONCE, signal }, ({ enrolment }, signal) =>
    poller.perform(enrolment, signal),
  )
  const fail = (/** @type {Error} */ error) => failing.abort(error)
  const arePods = target.pods !== undefined
  const { first, pods } = await startAllSidecars({ ...phaseOptions, batches, deploy, arePods, fail })
  const changeOptions = { ...phaseOptions, members, conditions, seed }
  const readMemory = () => readSettledMemory(context, { target, shards })
  const before = conditions.areServicesRemoved ? await readMemory() : null
  const change = isConverged(members, first) ? await changeAllSidecars(changeOptions) : null
  const isChanged = change !== null && isConverged(members, change)
  const withdrawal = isChanged && before ? await withdrawServicesTwice({ ...changeOptions, before, readMemory }) : null
  const control = await observing.end()
  const shardOptions = { batches, deploy, end, shard: controls[controls.length - 1] }
  const readKeptControl = () => readControlUsage(target, shards.slice(0, -1))
  const removal =
    isChanged && moves
      ? await removeShard({ ...phaseOptions, ...shardOptions, moves, readControlUsage: readKeptControl })
      : null
  return { members, first, pods, change, withdrawal, removal, control }
}

/**
 * Reads the memory of all sidecars and of the control planes after SETTLE_MS, when processes have released what a change needed.
 * @param {StepContext} context
 * @param {{ target: Target, shards: Handle[] }} options
 * @returns {Promise<Memory>}
 * @throws the signal's reason when it aborts; an error of the target
 */
async function readSettledMemory({ deployment, signal }, { target, shards }) {
  await sleep(SETTLE_MS, signal)
  const readAnonBytes = async (/** @type {Handle[]} */ processes) =>
    (await readControlUsage(target, processes))?.anonBytes ?? null
  const sidecars = deployment.processes.filter(({ spec }) => spec.role === 'sidecar')
  return { sidecars: await readAnonBytes(sidecars), control: await readAnonBytes(shards) }
}

/**
 * Starts the sidecars, and waits until each has its first configuration or the deadline passes. If all have it, and they are
 * pods, it also waits until all pods are ready.
 * @param {PhaseOptions & { batches: RolloutSpecs['batches'], deploy: Deploy, arePods: boolean, fail: (error: Error) =>
 *   void }} options fail: aborts the rollout with an error
 * @returns {Promise<{ first: Phase, pods: Map<string, PodTimes> }>} pods: empty on one machine
 * @throws {BenchError} if no sidecar started in time; an error of `deploy`; the signal's reason when it aborts
 */
async function startAllSidecars({ batches, deploy, arePods, fail, ...options }) {
  /** @type {Awaited<ReturnType<typeof startSidecars>> | undefined} */
  let started
  const first = await runPhase(options, async () => {
    started = await startSidecars({ ...options, batches, deploy, arePods, fail })
    return started.answering
  })
  const { pods, allReady } = /** @type {NonNullable<typeof started>} */ (started)
  if (first.times.size === 0)
    throw new BenchError(`no sidecar was seen to start within ${options.deadlineSeconds} s, though its pod was made`)
  const areAllConfigured = [...first.times.values()].filter(({ yesMs }) => yesMs !== null).length === pods.size
  if (areAllConfigured) await allReady
  options.signal.throwIfAborted()
  return { first, pods }
}

/**
 * Stages a change of all sidecars, and commits it. An even version removes the added services from each member that
 * has `goBack`. During the change it probes a sample, drawn by the seed; once all of the sample have the change, it
 * probes the other sidecars.
 * @param {PhaseOptions & { members: RolloutMember[], conditions: Conditions, seed: number, version?: number }}
 *   options version: of the configuration, 1 by default
 * @returns times: of each sidecar, by name; phase: with `sample`, if not all sidecars were timed
 * @throws the first error of an action; the signal's reason when it aborts
 */
async function changeAllSidecars({ members, conditions, seed, version = 1, ...options }) {
  const sample = drawSample(members, seed)
  const changes = members.map(member => ({
    member,
    ...(version % 2 === 0 && member.goBack ? member.goBack(version) : member.changeTo(version)),
  }))
  await runForEach({ items: changes, concurrency: CALLS_AT_ONCE, signal: options.signal }, ({ stage }, signal) =>
    options.poller.perform(stage, signal),
  )
  const others = changes.filter(({ member: { name } }) => !sample.has(name))
  const askOthers = async () =>
    others.map(({ member: { name }, endpoint, host }) =>
      labelAnswer(name, options.poller.expect({ name, endpoint, host })),
    )
  const begin = () => commitChanges({ ...options, changes, conditions, sample })
  const { times, phase } = await runPhase(options, begin, others.length > 0 ? askOthers : undefined)
  return { times, phase: others.length > 0 ? { ...phase, sample: [...sample] } : phase }
}

/**
 * Says whether each sidecar answered by the configuration of a phase.
 * @param {RolloutMember[]} members
 * @param {Pick<Phase, 'times'>} phase
 * @returns {boolean}
 */
function isConverged(members, { times }) {
  return members.every(({ name }) => typeof times.get(name)?.yesMs === 'number')
}

/**
 * Removes the services of the change, adds them again, and removes them again. The second time shows whether memory
 * that was not released is reused.
 * @param {Omit<Parameters<typeof changeAllSidecars>[0], 'version'> & { before: Memory, readMemory: () =>
 *   Promise<Memory> }} options before: the memory before the change
 * @returns times, phase: of the first of the three changes that not every sidecar has, else of the last; the phase includes the
 *   memory
 * @throws as `changeAllSidecars`, or an error of `readMemory`
 */
async function withdrawServicesTwice({ before, readMemory, ...options }) {
  const bytesWith = await readMemory()
  const removal = await changeAllSidecars({ ...options, version: 2 })
  const addition = await changeAllSidecars({ ...options, version: 3 })
  const bytesWithAgain = await readMemory()
  const secondRemoval = await changeAllSidecars({ ...options, version: 4 })
  const { times, phase } = [removal, addition].find(change => !isConverged(options.members, change)) ?? secondRemoval
  const pickBytes = (/** @type {keyof Memory} */ holder) => {
    return { before: before[holder], told: bytesWith[holder], toldAgain: bytesWithAgain[holder] }
  }
  return { times, phase: { ...phase, sidecarBytes: pickBytes('sidecars'), controlBytes: pickBytes('control') } }
}

/**
 * Draws the sidecars that are timed: the first, the last, a random sample of SAMPLE, and the member that stands for all
 * simulated ones.
 * @param {RolloutMember[]} members simulated ones last
 * @param {number} seed
 * @returns {Set<string>} their names
 */
export function drawSample(members, seed) {
  const pickName = (/** @type {RolloutMember} */ { name }) => name
  const real = members.filter(({ standsFor }) => standsFor === undefined)
  const drawn = shuffleItems(real, createRandom(seed)).slice(0, SAMPLE)
  return new Set([...real.slice(0, 1), ...drawn, ...real.slice(-1), ...members.slice(real.length)].map(pickName))
}

/**
 * Commits changes, as many at once and a second as the conditions say, and starts to probe each sidecar of the sample just before its
 * commit.
 * @param {PhaseOptions & { changes: ({ member: RolloutMember } & ReturnType<RolloutMember['changeTo']>)[],
 *   conditions: Conditions, sample: Set<string> }} options
 * @returns {Promise<Promise<[string, ConfigurationTimes]>[]>} the times of the sample, by name
 * @throws the first error of a commit; the signal's reason when it aborts
 */
async function commitChanges({ poller, signal, changes, conditions, sample }) {
  const { commitsAtOnce: concurrency = CALLS_AT_ONCE, commitsPerSecond: perSecond } = conditions
  /** @type {Promise<[string, ConfigurationTimes]>[]} */
  const waits = []
  const items = changes.flatMap(({ member: { name, standsFor }, endpoint, host, commit }) => {
    // Each simulated sidecar has a commit of its own, so that concurrency and pace are those of real ones. The first is timed.
    const commits = standsFor === undefined ? [commit] : commit.map(action => [action])
    const timed = sample.has(name) ? { name, endpoint, host } : null
    return commits.map((actions, i) => ({ actions, expected: i === 0 ? timed : null }))
  })
  await runForEach({ items, concurrency, perSecond, signal }, async ({ actions, expected }, signal) => {
    if (expected) waits.push(labelAnswer(expected.name, poller.expect(expected)))
    await poller.perform(actions, signal)
  })
  return waits
}

/**
 * @typedef {object} RemovalOptions
 * @property {ProcessSpec} shard to end
 * @property {RolloutSpecs['batches']} batches all
 * @property {Batch[]} moves batches of the new starts
 * @property {Deploy} deploy
 * @property {(specs: ProcessSpec[]) => Promise<void>} end ends processes of the deployment
 */

/**
 * Ends a shard and moves its sidecars. They learn their control plane only at their start, so each is ended and
 * started again. Meanwhile the others are probed, to see whether they still answer.
 * @param {PhaseOptions & RemovalOptions} options readControlUsage: of the shards that stay
 * @returns times: of the moved sidecars, by name; turns: requests and answers of the others, by name; phase: with `endedMs`, the
 *   epoch ms of the shard's end
 * @throws an error of `end`, of `deploy` or of an action; the signal's reason when it aborts
 */
async function removeShard({ shard, batches, moves, deploy, end, ...options }) {
  const { poller, signal } = options
  const leaving = batches.filter(({ members }) => members.some(({ moved }) => moved))
  const staying = batches.filter(batch => !leaving.includes(batch)).flatMap(({ members }) => members)
  const failing = new AbortController()
  const turns = pollInTurns(
    staying.map(({ name, changeTo }) => ({ ...changeTo(1), name })),
    { signal: AbortSignal.any([signal, failing.signal]) },
  )
  let endedMs = Number.NaN
  const running = runPhase(options, async () => {
    await end([shard])
    endedMs = readNowMs()
    const members = moves.flatMap(batch => batch.members)
    await runForEach({ items: members, concurrency: CALLS_AT_ONCE, signal }, ({ enrolment }, signal) =>
      poller.perform(enrolment, signal),
    )
    await end(leaving.map(({ spec }) => spec))
    return (await startSidecars({ ...options, batches: moves, deploy, arePods: false, fail: () => {} })).answering
  })
  running.catch(error => failing.abort(error))
  const { times, phase } = await running
  return { times, turns: await turns.end(), phase: { ...phase, endedMs } }
}

/**
 * The phases of a rollout; null: the phase was not begun.
 * @typedef {object} RolloutPhases
 * @property {number} cpus of the machine
 * @property {RolloutMember[]} members
 * @property {Map<string, PodTimes>} pods by name; empty on one machine
 * @property {Observation | null} control null: no control plane was observed
 * @property {Phase} first
 * @property {Phase | null} change
 * @property {Withdrawal | null} withdrawal
 * @property {Removal | null} removal
 */

/**
 * Creates the record of a rollout.
 * @param {RolloutPhases} phases
 * @returns {RolloutRecord} without the phases that were not begun; control: null: none was observed
 */
export function createRolloutRecord({ cpus, members, first, pods, change, withdrawal, removal, control }) {
  const createMemberTimes = (/** @type {Pick<RolloutMember, 'name'>} */ { name }) => ({
    ...(pods.has(name) && { pod: pods.get(name) }),
    ...(first.times.has(name) && { first: first.times.get(name) }),
    ...(change && { change: change.times.get(name) }),
    ...(withdrawal && { withdrawn: withdrawal.times.get(name) }),
  })
  const simulated = members.find(({ standsFor }) => standsFor !== undefined)
  return {
    schemaVersion: SCHEMA_VERSION,
    cpus,
    askedPerSecondMost: POLLS_PER_SECOND,
    members: members
      .filter(member => member !== simulated)
      .map(({ name, shard, moved }) => ({
        name,
        shard,
        ...createMemberTimes({ name }),
        ...(removal &&
          (moved ? { movedTo: moved.shard, moved: removal.times.get(name) } : { stayed: removal.turns.get(name) })),
      })),
    ...(simulated?.standsFor && { simulated: { count: simulated.standsFor, ...createMemberTimes(simulated) } }),
    first: first.phase,
    ...(change && { change: change.phase }),
    ...(withdrawal && { withdrawal: withdrawal.phase }),
    ...(removal && { removal: removal.phase }),
    control: control?.samples.map(sumReadings) ?? null,
  }
}
