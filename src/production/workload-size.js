import { renderPercent } from '../lib/units.js'
import { groupByWorkload } from './workloads.js'

/** Computes requests and limits of a workload's sidecars from the CPU and memory that they used. Pure. */
/**
 * @import { ContainerUse, Production, Requests, Resources } from './read-production.js'
 * @import { Workload } from './workloads.js'
 */

/** Factor over the 95th percentile of CPU; `size` takes the same over the mean at a rate. */
const CPU_REQUEST_ROOM = 1.15
/** Factor over the peak of CPU, which is one of averages over minutes: a burst within them is higher. */
const CPU_LIMIT_ROOM = 1.5
/** Factor over the highest memory, as in KRR: https://github.com/robusta-dev/krr/blob/main/robusta_krr/strategies/simple.py */
const MEMORY_ROOM = 1.15
const REQUEST_CORES_LEAST = 0.01
/** A burst of 10 ms in one period of 100 ms; averages of minutes do not show it. */
const LIMIT_CORES_LEAST = 0.1
const BYTES_LEAST = 2 ** 20
/** Share of throttled periods from which a workload needs a change: one of 100 periods makes about one of 100 requests wait, the p99. */
const THROTTLED_LEAST = 0.01
const NEAR_LIMIT = 0.9
const TOO_LARGE = 10
/**
 * Seconds of samples below which the answer says that they are few, and a container has no part in percentiles: KRR's 100 points of
 * 75 s are about as long.
 */
const SECONDS_LEAST = 7200

/**
 * Renders how requests and limits are computed, as one line.
 * @param {{ rateSeconds: number }} steps
 * @returns {string}
 */
export function renderRule({ rateSeconds }) {
  const renderRoom = (/** @type {number} */ factor) => `+ ${renderPercent(factor - 1)}`
  return `CPU request: p95 of the busiest pod's ${rateSeconds / 60} min averages ${renderRoom(CPU_REQUEST_ROOM)}; limit: its peak ${renderRoom(CPU_LIMIT_ROOM)}, at least ${1000 * LIMIT_CORES_LEAST}m; memory: highest ${renderRoom(MEMORY_ROOM)}.`
}

/** @typedef {'throttled' | 'near-memory-limit' | 'too-large' | 'few-data' | 'fits'} SizeState the first that holds, in this order */
/** @type {SizeState[]} */
const ORDER = ['throttled', 'near-memory-limit', 'too-large', 'few-data', 'fits']

/**
 * @typedef {object} ComputedSize what each pod needs
 * @property {number} requestCores
 * @property {number} limitCores
 * @property {number | null} bytes of memory, as the request and the limit; null: the memory that it used is not known
 */

/**
 * @typedef {object} WorkloadSize of one container of the pods of a workload; null: not known
 * @property {Workload} workload
 * @property {string} container
 * @property {number} pods running now
 * @property {number} podsSeen in all of the range, with those that run
 * @property {number} seconds with samples of the pod that has most
 * @property {number} meanCores of a pod
 * @property {number} p95Cores of the busiest pod among those seen for two hours, or among all if none was
 * @property {number} peakCores of the busiest pod
 * @property {number | null} throttledFraction of the pod that was throttled most, among those that run, or all if none does
 * @property {number | null} memoryBytes of the largest pod
 * @property {number | null} requestsPerSecond of a pod, on average while they were counted
 * @property {number | null} cpuPerRequestMicros
 * @property {{ request: Resources, limit: Resources }} set in Kubernetes today: the largest of the pods
 * @property {ComputedSize} computed
 * @property {number | null} timesTooLarge the larger of the ratios of today's CPU and memory request to the computed one
 * @property {SizeState} state
 * @property {string} why it has this state; empty: it fits
 */

/**
 * Computes requests and limits of each workload, and sorts by the need of a change, the most urgent first.
 * @param {Production} production
 * @returns {WorkloadSize[]} one for each container of a workload
 */
export function computeWorkloadSizes({ containers, findWorkload }) {
  const sizes = groupByWorkload(containers, findWorkload).map(computeWorkloadSize)
  const rank = (/** @type {WorkloadSize} */ { state }) => ORDER.indexOf(state)
  const computeWeight = (/** @type {WorkloadSize} */ size) =>
    size.state === 'throttled' ? Number(size.throttledFraction) : (size.timesTooLarge ?? 0)
  return sizes.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      computeWeight(b) - computeWeight(a) ||
      b.pods * b.computed.requestCores - a.pods * a.computed.requestCores ||
      (a.workload.name < b.workload.name ? -1 : 1),
  )
}

/**
 * Computes the size of a workload from all its pods. Pods that no longer run count for use, but neither for the resources that are
 * set nor for throttling, unless none runs.
 * @param {{ workload: Workload, containers: ContainerUse[] }} group
 * @returns {WorkloadSize}
 */
function computeWorkloadSize({ workload, containers }) {
  const findMost = (/** @type {(use: ContainerUse) => number | null} */ measure, pods = containers) => {
    const values = pods.map(measure).filter(value => value !== null)
    return values.length === 0 ? null : Math.max(...values)
  }
  // Pods of older revisions count for use only: the limit that throttled them may be another than today's.
  const running = containers.filter(({ isRunning }) => isRunning)
  const current = running.length > 0 ? running : containers
  // A short-lived container has no meaningful percentile: its start is most of what it did.
  const lasting = containers.filter(({ seconds }) => seconds >= SECONDS_LEAST)
  const set = { request: findMostResources(current, 'requests'), limit: findMostResources(current, 'limits') }
  const requests = containers.map(({ counted }) => counted).filter(counted => counted !== null)
  const use = {
    seconds: Number(findMost(({ seconds }) => seconds)),
    meanCores: computeTimeMean(containers, ({ meanCores }) => meanCores) ?? 0,
    p95Cores: Number(findMost(({ p95Cores }) => p95Cores, lasting.length > 0 ? lasting : containers)),
    peakCores: Number(findMost(({ peakCores }) => peakCores)),
    throttledFraction: findMost(({ throttledFraction }) => throttledFraction, current),
    memoryBytes: findMost(({ memoryBytes }) => memoryBytes),
    requestsPerSecond: computeTimeMean(requests, ({ perSecond }) => perSecond),
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
    ...chooseSizeState({ ...use, set, timesTooLarge }),
  }
}

/**
 * Computes the request and the limits that the use needs. Each has a minimum; the CPU limit is at least the request, and that of a
 * throttled sidecar more than today's.
 * @param {Pick<WorkloadSize, 'p95Cores' | 'peakCores' | 'throttledFraction' | 'memoryBytes'>} use
 * @param {Resources} limit of today
 */
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

/**
 * Computes the larger ratio of a set request to the computed one; null: there is no pair of both.
 * @param {Resources} request
 * @param {WorkloadSize['computed']} computed
 */
function computeTimes(request, { requestCores, bytes }) {
  const times = [
    ...(request.cores === null ? [] : [request.cores / requestCores]),
    ...(request.bytes === null || bytes === null ? [] : [request.bytes / bytes]),
  ]
  return times.length === 0 ? null : Math.max(...times)
}

/**
 * Finds the first state that holds, the most urgent first, and why.
 * @param {Pick<WorkloadSize, 'seconds' | 'throttledFraction' | 'memoryBytes' | 'set' | 'timesTooLarge'>} size
 * @returns {{ state: SizeState, why: string }}
 */
function chooseSizeState({ seconds, throttledFraction, memoryBytes, set: { limit }, timesTooLarge }) {
  if (throttledFraction !== null && isThrottled(throttledFraction))
    return { state: 'throttled', why: `throttled in ${renderPercent(throttledFraction)} of its periods` }
  if (memoryBytes !== null && limit.bytes !== null && memoryBytes >= NEAR_LIMIT * limit.bytes)
    return { state: 'near-memory-limit', why: `memory at ${renderPercent(memoryBytes / limit.bytes)} of its limit` }
  if (timesTooLarge !== null && timesTooLarge >= TOO_LARGE)
    return { state: 'too-large', why: `${timesTooLarge.toFixed(0)} times too large` }
  if (seconds < SECONDS_LEAST) return { state: 'few-data', why: `only ${Math.round(seconds / 60)} min of data` }
  return { state: 'fits', why: '' }
}

/**
 * Finds the largest CPU and the largest memory of pods, which may be of two pods.
 * @param {ContainerUse[]} containers
 * @param {'requests' | 'limits'} name
 * @returns {Resources} a member is null if no pod has it
 */
function findMostResources(containers, name) {
  const findMost = (/** @type {keyof Resources} */ unit) => {
    const values = containers.map(use => use[name][unit]).filter(value => value !== null)
    return values.length === 0 ? null : Math.max(...values)
  }
  return { cores: findMost('cores'), bytes: findMost('bytes') }
}

/**
 * Computes the mean over pods, each weighted by its seconds; null: they have no seconds.
 * @template {{ seconds: number }} Use
 * @param {Use[]} uses
 * @param {(use: Use) => number} measure
 */
function computeTimeMean(uses, measure) {
  const seconds = uses.reduce((sum, use) => sum + use.seconds, 0)
  return seconds === 0 ? null : uses.reduce((sum, use) => sum + use.seconds * measure(use), 0) / seconds
}

/**
 * Computes the CPU microseconds per request in the time in which requests were counted.
 * @param {Requests[]} requests
 * @returns {number | null} null: there were no requests
 */
function computePerRequest(requests) {
  const rate = computeTimeMean(requests, ({ perSecond }) => perSecond)
  const cores = computeTimeMean(requests, use => use.cores)
  return rate === null || cores === null || rate === 0 ? null : (1e6 * cores) / rate
}
