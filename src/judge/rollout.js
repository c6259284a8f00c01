/**
 * The numbers of a rollout, from when each sidecar was answered. Pure: the run computes them from what it saw, `verify`
 * from what is on disk.
 * @import { RolloutRecord, Told, TrialRecord } from '../model/types.ts'
 */

const NAMED_MOST = 20
const POINTS_MOST = 100
const CENSORED_MOST = 0.1
const OWN_MOST = 0.1

/** @typedef {NonNullable<TrialRecord['rollout']>} RolloutNumbers */

/**
 * @param {RolloutRecord} seen
 * @returns {RolloutNumbers}
 */
export function describeRollout(seen) {
  const { members, cpus, control } = seen
  const anon = (control ?? []).flatMap(({ anonBytes }) => anonBytes ?? [])
  return {
    sidecars: members.length,
    cpus,
    first: describePhase(seen, 'first'),
    change: describePhase(seen, 'change'),
    controlAnonBytes: {
      empty: control?.[0]?.anonBytes ?? null,
      stable: readingAt(seen, seen.first.endMs)?.anonBytes ?? null,
      peak: anon.length > 0 ? Math.max(...anon) : null,
    },
    controlPeakBytes: control?.at(-1)?.peakBytes ?? null,
  }
}

/**
 * Whether too much of the time of a phase is not known.
 * @param {RolloutNumbers['first']} phase
 */
export function isCoarse({ censoredSeconds, seconds }) {
  return (censoredSeconds ?? 0) > CENSORED_MOST * (seconds ?? 0)
}

/**
 * Whether the kit itself took so much of the machine that it stretched the times of a phase.
 * @param {RolloutNumbers['first']} phase
 * @param {number} cpus
 */
export function isCostly({ ownCores }, cpus) {
  return ownCores > OWN_MOST * cpus
}

/**
 * @param {RolloutRecord} seen
 * @param {'first' | 'change'} of
 * @returns {RolloutNumbers['first']}
 */
function describePhase(seen, of) {
  const { startMs, endMs, host, ownCpuSeconds } = seen[of]
  const missing = seen.members.filter(member => member[of].yesMs === null)
  const told = seen.members.map(member => member[of])
  const had = told.filter(isTold)
  const sinceMs = told.map(one => one.sinceMs)
  const seconds = sort(had.map(one => (one.yesMs - one.sinceMs) / 1000))
  const censored = sort(had.map(one => (one.yesMs - Math.max(one.lastNoMs ?? 0, one.sinceMs)) / 1000))
  const [before, after] = [readingAt(seen, startMs), readingAt(seen, endMs)]
  return {
    converged: had.length,
    seconds: missing.length > 0 ? null : (Math.max(...had.map(one => one.yesMs)) - Math.min(...sinceMs)) / 1000,
    toldSeconds: (Math.max(...sinceMs) - Math.min(...sinceMs)) / 1000,
    each: { p50: quantile(seconds, 0.5), p99: quantile(seconds, 0.99), max: seconds.at(-1) ?? null },
    censoredSeconds: quantile(censored, 0.5),
    curve: drawCurve(told),
    controlCpuSeconds:
      typeof before?.cpuSeconds === 'number' && typeof after?.cpuSeconds === 'number'
        ? after.cpuSeconds - before.cpuSeconds
        : null,
    hostIdleFraction: (host.end.idle - host.start.idle) / Math.max(1, host.end.total - host.start.total),
    ownCores: ownCpuSeconds / ((endMs - startMs) / 1000),
    missing: missing.slice(0, NAMED_MOST).map(({ name }) => name),
  }
}

/**
 * How many sidecars have it, over the time since the first was to have it.
 * @param {Told[]} told
 * @returns {[number, number][]} seconds, share of all
 */
function drawCurve(told) {
  const startMs = Math.min(...told.map(({ sinceMs }) => sinceMs))
  const times = sort(told.filter(isTold).map(({ yesMs }) => (yesMs - startMs) / 1000))
  const every = Math.ceil(times.length / POINTS_MOST)
  return times.flatMap((seconds, i) =>
    (i + 1) % every === 0 || i === times.length - 1
      ? [/** @type {[number, number]} */ ([seconds, (i + 1) / told.length])]
      : [],
  )
}

/**
 * @param {Told} told
 * @returns {told is Told & { yesMs: number }}
 */
function isTold(told) {
  return told.yesMs !== null
}

/**
 * The last reading of the control plane up to a moment.
 * @param {RolloutRecord} seen
 * @param {number} epochMs
 */
function readingAt({ control }, epochMs) {
  return control?.findLast(reading => reading.epochMs <= epochMs) ?? control?.[0] ?? null
}

/** @param {number[]} values */
function sort(values) {
  return values.sort((a, b) => a - b)
}

/**
 * The value that so many of them do not exceed.
 * @param {number[]} sorted
 * @param {number} q
 */
function quantile(sorted, q) {
  return sorted[Math.ceil(q * sorted.length) - 1] ?? null
}
