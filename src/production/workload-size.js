import { percent } from '../lib/units.js'
import { groupByWorkload } from './workloads.js'

/** Requests and limits of a workload's sidecars from what they used. Pure. */
/** @import { ContainerUse, Production, Requests, Resources } from './read-production.js' @import { Workload } from './workloads.js' */

/** Room above the 95th percentile of CPU; `size` keeps as much above the mean at a rate. */
const CPU_REQUEST_ROOM = 1.15
/** A burst within the minutes of one average is not seen. */
const CPU_LIMIT_ROOM = 1.5
/** As KRR has it: https://github.com/robusta-dev/krr/blob/main/robusta_krr/strategies/simple.py */
const MEMORY_ROOM = 1.15
const REQUEST_CORES_LEAST = 0.01
/** A burst of 10 ms in one period of 100 ms; averages of minutes do not show it. */
const LIMIT_CORES_LEAST = 0.1
const BYTES_LEAST = 2 ** 20
/** A sidecar that waits for CPU in one of 100 periods makes one of 100 requests wait. */
const THROTTLED_LEAST = 0.01
const NEAR_LIMIT = 0.9
const TOO_LARGE = 10
/** KRR's 100 points of 75 s are as long. */
const SECONDS_LEAST = 7200

/** How requests and limits are computed, in a sentence. @param {{ rateSeconds: number }} steps */
export function renderRule({ rateSeconds }) {
  const room = (/** @type {number} */ factor) => `+ ${percent(factor - 1)}`
  return `CPU request: p95 of the busiest pod's ${rateSeconds / 60} min averages ${room(CPU_REQUEST_ROOM)}; limit: its peak ${room(CPU_LIMIT_ROOM)}, at least ${1000 * LIMIT_CORES_LEAST}m; memory: highest ${room(MEMORY_ROOM)}.`
}

/** @typedef {'throttled' | 'near-memory-limit' | 'too-large' | 'few-data' | 'fits'} SizeState in this order */
/** @type {SizeState[]} */
const ORDER = ['throttled', 'near-memory-limit', 'too-large', 'few-data', 'fits']

/**
 * @typedef {object} WorkloadSize of one container of the pods of a workload
 * @property {Workload} workload
 * @property {string} container
 * @property {number} pods running now
 * @property {number} podsSeen in all of the time
 * @property {number} seconds of the pod that was seen longest
 * @property {number} meanCores of a pod
 * @property {number} p95Cores of the busiest pod that was seen for two hours, or of all where none was
 * @property {number} peakCores of the busiest pod
 * @property {number | null} throttledFraction of the pod that was throttled most, of those that run
 * @property {number | null} memoryBytes of the largest pod
 * @property {number | null} requestsPerSecond of a pod, on average while they were counted
 * @property {number | null} cpuPerRequestMicros
 * @property {{ request: Resources, limit: Resources }} set today
 * @property {{ requestCores: number, limitCores: number, bytes: number | null }} computed bytes: request and limit
 * @property {number | null} timesTooLarge the larger of both requests over the computed one
 * @property {SizeState} state
 * @property {string} why
 */

/** Computes requests and limits of each workload: those that need a change come first. @param {Production} production */
export function computeWorkloadSizes({ containers, findWorkload }) {
  const sizes = groupByWorkload(containers, findWorkload).map(computeWorkloadSize)
  const rank = (/** @type {WorkloadSize} */ { state }) => ORDER.indexOf(state)
  const weight = (/** @type {WorkloadSize} */ size) =>
    size.state === 'throttled' ? Number(size.throttledFraction) : (size.timesTooLarge ?? 0)
  return sizes.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      weight(b) - weight(a) ||
      b.pods * b.computed.requestCores - a.pods * a.computed.requestCores ||
      (a.workload.name < b.workload.name ? -1 : 1),
  )
}

/** @param {{ workload: Workload, containers: ContainerUse[] }} group @returns {WorkloadSize} */
function computeWorkloadSize({ workload, containers }) {
  const most = (/** @type {(use: ContainerUse) => number | null} */ of, pods = containers) => {
    const values = pods.map(of).filter(value => value !== null)
    return values.length === 0 ? null : Math.max(...values)
  }
  // Pods of older revisions count for use only: the limit that throttled them may be another than today's.
  const running = containers.filter(({ isRunning }) => isRunning)
  const current = running.length > 0 ? running : containers
  // A pod of two minutes has no percentile: its start is all that it did.
  const lasting = containers.filter(({ seconds }) => seconds >= SECONDS_LEAST)
  const set = { request: mostResources(current, 'requests'), limit: mostResources(current, 'limits') }
  const requests = containers.map(({ counted }) => counted).filter(counted => counted !== null)
  const use = {
    seconds: Number(most(({ seconds }) => seconds)),
    meanCores: meanOverTime(containers, ({ meanCores }) => meanCores) ?? 0,
    p95Cores: Number(most(({ p95Cores }) => p95Cores, lasting.length > 0 ? lasting : containers)),
    peakCores: Number(most(({ peakCores }) => peakCores)),
    throttledFraction: most(({ throttledFraction }) => throttledFraction, current),
    memoryBytes: most(({ memoryBytes }) => memoryBytes),
    requestsPerSecond: meanOverTime(requests, ({ perSecond }) => perSecond),
  }
  const computed = computeLimits(use, set.limit)
  const timesTooLarge = computeTimes(set.request, computed)
  return {
    workload,
    container: containers[0].container,
    pods: running.length,
    podsSeen: containers.length,
    ...use,
    cpuPerRequestMicros: computePerRequest(requests),
    set,
    computed,
    timesTooLarge,
    ...judge({ ...use, set, timesTooLarge }),
  }
}

/** @param {Pick<WorkloadSize, 'p95Cores' | 'peakCores' | 'throttledFraction' | 'memoryBytes'>} use @param {Resources} limit of today */
function computeLimits({ p95Cores, peakCores, throttledFraction, memoryBytes }, limit) {
  const requestCores = Math.max(REQUEST_CORES_LEAST, CPU_REQUEST_ROOM * p95Cores)
  // The peak of a throttled sidecar is its limit; its need is higher, and unknown.
  const floor = isThrottled(throttledFraction) ? (limit.cores ?? 0) : 0
  return {
    requestCores,
    limitCores: Math.max(requestCores, LIMIT_CORES_LEAST, CPU_LIMIT_ROOM * Math.max(peakCores, floor)),
    bytes: memoryBytes === null ? null : Math.max(BYTES_LEAST, MEMORY_ROOM * memoryBytes),
  }
}

/** @param {number | null} fraction */
const isThrottled = fraction => fraction !== null && fraction >= THROTTLED_LEAST

/** Computes how many times too large requests are. @param {Resources} request @param {WorkloadSize['computed']} computed */
function computeTimes(request, { requestCores, bytes }) {
  const times = [
    ...(request.cores === null ? [] : [request.cores / requestCores]),
    ...(request.bytes === null || bytes === null ? [] : [request.bytes / bytes]),
  ]
  return times.length === 0 ? null : Math.max(...times)
}

/**
 * @param {Pick<WorkloadSize, 'seconds' | 'throttledFraction' | 'memoryBytes' | 'set' | 'timesTooLarge'>} size
 * @returns {{ state: SizeState, why: string }}
 */
function judge({ seconds, throttledFraction, memoryBytes, set: { limit }, timesTooLarge }) {
  if (throttledFraction !== null && isThrottled(throttledFraction))
    return { state: 'throttled', why: `throttled in ${percent(throttledFraction)} of its periods` }
  if (memoryBytes !== null && limit.bytes !== null && memoryBytes >= NEAR_LIMIT * limit.bytes)
    return { state: 'near-memory-limit', why: `memory at ${percent(memoryBytes / limit.bytes)} of its limit` }
  if (timesTooLarge !== null && timesTooLarge >= TOO_LARGE)
    return { state: 'too-large', why: `${timesTooLarge.toFixed(0)} times too large` }
  if (seconds < SECONDS_LEAST) return { state: 'few-data', why: `only ${Math.round(seconds / 60)} min of data` }
  return { state: 'fits', why: '' }
}

/** The larger of what pods have. @param {ContainerUse[]} containers @param {'requests' | 'limits'} name @returns {Resources} */
function mostResources(containers, name) {
  const most = (/** @type {keyof Resources} */ unit) => {
    const values = containers.map(use => use[name][unit]).filter(value => value !== null)
    return values.length === 0 ? null : Math.max(...values)
  }
  return { cores: most('cores'), bytes: most('bytes') }
}

/**
 * The mean of pods, each weighted by its seconds; null: there are none.
 * @template {{ seconds: number }} Use @param {Use[]} uses @param {(use: Use) => number} of
 */
function meanOverTime(uses, of) {
  const seconds = uses.reduce((sum, use) => sum + use.seconds, 0)
  return seconds === 0 ? null : uses.reduce((sum, use) => sum + use.seconds * of(use), 0) / seconds
}

/** CPU time over requests, of the time in which requests were counted. @param {Requests[]} requests */
function computePerRequest(requests) {
  const rate = meanOverTime(requests, ({ perSecond }) => perSecond)
  const cores = meanOverTime(requests, use => use.cores)
  return rate === null || cores === null || rate === 0 ? null : (1e6 * cores) / rate
}
