import { KINDS } from '../kinds/registry.js'
import { hashText } from '../lib/hash.js'
import { computeSlowSeconds, computeUsersLeast, createRequestKind, REQUEST_AXES } from '../model/requests.js'
import { listRequestKinds } from '../model/traffic.js'
import { readValues } from '../request/part-request.js'

/** The load of an arm: users, rate, and how long it is warmed up and measured. Pure. */
/**
 * @import { Arm, Conditions } from '../model/types.ts'
 * @import { Question } from '../request/question.js'
 */

const SMALL_LIMIT_CORES = 0.25
// The start of a turn costs each plane another amount. Versions of one script pay alike for it, and so have short turns if they are
// placed apart from the generator: their ratio then moves by a third as much from repeat to repeat (docs/evidence/accuracy.md).
const SLICE_MS = { steady: 500, scriptsApart: 20 }
const USERS = { interleaved: 32, default: 200, atSmallLimits: 50, openLoop: 64 }
/** The requests that each user has to make in a warm-up, at least. */
export const WARM_AFTER_REQUESTS = 3
const WARMUP_CORE_SECONDS_PER_USER = 0.005
// Seconds before a burst, which show answers without one, and after it: at least so many, or so many times its length.
const BURST = { beginsSeconds: 2, afterLeastSeconds: 8, afterTimes: 2 }

/**
 * An arm before it has a load.
 * @typedef {object} ArmDraft
 * @property {boolean} hasSidecars
 * @property {number | null} cpuLimit in cores; null: none
 * @property {Conditions} conditions
 * @property {Record<string, any>} cell the arm's value on each axis but the CPU limit
 * @property {(number | null)[]} cpuLimits those of all arms
 * @property {string | null} [variant]
 */

/**
 * Chooses the load of an arm: idle, open loop (with a rate), interleaved or closed loop. A rate per service is multiplied by the
 * number of services.
 * @param {Question} question
 * @param {ArmDraft} draft
 * @returns {Arm['load']} burst: null: there is none; optional members are absent if they do not apply
 */
export function chooseLoad(question, draft) {
  const { experiment, overrides, profile } = question
  const { hasSidecars, conditions, cell, variant } = draft
  const { connections, burstSeconds, loudPerSecond, idleConnections, placement } = cell
  const isPerService = experiment.load.ratePer === 'service'
  const rate = cell.ratePerSecond && cell.ratePerSecond * (isPerService ? cell.services : 1)
  const requests = chooseRequests(question, cell)
  const users = chooseUsers(question, draft, { requests, rate })
  const ownRequest = overrides.pipelineRequests?.[variant ?? '']?.(cell.payloadBytes)
  const hasCertificate = overrides.hasCertificate || experiment.load.hasCertificate
  const shortestWarmupSeconds = computeShortestWarmup({ ...requests, users, rate }, draft)
  return {
    ...chooseLoop(question, { cell, rate, users }),
    ...(question.kind === 'cost' && { isInterleaved: /** @type {const} */ (true) }),
    ...requests,
    ...(ownRequest && { ownRequest }),
    connections,
    ...(loudPerSecond > 0 && { loudPerSecond }),
    ...(idleConnections > 0 && { idleConnections }),
    ...(placement === 'apart' && { placement }),
    hasCertificate: hasCertificate && hasSidecars && conditions.tls !== 'plaintext',
    burst: burstSeconds
      ? {
          factor: overrides.burstFactor ?? experiment.load.burstFactor,
          beginsSeconds: BURST.beginsSeconds,
          seconds: burstSeconds,
        }
      : null,
    warmupSeconds: Math.max(profile.warmupSeconds, overrides.warmupLeastSeconds ?? 0, shortestWarmupSeconds),
    windowSeconds: computeWindowSeconds(question, { burstSeconds, rate }),
  }
}

/**
 * Chooses the kind of a load, with its users, and its rate or slices.
 * @param {Question} question
 * @param {{ cell: Record<string, any>, rate: number | null, users: number }} options cell: the arm's value on each axis; rate:
 *   requests per second; null: there is none
 * @returns {Pick<Arm['load'], 'kind' | 'users' | 'ratePerSecond' | 'sliceMs'>} only the members that apply
 */
function chooseLoop(question, { cell, rate, users }) {
  const { experiment, overrides, kind } = question
  if (experiment.load.kind === 'idle') return { kind: 'idle', users }
  if (rate !== null) return { kind: 'open', users, ratePerSecond: rate }
  if (kind !== 'cost') return { kind: 'closed', users }
  // Turns are shorter only if the plan chose this placement, for arms that differ in their scripts alone.
  const isPlacedByPlan = cell.placement === 'apart' && readValues(question, 'placement') === undefined
  const usualMs = isPlacedByPlan ? SLICE_MS.scriptsApart : SLICE_MS.steady
  return { kind: 'interleaved', users, sliceMs: overrides.sliceMs ?? usualMs }
}

/**
 * Computes the window: at a rate, that of the kind, if it chooses windows; else, with a burst, the time before, in and after it;
 * else that of the profile. It is never shorter than `windowLeastSeconds` of the options.
 * @param {Question} question
 * @param {{ burstSeconds: number | null, rate: number | null }} options burstSeconds, rate: null: there is none
 * @returns {number} seconds
 */
function computeWindowSeconds({ kind, profile, overrides }, { burstSeconds, rate }) {
  const usualSeconds = Math.max(profile.windowSeconds, overrides.windowLeastSeconds ?? 0)
  const { chooseWindowSeconds } = KINDS[kind]
  if (rate && chooseWindowSeconds) return chooseWindowSeconds(usualSeconds, rate)
  if (!burstSeconds) return usualSeconds
  const { beginsSeconds, afterLeastSeconds, afterTimes } = BURST
  const burstWindowSeconds = beginsSeconds + burstSeconds + Math.max(afterLeastSeconds, afterTimes * burstSeconds)
  return Math.max(burstWindowSeconds, overrides.windowLeastSeconds ?? 0)
}

/**
 * Chooses the requests: a traffic mix; else, if the options or the experiment set an axis of requests, one kind of request by these
 * axes; else a POST that is echoed.
 * @param {Question} question
 * @param {Record<string, any>} cell the arm's value on each axis
 * @returns {Pick<Arm['load'], 'requests' | 'traffic' | 'payloadBytes'>} only the members that apply; traffic: the name of the mix with
 *   the start of its hash; payloadBytes alone: the POST is echoed
 */
function chooseRequests(question, cell) {
  if (cell.traffic) {
    const requests = listRequestKinds(cell.traffic, cell.payloadBytes)
    return { requests, traffic: `${cell.traffic.name}-${hashText(JSON.stringify(requests)).slice(0, 8)}` }
  }
  const isEchoed = REQUEST_AXES.every(name => readValues(question, name) === undefined)
  if (isEchoed) return { payloadBytes: cell.payloadBytes }
  return { requests: [createRequestKind(cell, cell.payloadBytes)] }
}

/**
 * Chooses the number of users: that of the axis, else by the rate or the kind of load. In a closed loop an arm without sidecars has
 * the most that any arm with sidecars has by default.
 * @param {Question} question
 * @param {ArmDraft} draft
 * @param {{ requests: Pick<Arm['load'], 'requests'>, rate: number | null }} options
 * @returns {number} 0: there is no load
 */
function chooseUsers({ experiment, kind }, { hasSidecars, cpuLimit, cpuLimits, cell }, { requests, rate }) {
  if (experiment.load.kind === 'idle') return 0
  if ((cell.users ?? null) !== null) return cell.users
  if (rate !== null) return Math.max(USERS.openLoop, computeUsersLeast(requests, rate))
  if (kind === 'cost') return USERS.interleaved
  const chooseDefaultUsers = (/** @type {number | null} */ limitCores) =>
    limitCores !== null && limitCores <= SMALL_LIMIT_CORES ? USERS.atSmallLimits : USERS.default
  return hasSidecars ? chooseDefaultUsers(cpuLimit) : Math.max(...cpuLimits.map(chooseDefaultUsers))
}

/**
 * Computes the shortest warm-up. It is long enough for the handshakes of all users at the CPU limit (beside a
 * neighbour, at the CPU request if that is less), and for WARM_AFTER_REQUESTS of each user at the rate, with half as much again. The
 * time of as many slow answers of the application is added.
 * @param {Pick<Arm['load'], 'users' | 'requests'> & { rate: number | null }} load rate: requests per second; null: there is none
 * @param {Pick<ArmDraft, 'cpuLimit' | 'conditions'>} draft without a limit and such a request, the handshakes take no time
 * @returns {number} seconds
 */
function computeShortestWarmup({ users, requests, rate }, { cpuLimit, conditions }) {
  const { neighbourCores, cpuRequestCores } = conditions
  const cores = Math.min(cpuLimit ?? Infinity, (neighbourCores && cpuRequestCores) ?? Infinity)
  const handshakeSeconds = (users * WARMUP_CORE_SECONDS_PER_USER) / cores
  const requestSeconds = rate === null ? 0 : (WARM_AFTER_REQUESTS * 1.5 * users) / rate
  return Math.max(handshakeSeconds, requestSeconds) + WARM_AFTER_REQUESTS * computeSlowSeconds({ requests })
}

/**
 * Extends the warm-up of an arm that a search tries to what its CPU limit and rate need.
 * @param {Arm} arm
 * @returns {Arm} a new arm; its warm-up is never shorter than before
 */
export function extendSearchWarmup(arm) {
  const { load, conditions, cpuLimitCores: cpuLimit } = arm
  const { ratePerSecond: rate = null } = load
  const shortestSeconds = computeShortestWarmup({ ...load, rate }, { cpuLimit, conditions })
  return { ...arm, load: { ...load, warmupSeconds: Math.max(load.warmupSeconds, shortestSeconds) } }
}

/**
 * Says whether requests start at a rate (an open loop).
 * @param {Question} question
 * @returns {boolean} false: users send requests in closed loops, or there is no load
 */
export function isOpenLoop(question) {
  return (readValues(question, 'ratePerSecond') ?? null) !== null
}
