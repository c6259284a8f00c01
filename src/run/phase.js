import { finiteOrNull } from '../judge/record/compute-window.js'
import { isInTime } from '../lib/wait.js'

/**
 * Phases of a rollout or a growth, and the CPU and memory that they take; those of a control plane are the sum of its shards.
 * @import { Asking, Handle, Observation, RolloutRecord, Sample, Target, ConfigurationTimes } from '../model/types.ts'
 */

/**
 * @typedef {object} PhaseOptions
 * @property {Asking} asking
 * @property {AbortSignal} signal
 * @property {number} deadlineSeconds of the phase
 * @property {() => ReturnType<typeof readControl>} readControl
 */

/** Requests that the kit sends to a control plane at the same time. */
export const LANES = 4

/**
 * Begins to ask sidecars. Each promise resolves to a sidecar's name and its times, or null if its start was not seen.
 * @typedef {() => Promise<Promise<[string, ConfigurationTimes | null]>[]>} Begin
 */

/**
 * Runs a phase: waits until every sidecar has answered, and at the deadline gives up those that have not.
 * @param {PhaseOptions} options
 * @param {Begin} begin begins to ask the sidecars of the measured phase
 * @param {Begin} [beginOthers] for sidecars that are asked after the measured phase, with a deadline of their own
 * @returns {Promise<{ times: Map<string, ConfigurationTimes>, phase: RolloutRecord['first'] }>} times: by the sidecar's name,
 *   of those that were seen to start; its yesMs is null if no answer came in time
 * @throws the signal's reason when it aborts, or an error of `begin`
 */
export async function passPhase({ signal, deadlineSeconds, ...watched }, begin, beginOthers) {
  const { asking } = watched
  const pass = async (/** @type {Begin} */ begin) => {
    const beganAt = performance.now()
    const answers = await begin()
    const leftSeconds = Math.max(0, deadlineSeconds - (performance.now() - beganAt) / 1000)
    const isOver = () => asking.countWaiting() === 0
    const limit = { deadlineSeconds: leftSeconds, intervalMs: 10, signal }
    await isInTime(isOver, limit).catch(() => signal.throwIfAborted())
    return answers
  }
  const passOthers = beginOthers && (() => pass(beginOthers))
  const { value: answers, others, phase } = await observePhase(watched, () => pass(begin), passOthers)
  const results = await Promise.all([...answers, ...(others ?? [])])
  return {
    times: new Map(results.flatMap(([name, answer]) => (answer ? [/** @type {const} */ ([name, answer])] : []))),
    phase,
  }
}

/**
 * Reads the counters of machine, control plane and kit before and after `act`, and then stops asking sidecars.
 * @template T, U
 * @param {Pick<PhaseOptions, 'asking' | 'readControl'>} options
 * @param {() => Promise<T>} act the measured part
 * @param {() => Promise<U>} [actAfter] is not measured
 * @returns {Promise<{ value: T, others: U | null, phase: RolloutRecord['first'] }>} value: the result of `act`; others: that of
 *   `actAfter`, null without it
 */
export async function observePhase({ asking, readControl }, act, actAfter) {
  const start = await readControl()
  const before = await asking.readCosts()
  const value = await act()
  const after = await asking.readCosts()
  await asking.giveUp()
  const end = await readControl()
  const others = actAfter ? await actAfter() : null
  if (actAfter) await asking.giveUp()
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
 * Observes the shards of a control plane until `end` is called, for at most a day.
 * @param {Target} target
 * @param {Handle[]} shards []: none run
 * @returns {{ end: () => Promise<Observation | null> }}
 */
export function observeControl(target, shards) {
  const ending = new AbortController()
  const startMs = Date.now()
  const window = { startMs, endMs: startMs + 24 * 3600 * 1000 }
  const observing = shards.length > 0 ? target.observe(shards, { window, signal: ending.signal }) : null
  // `end` rejects with a failure; until then it would be an unhandled rejection.
  observing?.catch(() => {})
  return {
    /**
     * Ends the observation.
     * @returns {Promise<Observation | null>} null: there are no shards
     * @throws if the observation failed
     */
    async end() {
      ending.abort()
      return observing
    },
  }
}

/**
 * Reads the shards once, now.
 * @param {Target} target
 * @param {Handle[]} shards
 * @returns {Promise<Observation['start']>} null: they could not be read
 */
export async function lookAtControl(target, shards) {
  const nowMs = Date.now()
  const window = { startMs: nowMs, endMs: nowMs }
  return (await target.observe(shards, { window, signal: new AbortController().signal })).start
}

/**
 * Reads the shards once, at the edge of a phase.
 * @param {Target} target
 * @param {Handle[]} shards []: none run
 * @returns their sum, and each shard in `each`; null: there are none, or they could not be read; a number is null if it could
 *   not be read
 */
export async function readControl(target, shards) {
  if (shards.length === 0) return null
  const start = await lookAtControl(target, shards)
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
 * @returns {{ epochMs: number, cpuSeconds: number | null, anonBytes: number | null, peakBytes: number | null }} null: one shard
 *   has no number
 */
export function sumReadings({ epochMs, readings }) {
  const sum = (/** @type {'cpuSeconds' | 'anonBytes' | 'peakBytes'} */ name) => {
    const values = readings.flatMap(reading => finiteOrNull(reading[name]) ?? [])
    return values.length < readings.length ? null : values.reduce((total, value) => total + value, 0)
  }
  return { epochMs, cpuSeconds: sum('cpuSeconds'), anonBytes: sum('anonBytes'), peakBytes: sum('peakBytes') }
}
