import { finiteOrNull } from '../lib/counters.js'
import { pollInTime } from '../lib/wait.js'

/**
 * Phases of a rollout or a growth, and the CPU and memory that they take; those of a control plane are the sum of its shards.
 * @import { ConfigurationTimes, Handle, Observation, RolloutPoller, RolloutRecord, Sample, Target } from '../model/types.ts'
 */

/**
 * @typedef {object} PhaseOptions
 * @property {RolloutPoller} poller
 * @property {AbortSignal} signal
 * @property {number} deadlineSeconds of the phase
 * @property {() => ReturnType<typeof readControlUsage>} readControlUsage
 */

/** Requests that the kit sends to a control plane at the same time. */
export const CALLS_AT_ONCE = 4

/**
 * Begins to poll sidecars. Each promise resolves to a sidecar's name and its times, or null if its start was not seen.
 * @typedef {() => Promise<Promise<[string, ConfigurationTimes | null]>[]>} Begin
 */

/**
 * Runs a phase and measures what it costs: begins to poll, waits until every sidecar has answered, and at the deadline gives up those
 * that have not.
 * @param {PhaseOptions} options
 * @param {Begin} begin begins to poll the sidecars of the measured phase
 * @param {Begin} [beginOthers] for sidecars that are polled after the measured phase, with a deadline of their own
 * @returns {Promise<{ times: Map<string, ConfigurationTimes>, phase: RolloutRecord['first'] }>} times: by the sidecar's name,
 *   of those that were seen to start; its yesMs is null if no answer came in time; phase: times
 *   and counters before and after
 * @throws the signal's reason when it aborts; an error of `begin`, `beginOthers`, a sidecar's poll or a reading
 */
export async function runPhase({ signal, deadlineSeconds, ...watched }, begin, beginOthers) {
  const awaitAnswers = async (/** @type {Begin} */ beginPolling) => {
    const beganAt = performance.now()
    const answers = await beginPolling()
    const leftSeconds = Math.max(0, deadlineSeconds - (performance.now() - beganAt) / 1000)
    const haveAllAnswered = () => watched.poller.countWaiting() === 0
    const limit = { deadlineSeconds: leftSeconds, intervalMs: 10, signal }
    await pollInTime(haveAllAnswered, limit).catch(() => signal.throwIfAborted())
    return answers
  }
  const awaitOthers = beginOthers && (() => awaitAnswers(beginOthers))
  const { value: answers, others, phase } = await measurePhase(watched, () => awaitAnswers(begin), awaitOthers)
  /** @type {Map<string, ConfigurationTimes>} */
  const times = new Map()
  for (const [name, answer] of await Promise.all([...answers, ...(others ?? [])])) if (answer) times.set(name, answer)
  return { times, phase }
}

/**
 * Reads the counters of machine, control plane and kit before and after `act`, and then gives up the sidecars that still wait.
 * @template T, U
 * @param {Pick<PhaseOptions, 'poller' | 'readControlUsage'>} options
 * @param {() => Promise<T>} act the measured part
 * @param {() => Promise<U>} [actAfter] is not measured
 * @returns {Promise<{ value: T, others: U | null, phase: RolloutRecord['first'] }>} value: the result of `act`; others: that of
 *   `actAfter`, null without it
 * @throws an error of `act`, `actAfter` or a reading
 */
export async function measurePhase({ poller, readControlUsage }, act, actAfter) {
  const start = await readControlUsage()
  const before = await poller.readCosts()
  const value = await act()
  const after = await poller.readCosts()
  await poller.giveUp()
  const end = await readControlUsage()
  const others = actAfter ? await actAfter() : null
  if (actAfter) await poller.giveUp()
  const phase = {
    startMs: before.nowMs,
    endMs: after.nowMs,
    control: { start, end },
    host: { start: before.host, end: after.host },
    ownCpuSeconds: after.ownCpuSeconds - before.ownCpuSeconds,
  }
  return { value, others, phase }
}

/**
 * Adds the name of a sidecar to its answer.
 * @template {ConfigurationTimes | null} T
 * @param {string} name of the sidecar
 * @param {Promise<T>} answer
 * @returns {Promise<[string, T]>} rejects as `answer` does; it may be left unawaited
 */
export function labelAnswer(name, answer) {
  const labelled = answer.then(value => /** @type {[string, T]} */ ([name, value]))
  // If the phase fails otherwise, this promise is never awaited: an unhandled rejection would end the kit.
  labelled.catch(() => {})
  return labelled
}

/**
 * Observes the shards of a control plane until `end` is called, for at most a day.
 * @param {Target} target
 * @param {Handle[]} shards []: none run, and nothing is observed
 * @returns {{ end: () => Promise<Observation | null> }} end: resolves to null if there are no shards, and rejects if the observation
 *   failed
 */
export function observeControlPlane(target, shards) {
  const ending = new AbortController()
  const startMs = Date.now()
  const window = { startMs, endMs: startMs + 24 * 3600 * 1000 }
  /** @type {Promise<Observation | null>} */
  const observing =
    shards.length > 0 ? target.observe(shards, { window, signal: ending.signal }) : Promise.resolve(null)
  // `end` rejects with a failure; until then it would be an unhandled rejection.
  observing.catch(() => {})
  return {
    end() {
      ending.abort()
      return observing
    },
  }
}

/**
 * Observes the shards at this moment only.
 * @param {Target} target
 * @param {Handle[]} shards
 * @returns {Promise<Observation['start']>} null: they could not be read
 * @throws an error of the target
 */
export async function observeControlNow(target, shards) {
  const nowMs = Date.now()
  const window = { startMs: nowMs, endMs: nowMs }
  return (await target.observe(shards, { window, signal: new AbortController().signal })).start
}

/**
 * Reads the CPU time and memory of the shards at this moment.
 * @param {Target} target
 * @param {Handle[]} shards []: none run
 * @returns their sum, and each shard in `each`; null: there are none, or they could not be read. A single number is null if it
 *   could not be read
 * @throws an error of the target
 */
export async function readControlUsage(target, shards) {
  if (shards.length === 0) return null
  const start = await observeControlNow(target, shards)
  if (!start) return null
  const each = start.sample.readings.map(({ cpuSeconds, throttledPeriods, throttledSeconds }, i) => ({
    cpuSeconds: finiteOrNull(cpuSeconds),
    throttledPeriods: finiteOrNull(throttledPeriods),
    throttledSeconds: finiteOrNull(throttledSeconds),
    workers: shards[i].spec.workers ?? 1,
  }))
  return { ...sumReadings(start.sample), each }
}

/**
 * Sums a sample over the shards.
 * @param {Sample} sample of the shards
 * @returns {{ epochMs: number, cpuSeconds: number | null, anonBytes: number | null, peakBytes: number | null }} null: the number of
 *   a shard is missing, or not finite
 */
export function sumReadings({ epochMs, readings }) {
  const sum = (/** @type {'cpuSeconds' | 'anonBytes' | 'peakBytes'} */ name) => {
    const values = readings.flatMap(reading => finiteOrNull(reading[name]) ?? [])
    return values.length < readings.length ? null : values.reduce((total, value) => total + value, 0)
  }
  return { epochMs, cpuSeconds: sum('cpuSeconds'), anonBytes: sum('anonBytes'), peakBytes: sum('peakBytes') }
}
