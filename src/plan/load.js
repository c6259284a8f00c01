import { KINDS } from '../kinds/registry.js'
import { hashText } from '../lib/hash.js'
import { computeSlowSeconds, computeUsersLeast, createRequestKind, REQUEST_AXES } from '../model/requests.js'
import { listRequestKinds } from '../model/traffic.js'

/** The load of an arm: users, rate, and how long it is warmed up and measured. Pure. */
/**
 * @import { Arm, Conditions } from '../model/types.ts'
 * @import { Question } from '../request/question.js'
 */

const SMALL_CAP = 0.25
// The start of a turn costs each plane another amount. Versions of one script pay alike for it: apart from the generator they
// have short turns, whose ratio moves by a third as much from repeat to repeat (docs/evidence/accuracy.md).
const SLICE_MS = { steady: 500, scriptsApart: 20 }
const USERS = { interleaved: 32, default: 200, atSmallCaps: 50, openLoop: 64 }
const WARM_AFTER_REQUESTS = 3
const WARMUP_SECONDS_PER_USER_AND_CORE = 0.005
// Seconds before a burst, which show answers without one; and after it, as a multiple of its length.
const BURST = { beginsSeconds: 2, afterLeastSeconds: 8, afterTimes: 2 }

/**
 * An arm at its place on the axes.
 * @typedef {object} Placed
 * @property {boolean} hasSidecars
 * @property {number | null} cpuLimit in cores; null: none
 * @property {Conditions} conditions
 * @property {Record<string, any>} cell its value on each axis
 * @property {(number | null)[]} cpuLimits those of all arms
 * @property {string | null} [variant]
 */

/**
 * Chooses the load of an arm: idle, open loop (with a rate), interleaved or closed loop.
 * @param {Question} question
 * @param {Placed} placed
 * @returns {Arm['load']}
 */
export function chooseLoad(question, placed) {
  const { experiment, overrides, axes, profile } = question
  const { load } = experiment
  const { hasSidecars, cpuLimit, conditions, cell, variant } = placed
  const { burstSeconds } = cell
  const { beginsSeconds, afterLeastSeconds, afterTimes } = BURST
  const rate = cell.ratePerSecond && cell.ratePerSecond * (load.ratePer === 'service' ? cell.services : 1)
  const isIdle = load.kind === 'idle'
  const isInterleaved = question.kind === 'cost'
  // Turns are shorter only if the plan chose this placement, for arms that differ in their scripts alone.
  const standsApart = cell.placement === 'apart' && (overrides.axes.placement ?? axes.placement) === undefined
  const requests = chooseRequests(question, cell)
  const ownRequest = overrides.pipelineRequests?.[variant ?? '']?.(cell.payloadBytes)
  const slowSeconds = computeSlowSeconds(requests)
  const users = isIdle
    ? 0
    : (cell.users ??
      (rate !== null
        ? Math.max(USERS.openLoop, computeUsersLeast(requests, rate))
        : isInterleaved
          ? USERS.interleaved
          : chooseUsers(placed)))
  const windowSeconds = burstSeconds
    ? beginsSeconds + burstSeconds + Math.max(afterLeastSeconds, afterTimes * burstSeconds)
    : Math.max(profile.windowSeconds, overrides.windowLeastSeconds ?? 0)
  const { chooseWindowSeconds } = KINDS[question.kind]
  return {
    ...(isIdle
      ? { kind: 'idle', users }
      : rate !== null
        ? { kind: 'open', users, ratePerSecond: rate }
        : isInterleaved
          ? {
              kind: 'interleaved',
              users,
              sliceMs: overrides.sliceMs ?? SLICE_MS[standsApart ? 'scriptsApart' : 'steady'],
            }
          : { kind: 'closed', users }),
    ...(isInterleaved && { isInterleaved }),
    ...requests,
    ...(ownRequest && { ownRequest }),
    connections: cell.connections,
    ...(cell.loudPerSecond > 0 && { loudPerSecond: cell.loudPerSecond }),
    ...(cell.idleConnections > 0 && { idleConnections: cell.idleConnections }),
    ...(cell.placement === 'apart' && { placement: cell.placement }),
    hasCertificate: (overrides.hasCertificate || load.hasCertificate) && hasSidecars && conditions.tls !== 'plaintext',
    burst: burstSeconds
      ? { factor: overrides.burstFactor ?? load.burstFactor, beginsSeconds, seconds: burstSeconds }
      : null,
    warmupSeconds: Math.max(
      profile.warmupSeconds,
      overrides.warmupLeastSeconds ?? 0,
      computeShortestWarmup({ users, cpuLimit, rate, conditions }) + WARM_AFTER_REQUESTS * slowSeconds,
    ),
    windowSeconds: rate && chooseWindowSeconds ? chooseWindowSeconds(profile.windowSeconds, rate) : windowSeconds,
  }
}

/**
 * Chooses the requests: a traffic mix; a POST that is echoed; or, if an axis of requests is set, one kind of request
 * by these axes.
 * @param {Question} question
 * @param {Record<string, any>} cell the arm's value on each axis
 * @returns {Pick<Arm['load'], 'requests' | 'traffic' | 'payloadBytes'>} only the members that apply; payloadBytes
 *   alone: the POST is echoed
 */
function chooseRequests({ overrides, axes }, cell) {
  if (cell.traffic) {
    const requests = listRequestKinds(cell.traffic, cell.payloadBytes)
    return { requests, traffic: `${cell.traffic.name}-${hashText(JSON.stringify(requests)).slice(0, 8)}` }
  }
  const isEchoed = REQUEST_AXES.every(name => (overrides.axes[name] ?? axes[name]) === undefined)
  if (isEchoed) return { payloadBytes: cell.payloadBytes }
  return { requests: [createRequestKind(cell, cell.payloadBytes)] }
}

/**
 * Chooses the number of users of a closed loop. An arm without sidecars has the most that any arm with sidecars has.
 * @param {Pick<Placed, 'hasSidecars' | 'cpuLimit' | 'cpuLimits'>} placed
 * @returns {number}
 */
function chooseUsers({ hasSidecars, cpuLimit, cpuLimits }) {
  const chooseDefaultUsers = (/** @type {number | null} */ limitCores) =>
    limitCores !== null && limitCores <= SMALL_CAP ? USERS.atSmallCaps : USERS.default
  return hasSidecars ? chooseDefaultUsers(cpuLimit) : Math.max(...cpuLimits.map(chooseDefaultUsers))
}

/**
 * Computes the shortest warm-up. It is long enough for the handshakes of all users at the CPU limit (beside a
 * neighbour, at the CPU request), and for three requests of each user at the rate, with half as much again.
 * @param {{ users: number, cpuLimit: number | null, rate: number | null, conditions: Conditions }} options cpuLimit: cores; null:
 *   none, and the handshakes take no time; rate: requests per second; null: there is none
 * @returns {number} seconds
 */
function computeShortestWarmup({ users, cpuLimit, rate, conditions: { neighbourCores, cpuRequestCores } }) {
  const cores = Math.min(cpuLimit ?? Infinity, (neighbourCores && cpuRequestCores) ?? Infinity)
  const handshakeSeconds = (users * WARMUP_SECONDS_PER_USER_AND_CORE) / cores
  return Math.max(handshakeSeconds, rate === null ? 0 : (WARM_AFTER_REQUESTS * 1.5 * users) / rate)
}

/**
 * Extends the warm-up of a search's arm to what its CPU limit and rate need.
 * @param {Arm} arm
 * @returns {Arm} a new arm; its warm-up is never shorter than before
 */
export function extendSearchWarmup(arm) {
  const { users, ratePerSecond = null } = arm.load
  const { cpuLimitCores: cpuLimit, conditions } = arm
  const leastSeconds = computeShortestWarmup({ users, cpuLimit, rate: ratePerSecond, conditions })
  const warmupSeconds = Math.max(
    arm.load.warmupSeconds,
    leastSeconds + WARM_AFTER_REQUESTS * computeSlowSeconds(arm.load),
  )
  return { ...arm, load: { ...arm.load, warmupSeconds } }
}
