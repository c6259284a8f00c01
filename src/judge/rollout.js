/**
 * The numbers of a rollout, from when each sidecar was answered. Pure: the run computes them from what it saw, `verify`
 * from what is on disk.
 * @import { RolloutRecord, Told, TrialRecord } from '../model/types.ts'
 */

const NAMED_MOST = 20
const POINTS_MOST = 100
const CENSORED_MOST = 0.1
const OWN_MOST = 0.1
const ASKED_MOST = 0.9

/** @typedef {NonNullable<TrialRecord['rollout']>} RolloutNumbers */

/**
 * @param {RolloutRecord} seen
 * @returns {RolloutNumbers}
 */
export function describeRollout(seen) {
  const { members, cpus, askedPerSecondMost, control } = seen
  const anon = (control ?? []).flatMap(({ anonBytes }) => anonBytes ?? [])
  return {
    sidecars: members.length,
    cpus,
    askedPerSecondMost,
    first: describePhase({ members, of: 'first', phase: seen.first }),
    ...(seen.change && { change: describePhase({ members, of: 'change', phase: seen.change }) }),
    controlAnonBytes: {
      empty: control?.[0]?.anonBytes ?? null,
      stable: seen.first.control.end?.anonBytes ?? null,
      peak: anon.length > 0 ? Math.max(...anon) : null,
    },
    controlPeakBytes: control?.at(-1)?.peakBytes ?? null,
  }
}

/** @typedef {{ name: string, seconds: number | null, unknownSeconds: number | null }} Time of a phase, and what is not known of it */

/**
 * The times of a phase that are censored: each by its own.
 * @param {RolloutNumbers['first']} phase
 * @returns {Time[]}
 */
export function timesOf({ seconds, each, censoredSeconds, lastCensoredSeconds }) {
  return [
    { name: 'all', seconds, unknownSeconds: lastCensoredSeconds },
    ...Object.entries(each).map(([name, own]) => ({ name, seconds: own, unknownSeconds: censoredSeconds })),
  ]
}

/** Whether too much of a time is not known. @param {Time} time */
export function isCoarse({ seconds, unknownSeconds }) {
  return seconds !== null && (unknownSeconds ?? 0) > CENSORED_MOST * seconds
}

/**
 * Whether the budget of requests may have been the limit of a phase.
 * @param {RolloutNumbers['first']} phase
 * @param {number} askedPerSecondMost
 */
export function isBudgetUsed({ askedPerSecond }, askedPerSecondMost) {
  return askedPerSecond > ASKED_MOST * askedPerSecondMost
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
 * Whether the kit did not make itself felt in a phase; false where there was none.
 * @param {RolloutNumbers} numbers
 * @param {'first' | 'change'} part
 */
export function isMeasured({ cpus, askedPerSecondMost, ...phases }, part) {
  const phase = phases[part]
  return phase !== undefined && !isCostly(phase, cpus) && !isBudgetUsed(phase, askedPerSecondMost)
}

/**
 * @param {{ members: RolloutRecord['members'], of: 'first' | 'change', phase: RolloutRecord['first'] }} seen
 * @returns {RolloutNumbers['first']}
 */
function describePhase({ members, of, phase: { startMs, endMs, host, control, ownCpuSeconds } }) {
  const missing = members.filter(member => typeof member[of]?.yesMs !== 'number')
  const told = members.flatMap(member => member[of] ?? [])
  const had = told.filter(isTold).sort((a, b) => a.yesMs - b.yesMs)
  const last = had.at(-1)
  const phaseSeconds = (endMs - startMs) / 1000
  const sinceMs = told.map(one => one.sinceMs)
  const seconds = sort(had.map(one => (one.yesMs - one.sinceMs) / 1000))
  const censored = sort(had.map(findCensored))
  const [before, after] = [control.start, control.end]
  return {
    converged: had.length,
    seconds: missing.length > 0 || !last ? null : (last.yesMs - Math.min(...sinceMs)) / 1000,
    toldSeconds: (Math.max(...sinceMs) - Math.min(...sinceMs)) / 1000,
    each: { p50: quantile(seconds, 0.5), p99: quantile(seconds, 0.99), max: seconds.at(-1) ?? null },
    censoredSeconds: quantile(censored, 0.5),
    lastCensoredSeconds: last ? findCensored(last) : null,
    askedPerSecond: told.reduce((sum, { asked }) => sum + asked, 0) / phaseSeconds,
    curve: drawCurve(told, members.length),
    controlCpuSeconds:
      typeof before?.cpuSeconds === 'number' && typeof after?.cpuSeconds === 'number'
        ? after.cpuSeconds - before.cpuSeconds
        : null,
    hostIdleFraction: (host.end.idle - host.start.idle) / Math.max(1, host.end.total - host.start.total),
    ownCores: ownCpuSeconds / phaseSeconds,
    missing: missing.slice(0, NAMED_MOST).map(({ name }) => name),
  }
}

/**
 * How many sidecars have it, over the time since the first was to have it.
 * @param {Told[]} told
 * @param {number} all
 * @returns {[number, number][]} seconds, share of all
 */
function drawCurve(told, all) {
  const startMs = Math.min(...told.map(({ sinceMs }) => sinceMs))
  const times = sort(told.filter(isTold).map(({ yesMs }) => (yesMs - startMs) / 1000))
  const every = Math.ceil(times.length / POINTS_MOST)
  return times.flatMap((seconds, i) =>
    (i + 1) % every === 0 || i === times.length - 1 ? [/** @type {[number, number]} */ ([seconds, (i + 1) / all])] : [],
  )
}

/**
 * @param {Told} told
 * @returns {told is Told & { yesMs: number }}
 */
function isTold(told) {
  return told.yesMs !== null
}

/** What is not known of the time of a sidecar. @param {Told & { yesMs: number }} told */
function findCensored({ sinceMs, lastNoMs, yesMs }) {
  return (yesMs - Math.max(lastNoMs ?? 0, sinceMs)) / 1000
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
