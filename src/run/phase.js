import { finiteOrNull } from '../judge/record/describe-window.js'
import { isInTime } from '../lib/wait.js'

/**
 * Phases of a rollout or a growth, and what they take: of the control plane the sum of its shards.
 * @import { Asking, Handle, Observation, RolloutRecord, Sample, Target, ConfigurationTimes } from '../model/types.ts'
 * @typedef {{ asking: Asking, signal: AbortSignal, deadlineSeconds: number, readControl: () => ReturnType<typeof readControl> }} PhaseOptions
 */

/** Requests to a control plane at a time. */
export const LANES = 4

/** Begins to ask sidecars. @typedef {() => Promise<Promise<[string, ConfigurationTimes | null]>[]>} Begin */

/**
 * Passes a phase: waits until every sidecar has answered, and gives up the others at the deadline.
 * @param {PhaseOptions} options @param {Begin} begin @param {Begin} [beginOthers] of sidecars that are asked when the phase is over
 */
export async function passPhase({ signal, deadlineSeconds, ...watched }, begin, beginOthers) {
  const { asking } = watched
  const pass = async (/** @type {Begin} */ begin) => {
    const begun = performance.now()
    const answers = await begin()
    const leftSeconds = Math.max(0, deadlineSeconds - (performance.now() - begun) / 1000)
    const isOver = () => asking.countWaiting() === 0
    const limit = { deadlineSeconds: leftSeconds, intervalMs: 10, signal }
    await isInTime(isOver, limit).catch(() => signal.throwIfAborted())
    return answers
  }
  const after = beginOthers && (() => pass(beginOthers))
  const { value: answers, others, phase } = await observePhase(watched, () => pass(begin), after)
  const answered = await Promise.all([...answers, ...(others ?? [])])
  return {
    times: new Map(answered.flatMap(([name, answer]) => (answer ? [/** @type {const} */ ([name, answer])] : []))),
    phase,
  }
}

/**
 * Measures what machine, control plane and kit took while something went on; then nobody is asked any more. actAfter: is not
 * measured.
 * @template T, U @param {Pick<PhaseOptions, 'asking' | 'readControl'>} options @param {() => Promise<T>} act
 * @param {() => Promise<U>} [actAfter] @returns {Promise<{ value: T, others: U | null, phase: RolloutRecord['first'] }>}
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

/** Reads the shards until the reading is ended. @param {Target} target @param {Handle[]} shards none where nothing has to run */
export function observeControl(target, shards) {
  const ending = new AbortController()
  const startMs = Date.now()
  const window = { startMs, endMs: startMs + 24 * 3600 * 1000 }
  const observing = shards.length > 0 ? target.observe(shards, { window, signal: ending.signal }) : null
  // A failure of the reading is told at the end.
  observing?.catch(() => {})
  return {
    /** @returns {Promise<Observation | null>} */
    async end() {
      ending.abort()
      return observing
    },
  }
}

/** Reads the counters of the shards and their limits as of now. @param {Target} target @param {Handle[]} shards */
export async function lookAtControl(target, shards) {
  const nowMs = Date.now()
  const window = { startMs: nowMs, endMs: nowMs }
  return (await target.observe(shards, { window, signal: new AbortController().signal })).start
}

/** Reads the shards once, at the edge of a phase. @param {Target} target @param {Handle[]} shards */
export async function readControl(target, shards) {
  if (shards.length === 0) return null
  const start = await lookAtControl(target, shards)
  if (!start) return null
  const each = start.sample.readings.map(({ cpuSeconds, throttledPeriods, throttledSeconds }, i) => ({
    cpuSeconds: finiteOrNull(cpuSeconds),
    throttledPeriods: finiteOrNull(throttledPeriods),
    throttledSeconds: finiteOrNull(throttledSeconds),
    workers: shards[i].spec.workers,
  }))
  return { ...describeReading(start.sample), each }
}

/** @param {Sample} sample of the shards */
export function describeReading({ epochMs, readings }) {
  const sum = (/** @type {'cpuSeconds' | 'anonBytes' | 'peakBytes'} */ name) => {
    const values = readings.flatMap(reading => finiteOrNull(reading[name]) ?? [])
    return values.length < readings.length ? null : values.reduce((total, value) => total + value, 0)
  }
  return { epochMs, cpuSeconds: sum('cpuSeconds'), anonBytes: sum('anonBytes'), peakBytes: sum('peakBytes') }
}
