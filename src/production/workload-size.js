import { groupBy } from '../lib/group-by.js'
import { renderPercent } from '../lib/units.js'

/** Computes requests and limits of a workload's sidecars from the CPU and memory that they used. Pure. */
/**
 * @import { ContainerUse, Production, RequestRate, Resources } from './read-production.js'
 * @import { Workload } from './workloads.js'
 */

/** The CPU request is this times the 95th percentile of CPU; `size` takes the same factor over the mean at a rate. */
const CPU_REQUEST_ROOM = 1.15
/** The CPU limit is this times the peak, which is one of averages over minutes: a burst within them is higher. */
const CPU_LIMIT_ROOM = 1.5
/** The factor over the highest memory is that of KRR: https://github.com/robusta-dev/krr/blob/main/robusta_krr/strategies/simple.py */
const MEMORY_ROOM = 1.15
const REQUEST_CORES_LEAST = 0.01
/** This limit allows a burst of 10 ms in one period of 100 ms, which averages of minutes do not show. */
const LIMIT_CORES_LEAST = 0.1
const BYTES_LEAST = 2 ** 20
/** From this share of throttled periods on, a workload needs a change: about one of 100 requests then waits, the p99. */
const THROTTLED_LEAST = 0.01
/** From this share of its memory limit on, a workload needs a change. */
const NEAR_LIMIT = 0.9
/** From so many times the computed request on, today's is too large. */
const TOO_LARGE = 10
/**
 * With fewer seconds of samples, the answer says that they are few, and a container has no part in percentiles: KRR's 100 points
 * of 75 s are about as long.
 */
const SECONDS_LEAST = 7200

/**
 * Renders in one line how requests and limits are computed from use. The smallest CPU request, the smallest memory and the limit of
 * throttled containers are left out.
 * @param {{ rateSeconds: number }} intervals rateSeconds: the window of rates
 * @returns {string}
 */
export function renderSizingRule({ rateSeconds }) {
  const renderRoom = (/** @type {number} */ factor) => `+ ${renderPercent(factor - 1)}`
  return `CPU request: p95 of the busiest pod's ${rateSeconds / 60} min averages ${renderRoom(CPU_REQUEST_ROOM)}; limit: its peak ${renderRoom(CPU_LIMIT_ROOM)}, at least ${1000 * LIMIT_CORES_LEAST}m; memory: highest ${renderRoom(MEMORY_ROOM)}.`
}

/** @typedef {'throttled' | 'near-memory-limit' | 'too-large' | 'few-data' | 'fits'} SizeState the first that holds, in this order */
/** @type {SizeState[]} */
const STATES_BY_URGENCY = ['throttled', 'near-memory-limit', 'too-large', 'few-data', 'fits']

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
 * @property {number} meanCores of a pod, weighted by time; 0: no pod has seconds of samples
 * @property {number} p95Cores of the busiest pod among those seen for SECONDS_LEAST, or among all if none was
 * @property {number} peakCores of the busiest pod
 * @property {number | null} throttledFraction of the pod that was throttled most, among those that run, or all if none does
 * @property {number | null} memoryBytes of the largest pod
 * @property {number | null} requestsPerSecond of a pod, on average while they were counted
 * @property {number | null} cpuPerRequestMicros while they were counted
 * @property {{ request: Resources, limit: Resources }} set in Kubernetes today: the largest of the pods
 * @property {ComputedSize} computed
 * @property {number | null} timesTooLarge the larger of the ratios of today's CPU and memory request to the computed one
 * @property {SizeState} state
 * @property {string} why it has this state; empty: it fits
 */

/**
 * Computes requests and limits of each workload, and sorts by state, the most urgent first; within one, by how throttled or too large
 * they are, then by the CPU that they need, then by name.
 * @param {Production} production
 * @returns {WorkloadSize[]} one for each container of a workload; []: there are no containers
 */
export function computeWorkloadSizes({ containers, findWorkload }) {
  const sizes = groupByWorkload(containers, findWorkload).map(computeWorkloadSize)
  const rank = (/** @type {WorkloadSize} */ { state }) => STATES_BY_URGENCY.indexOf(state)
  const computeWeight = (/** @type {WorkloadSize} */ size) =>
    size.state === 'throttled' ? Number(size.throttledFraction) : (size.timesTooLarge ?? 0)
  const sumRequests = (/** @type {WorkloadSize} */ { pods, computed }) => pods * computed.requestCores
  return sizes.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      computeWeight(b) - computeWeight(a) ||
      sumRequests(b) - sumRequests(a) ||
      (a.workload.name < b.workload.name ? -1 : 1),
  )
}

/**
 * Groups containers by their workloads and names.
 * @param {ContainerUse[]} containers
 * @param {Production['findWorkload']} findWorkload
 * @returns {{ workload: Workload, containers: ContainerUse[] }[]} in the order of their first containers
 */
function groupByWorkload(containers, findWorkload) {
  const pairs = containers.map(use => ({ use, workload: findWorkload(use.pod) }))
  const groups = groupBy(pairs, ({ use, workload }) => `${workload.kind}/${workload.name}/${use.container}`)
  return [...groups.values()].map(group => ({
    workload: group[0].workload,
    containers: group.map(({ use }) => use),
  }))
}

/**
 * Computes the size of a workload from all its pods.
 * @param {{ workload: Workload, containers: ContainerUse[] }} group containers: at least one
 * @returns {WorkloadSize}
 */
function computeWorkloadSize({ workload, containers }) {
  // Pods of older revisions count for use only, unless none runs: the limit that throttled them may be another than today's.
  const running = containers.filter(({ isRunning }) => isRunning)
  const current = running.length > 0 ? running : containers
  // A short-lived container has no meaningful percentile: it used most of its CPU to start.
  const lasting = containers.filter(({ seconds }) => seconds >= SECONDS_LEAST)
  const set = { request: findLargestResources(current, 'requests'), limit: findLargestResources(current, 'limits') }
  const requests = containers.map(({ counted }) => counted).filter(counted => counted !== null)
  const use = {
    seconds: Number(findLargest(containers, ({ seconds }) => seconds)),
    meanCores: computeWeightedMean(containers, ({ meanCores }) => meanCores) ?? 0,
    p95Cores: Number(findLargest(lasting.length > 0 ? lasting : containers, ({ p95Cores }) => p95Cores)),
    peakCores: Number(findLargest(containers, ({ peakCores }) => peakCores)),
    throttledFraction: findLargest(current, ({ throttledFraction }) => throttledFraction),
    memoryBytes: findLargest(containers, ({ memoryBytes }) => memoryBytes),
    requestsPerSecond: computeWeightedMean(requests, ({ perSecond }) => perSecond),
  }
  const computed = computeRequestAndLimits(use, set.limit)
  const timesTooLarge = computeTimesTooLarge(set.request, computed)
  return {
    workload,
    container: containers[0].container,
    pods: running.length,
    podsSeen: containers.length,
    ...use,
    cpuPerRequestMicros: computeMicrosPerRequest(requests),
    set,
    computed,
    timesTooLarge,
    ...chooseSizeState({ ...use, set, timesTooLarge }),
  }
}

/**
 * Computes the request and the limits that the use needs. Each has a minimum; the CPU limit is at least the request, and that of a
 * throttled sidecar at least CPU_LIMIT_ROOM times today's, if today's is known.
 * @param {Pick<WorkloadSize, 'p95Cores' | 'peakCores' | 'throttledFraction' | 'memoryBytes'>} use
 * @param {Resources} limit of today
 * @returns {ComputedSize}
 */
function computeRequestAndLimits({ p95Cores, peakCores, throttledFraction, memoryBytes }, limit) {
  const requestCores = Math.max(REQUEST_CORES_LEAST, CPU_REQUEST_ROOM * p95Cores)
  // The peak of a throttled sidecar is its limit; its need is higher, and unknown.
  const floor = isThrottled(throttledFraction) ? (limit.cores ?? 0) : 0
  return {
    requestCores,
    limitCores: Math.max(requestCores, LIMIT_CORES_LEAST, CPU_LIMIT_ROOM * Math.max(peakCores, floor)),
    bytes: memoryBytes === null ? null : Math.max(BYTES_LEAST, MEMORY_ROOM * memoryBytes),
  }
}

/**
 * Says whether so many periods were throttled that a workload needs a change.
 * @param {number | null} fraction of the periods; null: not known
 * @returns {boolean} false also: it is not known
 */
const isThrottled = fraction => fraction !== null && fraction >= THROTTLED_LEAST

/**
 * Computes the ratio of today's request to the computed one: the larger of those of CPU and memory.
 * @param {Resources} request of today
 * @param {ComputedSize} computed
 * @returns {number | null} null: neither is known on both sides
 */
function computeTimesTooLarge(request, { requestCores, bytes }) {
  const times = [
    ...(request.cores === null ? [] : [request.cores / requestCores]),
    ...(request.bytes === null || bytes === null ? [] : [request.bytes / bytes]),
  ]
  return times.length === 0 ? null : Math.max(...times)
}

/**
 * Chooses the most urgent state that holds, with its reason.
 * @param {Pick<WorkloadSize, 'seconds' | 'throttledFraction' | 'memoryBytes' | 'set' | 'timesTooLarge'>} size
 * @returns {{ state: SizeState, why: string }} why: empty if the size fits
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
function findLargestResources(containers, name) {
  return {
    cores: findLargest(containers, use => use[name].cores),
    bytes: findLargest(containers, use => use[name].bytes),
  }
}

/**
 * Finds the largest value of containers.
 * @param {ContainerUse[]} containers
 * @param {(use: ContainerUse) => number | null} measure
 * @returns {number | null} null: no container has one
 */
function findLargest(containers, measure) {
  const values = containers.map(measure).filter(value => value !== null)
  return values.length === 0 ? null : Math.max(...values)
}

/**
 * Computes the mean of pods, each weighted by its seconds.
 * @template {{ seconds: number }} Use
 * @param {Use[]} uses
 * @param {(use: Use) => number} measure
 * @returns {number | null} null: there are no pods, or they have no seconds
 */
function computeWeightedMean(uses, measure) {
  const seconds = uses.reduce((sum, use) => sum + use.seconds, 0)
  return seconds === 0 ? null : uses.reduce((sum, use) => sum + use.seconds * measure(use), 0) / seconds
}

/**
 * Computes the CPU microseconds per request in the time in which requests were counted.
 * @param {RequestRate[]} requests
 * @returns {number | null} null: no requests were counted, or their rate was 0
 */
function computeMicrosPerRequest(requests) {
  const rate = computeWeightedMean(requests, ({ perSecond }) => perSecond)
  const cores = computeWeightedMean(requests, use => use.cores)
  return rate === null || cores === null || rate === 0 ? null : (1e6 * cores) / rate
}
