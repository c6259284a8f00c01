import { BenchError } from '../../lib/errors.js'
import { createRandom, shuffleItems } from '../../lib/random.js'
import { SCHEMA_VERSION } from '../../model/versions.js'
import { askInTurns } from '../../node/ask-in-turns.js'
import { ASKED_PER_SECOND, readNowMs } from '../../node/convergence.js'
import { runInLanes } from '../../run/lanes.js'
import { LANES, passPhase, sumReadings } from '../../run/phase.js'
import { startSidecars, withName } from '../../run/start-sidecars.js'

/** The phases of a rollout (the first configuration, a change, its withdrawal, the removal of a shard), and their record. */
/** @import { Conditions, Observation, ProcessSpec, RolloutRecord, ConfigurationTimes } from '../../model/types.ts' */
/**
 * @import { Batch, RolloutMember } from '../../services/control.js'
 * @import { Rollout } from './services.js'
 */
/**
 * @import { PhaseOptions } from '../../run/phase.js'
 * @import { Deploy, PodTimes } from '../../run/start-sidecars.js'
 */
/**
 * @typedef {Awaited<ReturnType<typeof changeAllSidecars>>} Phase
 * @typedef {Awaited<ReturnType<typeof removeShard>>} Removal
 */
/** @typedef {Awaited<ReturnType<typeof withdrawServices>>} Withdrawal */
/**
 * Anonymous memory of all sidecars and of the control plane.
 * @typedef {Record<'sidecars' | 'control', number | null>} Memory
 */

/**
 * The number of sidecars that are timed in a change, besides the first and the last: probes of more would load two CPUs as much as
 * the change itself, or come too seldom.
 */
const SAMPLE = 30

/**
 * Starts the sidecars, and waits until each has its first configuration or the deadline passes. If all have it, and they are
 * pods, it also waits until all pods are ready.
 * @param {PhaseOptions & { batches: Rollout['batches'], deploy: Deploy, arePods: boolean, fail: (error: Error) =>
 *   void }} all fail: aborts the rollout with an error
 * @returns {Promise<{ first: Phase, pods: Map<string, PodTimes> }>} pods: empty on one machine
 * @throws {BenchError} if no sidecar started in time; the signal's reason when it aborts
 */
export async function startAllSidecars({ batches, deploy, arePods, fail, ...options }) {
  /** @type {Awaited<ReturnType<typeof startSidecars>> | undefined} */
  let started
  const first = await passPhase(options, async () => {
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
 */
export async function changeAllSidecars({ members, conditions, seed, version = 1, ...options }) {
  const sample = drawSample(members, seed)
  const changes = members.map(member => ({
    member,
    ...(version % 2 === 0 && member.goBack ? member.goBack(version) : member.changeTo(version)),
  }))
  await runInLanes({ items: changes, lanes: LANES, signal: options.signal }, ({ stage }, signal) =>
    options.asking.perform(stage, signal),
  )
  const others = changes.filter(({ member: { name } }) => !sample.has(name))
  const askOthers = async () =>
    others.map(({ member: { name }, endpoint, host }) =>
      withName(name, options.asking.expect({ name, endpoint, host })),
    )
  const begin = () => commitChanges({ ...options, changes, conditions, sample })
  const { times, phase } = await passPhase(options, begin, others.length > 0 ? askOthers : undefined)
  return { times, phase: others.length > 0 ? { ...phase, sample: [...sample] } : phase }
}

/**
 * Says whether each sidecar answered by the configuration of a phase.
 * @param {RolloutMember[]} members
 * @param {Pick<Phase, 'times'>} phase
 * @returns {boolean}
 */
export function isConverged(members, { times }) {
  return members.every(({ name }) => typeof times.get(name)?.yesMs === 'number')
}

/**
 * Removes the services of the change, adds them again, and removes them again. The second time shows whether memory
 * that was not released is reused.
 * @param {Omit<Parameters<typeof changeAllSidecars>[0], 'version'> & { before: Memory, readMemory: () =>
 *   Promise<Memory> }} options before: the memory before the change
 * @returns times, phase: of the first change that not every sidecar has, else of the last; the phase includes the
 *   memory
 */
export async function withdrawServices({ before, readMemory, ...all }) {
  const bytesConfigured = await readMemory()
  const gone = await changeAllSidecars({ ...all, version: 2 })
  const again = await changeAllSidecars({ ...all, version: 3 })
  const toldAgain = await readMemory()
  const last = await changeAllSidecars({ ...all, version: 4 })
  // Record the first change that not every sidecar has, else the last one.
  const { times, phase } = [gone, again].find(change => !isConverged(all.members, change)) ?? last
  const pickBytes = (/** @type {keyof Memory} */ whose) => {
    return { before: before[whose], told: bytesConfigured[whose], toldAgain: toldAgain[whose] }
  }
  return { times, phase: { ...phase, sidecarBytes: pickBytes('sidecars'), controlBytes: pickBytes('control') } }
}

/**
 * Draws the names of the timed sidecars: the first, the last, a random sample of SAMPLE, and the member that stands
 * for all simulated ones.
 * @param {RolloutMember[]} members simulated ones last
 * @param {number} seed
 * @returns {Set<string>}
 */
export function drawSample(members, seed) {
  const pickName = (/** @type {RolloutMember} */ { name }) => name
  const real = members.filter(({ standsFor }) => standsFor === undefined)
  const drawn = shuffleItems(real, createRandom(seed)).slice(0, SAMPLE)
  return new Set([...real.slice(0, 1), ...drawn, ...real.slice(-1), ...members.slice(real.length)].map(pickName))
}

/**
 * Commits changes, and starts to probe each sidecar of the sample just before its commit.
 * @param {PhaseOptions & { changes: ({ member: RolloutMember } & ReturnType<RolloutMember['changeTo']>)[],
 *   conditions: Conditions, sample: Set<string> }} options
 * @returns {Promise<Promise<[string, ConfigurationTimes]>[]>} the times of the sample, by name
 */
async function commitChanges({ asking, signal, changes, conditions, sample }) {
  const { commitsAtOnce: lanes = LANES, commitsPerSecond: perSecond } = conditions
  /** @type {Promise<[string, ConfigurationTimes]>[]} */
  const waits = []
  // Each simulated sidecar has a commit of its own, so that lanes and pace are those of real ones.
  const items = changes.flatMap(({ member: { name, standsFor }, endpoint, host, commit }) =>
    (standsFor === undefined ? [commit] : commit.map(action => [action])).map((actions, i) => ({
      actions,
      // A member that stands for many sidecars has a commit for each, and the first is timed.
      expected: i === 0 && sample.has(name) ? { name, endpoint, host } : null,
    })),
  )
  await runInLanes({ items, lanes, perSecond, signal }, async ({ actions, expected }, signal) => {
    if (expected) waits.push(withName(expected.name, asking.expect(expected)))
    await asking.perform(actions, signal)
  })
  return waits
}

/**
 * @typedef {object} RemovalOptions
 * @property {ProcessSpec} shard to end
 * @property {Rollout['batches']} batches all
 * @property {Batch[]} moves batches of the new starts
 * @property {Deploy} deploy
 * @property {(specs: ProcessSpec[]) => Promise<void>} end ends processes of the deployment
 */

/**
 * Ends a shard and moves its sidecars. They learn their control plane only at their start, so each is ended and
 * started again. Meanwhile the others are probed, whether they still answer.
 * @param {PhaseOptions & RemovalOptions} options readControl: of the shards that stay
 * @returns times: of the moved sidecars, by name; turns: of the others; phase: with `endedMs`, the epoch ms of the
 *   shard's end
 */
export async function removeShard({ shard, batches, moves, deploy, end, ...options }) {
  const { asking, signal } = options
  const leaving = batches.filter(({ members }) => members.some(({ moved }) => moved))
  const staying = batches.filter(batch => !leaving.includes(batch)).flatMap(({ members }) => members)
  const failing = new AbortController()
  const turns = askInTurns(
    staying.map(({ name, changeTo }) => ({ ...changeTo(1), name })),
    { signal: AbortSignal.any([signal, failing.signal]) },
  )
  let endedMs = Number.NaN
  const passing = passPhase(options, async () => {
    await end([shard])
    endedMs = readNowMs()
    const members = moves.flatMap(batch => batch.members)
    await runInLanes({ items: members, lanes: LANES, signal }, ({ enrolment }, signal) =>
      asking.perform(enrolment, signal),
    )
    await end(leaving.map(({ spec }) => spec))
    return (await startSidecars({ ...options, batches: moves, deploy, arePods: false, fail: () => {} })).answering
  })
  passing.catch(error => failing.abort(error))
  const { times, phase } = await passing
  return { times, turns: await turns.end(), phase: { ...phase, endedMs } }
}

/**
 * A rollout that ended. A phase is null if it was not begun.
 * @typedef {object} Ended
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
 * @param {Ended} options
 * @returns {RolloutRecord}
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
    askedPerSecondMost: ASKED_PER_SECOND,
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
