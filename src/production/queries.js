/**
 * Renders the queries in PromQL that `size --from-prometheus` sends. Pure.
 *
 * Replicas of Prometheus that scrape the same targets have a series each, which differ in labels such as `prometheus_replica`:
 * each query takes the highest of them before it sums anything.
 */

/** Replicas of Prometheus differ in these labels. */
const REPLICA_LABELS = ['prometheus_replica', 'prometheus', 'replica', 'receive_replica']
/** Jobs add these labels to a target: two jobs that scrape one sidecar have a series each. */
const TARGET_LABELS = ['job', 'instance', 'endpoint', 'service', 'container']

// A shorter window has gaps if Prometheus scrapes every 30 s; a longer one averages a peak away.
const RATE_SECONDS_LEAST = 120
const STEP_SECONDS_LEAST = 60
const SCRAPES_OF_RATE = 4
/** A counter is looked for this far back: its target may be down at the moment. */
const RECENT = '1h'
const IDENTITY = 'namespace, pod, container'

/**
 * Counters of the requests that a sidecar received and sent, with the containers that count them. If a pod has several, the first
 * counts. Envoy's listeners for administration and statistics are left out.
 */
export const REQUEST_COUNTERS = [
  { metric: 'istio_requests_total', origin: 'Istio', containers: ['istio-proxy'], matchers: '' },
  {
    metric: 'response_total',
    origin: 'Linkerd',
    containers: ['linkerd-proxy'],
    matchers: ', direction=~"inbound|outbound"',
  },
  { metric: 'sidecar_cluster_upstream_rq_total', origin: 'FSM', containers: ['sidecar'], matchers: '' },
  {
    metric: 'envoy_http_downstream_rq_total',
    origin: 'Envoy',
    // The sidecars of Istio, of Open Service Mesh and App Mesh, of Kuma, and of Consul are Envoys with these names.
    containers: ['istio-proxy', 'envoy', 'kuma-sidecar', 'consul-dataplane'],
    matchers: ', envoy_http_conn_manager_prefix!~"admin.*|stats.*|agent.*"',
  },
]

// Metrics of pods have the usual labels, those of some scrape configurations, or those of FSM.
const POD_LABELS = [
  { namespace: 'namespace', pod: 'pod' },
  { namespace: 'kubernetes_namespace', pod: 'kubernetes_pod_name' },
  { namespace: 'source_namespace', pod: 'source_pod_name' },
]

/**
 * @typedef {object} Scope the containers and the time that queries are about
 * @property {string} namespace
 * @property {string[]} containers their names, which have no character with a meaning in a pattern
 * @property {number} seconds back from now
 */

/**
 * Renders the query for the number of CPU samples in the last twenty minutes, of the container that has the most.
 * @param {Scope} scope
 * @returns {string} PromQL
 */
export function renderScrapeQuery(scope) {
  return `max(count_over_time(${renderSeriesSelector('container_cpu_usage_seconds_total', scope)}[20m]))`
}

/**
 * Computes the interval of scrapes, and the window of rates and the step of subqueries that suit it.
 * @param {number | null} samples in twenty minutes; null or below 1: there are none, and the interval is 30 s by default
 * @returns scrapeSeconds: rounded to 5 s, at least 5; rateSeconds: SCRAPES_OF_RATE scrapes, rounded to 30 s, at least
 *   RATE_SECONDS_LEAST; stepSeconds: one scrape, rounded to 30 s, at least STEP_SECONDS_LEAST
 */
export function computeQueryIntervals(samples) {
  // The interval is rounded, since twenty minutes may hold one sample more or less by chance.
  const scrapeSeconds = samples === null || samples < 1 ? 30 : Math.max(5, 5 * Math.round(1200 / samples / 5))
  const roundToHalfMinute = (/** @type {number} */ seconds) => 30 * Math.round(seconds / 30)
  return {
    scrapeSeconds,
    rateSeconds: Math.max(RATE_SECONDS_LEAST, roundToHalfMinute(SCRAPES_OF_RATE * scrapeSeconds)),
    stepSeconds: Math.max(STEP_SECONDS_LEAST, roundToHalfMinute(scrapeSeconds)),
  }
}

/** Scrape interval, rate window and step. @typedef {ReturnType<typeof computeQueryIntervals>} QueryIntervals */

/**
 * Renders the queries for the usage of containers. A rate allows for resets of its counter.
 * @param {Scope} scope
 * @param {QueryIntervals} intervals
 * @returns PromQL by the name of its result: CPU in cores over the time in which a container ran (`meanCores`, `p95Cores`,
 *   `peakCores`), the number of these `points`, the `throttledFraction` of CFS periods, the highest working set (`memoryBytes`),
 *   and a sample for each container that runs now (`running`)
 */
export function renderUsageQueries(scope, { rateSeconds, stepSeconds }) {
  const range = `${scope.seconds}s`
  const renderRates = (/** @type {string} */ metric) =>
    `max by (${IDENTITY}) (rate(${renderSeriesSelector(metric, scope)}[${rateSeconds}s]))[${range}:${stepSeconds}s]`
  const cpu = renderRates('container_cpu_usage_seconds_total')
  const throttledPeriods = renderRates('container_cpu_cfs_throttled_periods_total')
  const periods = renderRates('container_cpu_cfs_periods_total')
  const memory = renderSeriesSelector('container_memory_working_set_bytes', scope)
  return {
    meanCores: `avg_over_time(${cpu})`,
    p95Cores: `quantile_over_time(0.95, ${cpu})`,
    peakCores: `max_over_time(${cpu})`,
    points: `count_over_time(${cpu})`,
    throttledFraction: `sum_over_time(${throttledPeriods}) / sum_over_time(${periods})`,
    memoryBytes: `max by (${IDENTITY}) (max_over_time(${memory}[${range}]))`,
    running: `max by (${IDENTITY}) (${renderSeriesSelector('container_cpu_usage_seconds_total', scope)})`,
  }
}

/**
 * Renders the queries for resources and owners of pods, from kube-state-metrics. Sidecars that are init containers have metrics
 * of their own. A pod of a StatefulSet keeps its name when its resources change: its older series must not count while it runs.
 * @param {Scope} scope
 * @returns PromQL by the name of its result: `requests` and `limits` by container and resource, and the owners (`podOwners`,
 *   `replicaSetOwners`), whose kinds and names are in labels
 */
export function renderStateQueries(scope) {
  const range = `${scope.seconds}s`
  const renderResourceQuery = (/** @type {string} */ name) => {
    const metric = `{__name__=~"kube_pod_(init_)?container_resource_${name}", ${renderMatchers(scope)}}`
    const now = `max by (${IDENTITY}, resource) (${metric})`
    const last = `max by (${IDENTITY}, resource) (last_over_time(${metric}[${range}]))`
    const running = renderSeriesSelector('container_cpu_usage_seconds_total', scope)
    return `${now} or (${last} unless on (${IDENTITY}) ${running})`
  }
  return {
    requests: renderResourceQuery('requests'),
    limits: renderResourceQuery('limits'),
    podOwners: `max by (pod, owner_kind, owner_name) (last_over_time(kube_pod_owner{namespace="${scope.namespace}"}[${range}]))`,
    replicaSetOwners: `max by (replicaset, owner_kind, owner_name) (last_over_time(kube_replicaset_owner{namespace="${scope.namespace}"}[${range}]))`,
  }
}

/**
 * Renders the queries that find the counters of requests of a namespace, one for each form of the labels of a pod.
 * @param {Scope} scope
 * @returns labels: the names of the labels in this form; expression: PromQL
 */
export function renderCounterSearches({ namespace }) {
  const metrics = REQUEST_COUNTERS.map(({ metric }) => metric).join('|')
  return POD_LABELS.map(labels => ({
    labels,
    expression: `count by (__name__) (last_over_time({__name__=~"${metrics}", ${labels.namespace}="${namespace}", ${labels.pod}!=""}[${RECENT}]))`,
  }))
}

/**
 * Renders the queries for the requests of each pod by one counter, and for the CPU of its sidecars at the same points. A counter
 * begins with the first request, and the CPU of an idle week before it must not count as that of those requests.
 * @param {object} options
 * @param {typeof REQUEST_COUNTERS[number]} options.counter
 * @param {typeof POD_LABELS[number]} options.labels
 * @param {Scope} options.scope whose containers count these requests
 * @param {QueryIntervals} options.intervals
 * @returns PromQL by the name of its result: requests a second of each pod (`perSecond`), CPU of each container in `cores`, and the
 *   number of these `points`
 */
export function renderRequestQueries({ counter: { metric, matchers }, labels, scope, intervals }) {
  const { rateSeconds, stepSeconds } = intervals
  const rate = `rate(${metric}{${labels.namespace}="${scope.namespace}", ${labels.pod}!=""${matchers}}[${rateSeconds}s])`
  const deduplicated = `max without (${[...REPLICA_LABELS, ...TARGET_LABELS].join(', ')}) (${rate})`
  const relabelled = `label_replace(${deduplicated}, "pod", "$1", "${labels.pod}", "(.+)")`
  const requests = `sum by (pod) (${labels.pod === 'pod' ? deduplicated : relabelled})`
  const cpu = `max by (${IDENTITY}) (rate(${renderSeriesSelector('container_cpu_usage_seconds_total', scope)}[${rateSeconds}s]))`
  const range = `[${scope.seconds}s:${stepSeconds}s]`
  return {
    perSecond: `avg_over_time((${requests} and on (pod) ${cpu})${range})`,
    cores: `avg_over_time((${cpu} and on (pod) ${requests})${range})`,
    points: `count_over_time((${cpu} and on (pod) ${requests})${range})`,
  }
}

/** Counts the CPU series of each container of each namespace. Pause containers (POD) and whole pods are left out. */
export const CONTAINERS_QUERY =
  'count by (namespace, container) (container_cpu_usage_seconds_total{container!="", container!="POD"})'

/** Counts the CPU series of cAdvisor, also those without labels of a container. */
export const CADVISOR_QUERY = 'count(container_cpu_usage_seconds_total)'
/** Counts the targets, also those that are down: where nothing is known of cAdvisor, the error says whether anything is scraped. */
export const TARGETS_QUERY = 'count(up)'

/**
 * Renders the selector of a metric's series of the containers of a scope.
 * @param {string} metric
 * @param {Scope} scope
 */
const renderSeriesSelector = (metric, scope) => `${metric}{${renderMatchers(scope)}}`

/**
 * Renders the label matchers of a scope, whose containers are alternatives of one pattern.
 * @param {Scope} scope
 */
const renderMatchers = ({ namespace, containers }) => `namespace="${namespace}", container=~"${containers.join('|')}"`
