import { BenchError, EXIT } from '../lib/errors.js'
import { renderNounCount } from '../lib/units.js'
import {
  CADVISOR_QUERY,
  CONTAINERS_QUERY,
  computeSteps,
  REQUEST_COUNTERS,
  renderCounterSearches,
  renderRequestQueries,
  renderScrapeQuery,
  renderStateQueries,
  renderUsageQueries,
  TARGETS_QUERY,
} from './queries.js'
import { createWorkloadFinder } from './workloads.js'

/**
 * Reads the CPU, memory and requests of the sidecars of a namespace.
 * @import { Prometheus, Sample } from './prometheus.js'
 * @import { Scope, Steps } from './queries.js'
 */

/**
 * The usage of one container of a pod. A member is null if Prometheus lacks its metric.
 * @typedef {object} ContainerUse
 * @property {string} pod
 * @property {string} container
 * @property {number} meanCores over the time that it ran
 * @property {number} p95Cores
 * @property {number} peakCores
 * @property {number} seconds in which it has samples
 * @property {number | null} throttledFraction of its CFS periods; null: it has no CPU limit
 * @property {number | null} memoryBytes the highest working set
 * @property {boolean} isRunning now
 * @property {Requests | null} counted its requests
 * @property {Resources} requests
 * @property {Resources} limits
 */

/**
 * The requests that a sidecar received and sent.
 * @typedef {object} Requests
 * @property {number} perSecond on average, while they were counted
 * @property {number} cores on average in that time
 * @property {number} seconds of that time
 */

/** @typedef {{ cores: number | null, bytes: number | null }} Resources requests or limits; null: not set, or not known */

/**
 * @typedef {object} Production
 * @property {ContainerUse[]} containers
 * @property {ReturnType<typeof createWorkloadFinder>} findWorkload of a pod
 * @property {Steps} steps of the queries
 * @property {{ metric: string, of: string }[]} counters that requests were read from: the name of the metric, and the mesh that
 *   has it
 * @property {string[]} lacks sentences on metrics that Prometheus lacks; []: it has all
 */

/** Queries at a time: Prometheus runs 20 at most by default. */
const QUERIES_AT_ONCE = 4
const NAMED_MOST = 8

/**
 * Reads the usage, resources and requests of the sidecars of a scope.
 * @param {Prometheus} prometheus
 * @param {Scope} scope
 * @returns {Promise<Production>}
 * @throws {BenchError} if Prometheus has no CPU usage of such a sidecar, or a query fails
 */
export async function readProduction(prometheus, scope) {
  const [scraped] = await prometheus.query(renderScrapeQuery(scope), 'interval of scrapes')
  const steps = computeSteps(scraped?.value ?? null)
  const usage = await sendQueries(prometheus, renderUsageQueries(scope, steps))
  if (usage.meanCores.length === 0) throw await createEmptyScopeError(prometheus, scope)
  const state = await sendQueries(prometheus, renderStateQueries(scope))
  const { requests, counters } = await readRequests(prometheus, { scope, steps })
  const containers = joinContainers({ usage, state, requests, steps })
  return {
    containers,
    findWorkload: createWorkloadFinder(state),
    steps,
    counters,
    lacks: listLacks({ usage, state, counters }),
  }
}

/**
 * Sends queries, four at a time.
 * @template {string} Name
 * @param {Prometheus} prometheus
 * @param {Record<Name, string>} queries
 * @returns {Promise<Record<Name, Sample[]>>}
 */
async function sendQueries(prometheus, queries) {
  const left = /** @type {[Name, string][]} */ (Object.entries(queries))
  const answers = /** @type {Record<Name, Sample[]>} */ ({})
  const sendNextQueries = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [name, expression] = next
      answers[name] = await prometheus.query(expression, name)
    }
  }
  await Promise.all(Array.from({ length: QUERIES_AT_ONCE }, sendNextQueries))
  return answers
}

/**
 * Reads the requests of each container, by the first counter of REQUEST_COUNTERS that has some.
 * @param {Prometheus} prometheus
 * @param {{ scope: Scope, steps: Steps }} options
 */
async function readRequests(prometheus, { scope, steps }) {
  /** By pod and container. @type {Map<string, Requests>} */
  const requests = new Map()
  /** @type {Map<string, { metric: string, of: string }>} */
  const counters = new Map()
  const scraped = []
  for (const { labels, expression } of renderCounterSearches(scope)) {
    for (const sample of await prometheus.query(expression, 'counters of requests'))
      scraped.push({ labels, metric: sample.labels.__name__ })
  }
  // A pod may have the counter of its mesh and Envoy's own: the first of the table wins, and requests count once.
  for (const counter of REQUEST_COUNTERS) {
    const { metric, of } = counter
    const containers = scope.containers.filter(container => counter.containers.includes(container))
    if (containers.length === 0) continue
    for (const { labels } of scraped.filter(other => other.metric === metric)) {
      const queries = renderRequestQueries({ counter, labels, scope: { ...scope, containers }, steps })
      const { perSecond, cores, points } = await sendQueries(prometheus, queries)
      const ofPods = new Map(perSecond.map(({ labels: { pod }, value }) => [pod, value]))
      const pointsOf = new Map(points.map(sample => [createContainerKey(sample.labels), sample.value]))
      for (const { labels: container, value } of cores) {
        const key = createContainerKey(container)
        const rate = ofPods.get(container.pod)
        if (rate === undefined || requests.has(key)) continue
        requests.set(key, { perSecond: rate, cores: value, seconds: (pointsOf.get(key) ?? 0) * steps.stepSeconds })
        counters.set(metric, { metric, of })
      }
    }
  }
  return { requests, counters: [...counters.values()] }
}

/**
 * Makes the key of a container, or of one of its resources.
 * @param {Record<string, string>} labels
 */
const createContainerKey = ({ pod, container, resource = '' }) => `${pod}/${container}/${resource}`

/**
 * Joins the answers into one entry for each container with samples of its CPU. Without a p95 or peak these are the mean.
 * @param {object} read
 * @param {Record<keyof ReturnType<typeof renderUsageQueries>, Sample[]>} read.usage
 * @param {Record<keyof ReturnType<typeof renderStateQueries>, Sample[]>} read.state
 * @param {Map<string, Requests>} read.requests by pod and container
 * @param {Steps} read.steps
 * @returns {ContainerUse[]}
 */
function joinContainers({ usage, state, requests: counted, steps }) {
  const index = (/** @type {Sample[]} */ samples) =>
    new Map(samples.map(({ labels, value }) => [createContainerKey(labels), value]))
  const [p95, peak, points, throttled, memory, running, requests, limits] = [
    ...[usage.p95Cores, usage.peakCores, usage.points, usage.throttledFraction, usage.memoryBytes, usage.running],
    ...[state.requests, state.limits],
  ].map(index)
  return usage.meanCores.map(({ labels: { pod, container }, value: meanCores }) => {
    const key = createContainerKey({ pod, container })
    // A limit of 0 is none, as in the files of pods.
    const pickResources = (/** @type {Map<string, number>} */ set) => ({
      cores: set.get(createContainerKey({ pod, container, resource: 'cpu' })) || null,
      bytes: set.get(createContainerKey({ pod, container, resource: 'memory' })) || null,
    })
    return {
      pod,
      container,
      meanCores,
      p95Cores: p95.get(key) ?? meanCores,
      peakCores: peak.get(key) ?? meanCores,
      seconds: (points.get(key) ?? 0) * steps.stepSeconds,
      throttledFraction: throttled.get(key) ?? null,
      memoryBytes: memory.get(key) ?? null,
      isRunning: running.has(key),
      counted: counted.get(key) ?? null,
      requests: pickResources(requests),
      limits: pickResources(limits),
    }
  })
}

/**
 * Lists the metrics that Prometheus lacks, and what is unknown without each, a sentence each.
 * @param {Pick<Parameters<typeof joinContainers>[0], 'usage' | 'state'> & { counters: unknown[] }} read
 */
function listLacks({ usage, state, counters }) {
  const counting = REQUEST_COUNTERS.flatMap(({ containers }) => containers)
  const names = [...new Set(usage.meanCores.map(({ labels }) => labels.container))]
  const uncounted = names.filter(name => !counting.includes(name))
  const hasLimit = state.limits.some(({ labels }) => labels.resource === 'cpu')
  return [
    ...(usage.memoryBytes.length === 0
      ? ['No container_memory_working_set_bytes of these sidecars: no memory is computed.']
      : []),
    ...(state.requests.length + state.limits.length === 0
      ? ['No kube_pod_container_resource_requests of these sidecars: what is set today is not known.']
      : []),
    ...(usage.throttledFraction.length === 0 && hasLimit
      ? ['No container_cpu_cfs_periods_total: nothing says whether a sidecar is throttled.']
      : []),
    ...(counters.length === 0 && uncounted.length < names.length
      ? ['No counter of requests of these pods is scraped: no CPU per request.']
      : []),
    ...(uncounted.length > 0
      ? [
          `No CPU per request of ${uncounted.join(', ')}: the counters of requests that are read are those of ${[...new Set(counting)].join(', ')}.`,
        ]
      : []),
  ]
}

/**
 * Makes the error for a scope without sidecars, whose cause further queries find.
 * @param {Prometheus} prometheus
 * @param {Scope} scope
 */
async function createEmptyScopeError(prometheus, { namespace, containers }) {
  const createScopeError = (/** @type {string} */ message) => new BenchError(message, { exitStatus: EXIT.noResult })
  const { address } = prometheus
  const sidecars = await prometheus.query(CONTAINERS_QUERY, 'containers')
  if (sidecars.length === 0) {
    const [any] = await prometheus.query(CADVISOR_QUERY, 'series of cAdvisor')
    if (any)
      return createScopeError(
        `container_cpu_usage_seconds_total at ${address} has no labels namespace and container: a rule of its scrape drops them`,
      )
    const [targets] = await prometheus.query(TARGETS_QUERY, 'targets')
    return createScopeError(
      `${address} has no container_cpu_usage_seconds_total (${targets ? `it scrapes ${renderNounCount(targets.value, 'target')}` : 'it scrapes nothing'}): cAdvisor is in each kubelet, under /metrics/cadvisor; have it scraped`,
    )
  }
  const renderNames = (/** @type {string[]} */ all) => {
    const unique = [...new Set(all)].sort()
    return `${unique.slice(0, NAMED_MOST).join(', ')}${unique.length > NAMED_MOST ? ` and ${unique.length - NAMED_MOST} more` : ''}`
  }
  const there = sidecars.filter(({ labels }) => labels.namespace === namespace).map(({ labels }) => labels.container)
  if (there.length > 0)
    return createScopeError(
      `no container of the namespace ${namespace} is named ${containers.join(', ')}; there are ${renderNames(there)}: name the sidecars with --container`,
    )
  return createScopeError(
    `${address} knows no container of the namespace ${namespace}; it has ${renderNames(sidecars.map(({ labels }) => labels.namespace))}: give one with --namespace`,
  )
}
