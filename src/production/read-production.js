import { BenchError, EXIT } from '../lib/errors.js'
import { renderNounCount } from '../lib/units.js'
import {
  CADVISOR_QUERY,
  CONTAINERS_QUERY,
  computeQueryIntervals,
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
 * @import { Scope, QueryIntervals } from './queries.js'
 */

/**
 * The usage of one container of a pod. A member is null if Prometheus lacks its metric.
 * @typedef {object} ContainerUse
 * @property {string} pod
 * @property {string} container
 * @property {number} meanCores over the time that it ran
 * @property {number} p95Cores the mean, if there is no percentile
 * @property {number} peakCores the mean, if there is no peak
 * @property {number} seconds in which it has samples; 0: their number is not known
 * @property {number | null} throttledFraction of its CFS periods; null also: it has no CPU limit, or had no period
 * @property {number | null} memoryBytes the highest working set
 * @property {boolean} isRunning now
 * @property {RequestRate | null} counted its requests; null: no counter has any
 * @property {Resources} requests
 * @property {Resources} limits
 */

/**
 * The mean rate of a pod's requests, received and sent added up, and the CPU of the container in that time.
 * @typedef {object} RequestRate
 * @property {number} perSecond
 * @property {number} cores
 * @property {number} seconds of that time
 */

/** @typedef {{ cores: number | null, bytes: number | null }} Resources requests or limits; null: not set, or not known */

/**
 * @typedef {object} Production
 * @property {ContainerUse[]} containers
 * @property {ReturnType<typeof createWorkloadFinder>} findWorkload of a pod
 * @property {QueryIntervals} intervals of scrapes and queries
 * @property {Counter[]} counters from which requests were read; []: no counter has any
 * @property {string[]} lacks sentences on metrics that Prometheus lacks; []: it has all
 */

/** @typedef {{ metric: string, origin: string }} Counter of requests; origin: the mesh or proxy that has the metric */

/** Few queries are sent at a time: Prometheus runs 20 at most by default, and serves others, too. */
const QUERIES_AT_ONCE = 4
const NAMED_MOST = 8

/**
 * Reads the usage, resources and requests of the sidecars of a scope.
 * @param {Prometheus} prometheus
 * @param {Scope} scope
 * @returns {Promise<Production>}
 * @throws {BenchError} with EXIT.noResult if Prometheus has no CPU usage of such a sidecar; if a query fails, as `query` of
 *   `openPrometheus`
 */
export async function readSidecarUsage(prometheus, scope) {
  const [scrapeInterval] = await prometheus.query(renderScrapeQuery(scope), 'interval of scrapes')
  const intervals = computeQueryIntervals(scrapeInterval?.value ?? null)
  const usage = await sendQueries(prometheus, renderUsageQueries(scope, intervals))
  if (usage.meanCores.length === 0)
    throw new BenchError(await findEmptyScopeReason(prometheus, scope), { exitStatus: EXIT.noResult })
  const state = await sendQueries(prometheus, renderStateQueries(scope))
  const { requests, counters } = await readRequests(prometheus, { scope, intervals })
  const containers = joinContainers({ usage, state, requests, intervals })
  return {
    containers,
    findWorkload: createWorkloadFinder(state),
    intervals,
    counters,
    lacks: listLacks({ usage, state, counters }),
  }
}

/**
 * Sends queries, QUERIES_AT_ONCE at a time.
 * @template {string} Name
 * @param {Prometheus} prometheus
 * @param {Record<Name, string>} queries PromQL by the name of the result, which errors name
 * @returns {Promise<Record<Name, Sample[]>>}
 * @throws as `query` of `openPrometheus`, if one fails; others may then still be running
 */
async function sendQueries(prometheus, queries) {
  const remaining = /** @type {[Name, string][]} */ (Object.entries(queries))
  const answers = /** @type {Record<Name, Sample[]>} */ ({})
  const sendNextQueries = async () => {
    for (let next = remaining.shift(); next; next = remaining.shift()) {
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
 * @param {{ scope: Scope, intervals: QueryIntervals }} options
 * @returns {Promise<{ requests: Map<string, RequestRate>, counters: Counter[] }>} requests: by `createContainerKey`, without the
 *   containers whose requests no counter has; counters: those by which requests were found; []: there are none
 * @throws as `query` of `openPrometheus`
 */
async function readRequests(prometheus, { scope, intervals }) {
  /** @type {Map<string, RequestRate>} */
  const requests = new Map()
  /** @type {Map<string, Counter>} */
  const counters = new Map()
  const searchedCounters = []
  for (const { labels, expression } of renderCounterSearches(scope)) {
    for (const sample of await prometheus.query(expression, 'counters of requests'))
      searchedCounters.push({ labels, metric: sample.labels.__name__ })
  }
  // A pod may have the counter of its mesh and Envoy's own: the first of the table wins, and requests count once.
  for (const counter of REQUEST_COUNTERS) {
    const { metric, origin } = counter
    const containers = scope.containers.filter(container => counter.containers.includes(container))
    if (containers.length === 0) continue
    for (const { labels } of searchedCounters.filter(other => other.metric === metric)) {
      const options = { counter, labels, scope: { ...scope, containers }, intervals }
      for (const [key, counted] of await readCounter(prometheus, options)) {
        if (requests.has(key)) continue
        requests.set(key, counted)
        counters.set(metric, { metric, origin })
      }
    }
  }
  return { requests, counters: [...counters.values()] }
}

/**
 * Reads the requests of each container by one counter: the rate of its pod, since counters have no container of their own, with the
 * CPU of the container at the same points.
 * @param {Prometheus} prometheus
 * @param {Parameters<typeof renderRequestQueries>[0]} options
 * @returns {Promise<[key: string, requests: RequestRate][]>} key: as `createContainerKey`; []: the counter has no requests of these
 *   containers
 * @throws as `query` of `openPrometheus`
 */
async function readCounter(prometheus, options) {
  const { perSecond, cores, points } = await sendQueries(prometheus, renderRequestQueries(options))
  const rateByPod = new Map(perSecond.map(({ labels, value }) => [labels.pod, value]))
  const pointsByContainer = indexByContainer(points)
  return cores.flatMap(({ labels, value }) => {
    const key = createContainerKey(labels)
    const rate = rateByPod.get(labels.pod)
    const seconds = (pointsByContainer.get(key) ?? 0) * options.intervals.stepSeconds
    if (rate === undefined) return []
    return [/** @type {[string, RequestRate]} */ ([key, { perSecond: rate, cores: value, seconds }])]
  })
}

/** @param {Sample[]} samples @returns {Map<string, number>} values by `createContainerKey` */
const indexByContainer = samples => new Map(samples.map(({ labels, value }) => [createContainerKey(labels), value]))

/**
 * Creates the key of a container or, with the label `resource`, of one of its resources.
 * @param {Record<string, string>} labels
 */
const createContainerKey = ({ pod, container, resource = '' }) => `${pod}/${container}/${resource}`

/**
 * Joins the answers into one entry for each container with samples of its CPU.
 * @param {object} answers
 * @param {Record<keyof ReturnType<typeof renderUsageQueries>, Sample[]>} answers.usage
 * @param {Record<keyof ReturnType<typeof renderStateQueries>, Sample[]>} answers.state
 * @param {Map<string, RequestRate>} answers.requests by `createContainerKey`
 * @param {QueryIntervals} answers.intervals
 * @returns {ContainerUse[]}
 */
function joinContainers({ usage, state, requests: requestsByContainer, intervals }) {
  const p95 = indexByContainer(usage.p95Cores)
  const peaks = indexByContainer(usage.peakCores)
  const points = indexByContainer(usage.points)
  const throttled = indexByContainer(usage.throttledFraction)
  const memory = indexByContainer(usage.memoryBytes)
  const running = indexByContainer(usage.running)
  const requests = indexByContainer(state.requests)
  const limits = indexByContainer(state.limits)
  return usage.meanCores.map(({ labels: { pod, container }, value: meanCores }) => {
    const key = createContainerKey({ pod, container })
    // Kubernetes takes a limit of 0 for none.
    const pickResources = (/** @type {Map<string, number>} */ values) => ({
      cores: values.get(createContainerKey({ pod, container, resource: 'cpu' })) || null,
      bytes: values.get(createContainerKey({ pod, container, resource: 'memory' })) || null,
    })
    return {
      pod,
      container,
      meanCores,
      p95Cores: p95.get(key) ?? meanCores,
      peakCores: peaks.get(key) ?? meanCores,
      seconds: (points.get(key) ?? 0) * intervals.stepSeconds,
      throttledFraction: throttled.get(key) ?? null,
      memoryBytes: memory.get(key) ?? null,
      isRunning: running.has(key),
      counted: requestsByContainer.get(key) ?? null,
      requests: pickResources(requests),
      limits: pickResources(limits),
    }
  })
}

/**
 * Lists the metrics that Prometheus lacks, and what is unknown without each, a sentence each.
 * @param {Pick<Parameters<typeof joinContainers>[0], 'usage' | 'state'> & { counters: Counter[] }} answers
 * @returns {string[]} []: it lacks none
 */
function listLacks({ usage, state, counters }) {
  const countedNames = [...new Set(REQUEST_COUNTERS.flatMap(({ containers }) => containers))]
  const names = [...new Set(usage.meanCores.map(({ labels }) => labels.container))]
  const uncountedNames = names.filter(name => !countedNames.includes(name))
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
    ...(counters.length === 0 && uncountedNames.length < names.length
      ? ['No counter of requests of these pods is scraped: no CPU per request.']
      : []),
    ...(uncountedNames.length > 0
      ? [
          `No CPU per request of ${uncountedNames.join(', ')}: the counters of requests that are read are those of ${countedNames.join(', ')}.`,
        ]
      : []),
  ]
}

/**
 * Finds by further queries why Prometheus has no CPU usage of the sidecars of a scope, and renders it with what to do.
 * @param {Prometheus} prometheus
 * @param {Scope} scope
 * @returns {Promise<string>}
 * @throws as `query` of `openPrometheus`
 */
async function findEmptyScopeReason(prometheus, { namespace, containers }) {
  const { address } = prometheus
  const series = await prometheus.query(CONTAINERS_QUERY, 'containers')
  if (series.length === 0) {
    const [unlabelled] = await prometheus.query(CADVISOR_QUERY, 'series of cAdvisor')
    if (unlabelled)
      return `container_cpu_usage_seconds_total at ${address} has no labels namespace and container: a rule of its scrape drops them`
    const [targets] = await prometheus.query(TARGETS_QUERY, 'targets')
    const scraped = targets ? renderNounCount(targets.value, 'target') : 'nothing'
    return `${address} has no container_cpu_usage_seconds_total (it scrapes ${scraped}): cAdvisor is in each kubelet, under /metrics/cadvisor; have it scraped`
  }
  const names = series.filter(({ labels }) => labels.namespace === namespace).map(({ labels }) => labels.container)
  if (names.length > 0)
    return `no container of the namespace ${namespace} is named ${containers.join(', ')}; there are ${renderNames(names)}: name the sidecars with --container`
  const namespaces = series.map(({ labels }) => labels.namespace)
  return `${address} knows no container of the namespace ${namespace}; it has ${renderNames(namespaces)}: give one with --namespace`
}

/**
 * Renders the first NAMED_MOST names in alphabetical order, and how many others there are.
 * @param {string[]} names may repeat
 * @returns {string}
 */
function renderNames(names) {
  const unique = [...new Set(names)].sort()
  const others = unique.length > NAMED_MOST ? ` and ${unique.length - NAMED_MOST} more` : ''
  return `${unique.slice(0, NAMED_MOST).join(', ')}${others}`
}
