/**
 * Renders the queries in PromQL that `size --from-prometheus` sends. Pure.
 *
 * Replicas of Prometheus that scrape the same targets have a series each, which differ in labels such as `prometheus_replica`:
 * each expression takes the highest of them before it sums anything.
 */

/** Labels in which replicas of Prometheus differ. */
const REPLICA_LABELS = ['prometheus_replica', 'prometheus', 'replica', 'receive_replica']
/** Labels of the target that a job adds: two jobs that scrape one sidecar have a series each. */
const TARGET_LABELS = ['job', 'instance', 'endpoint', 'service', 'container']

// If shorter, the rate of a scrape every 30 s has gaps; if longer, a peak is averaged away.
const RATE_SECONDS_LEAST = 120
const STEP_SECONDS_LEAST = 60
const SCRAPES_OF_RATE = 4
/** How far back a counter is looked for: a target that has been down for less than an hour still counts. */
const RECENT = '1h'
const IDENTITY = 'namespace, pod, container'

/**
 * Counters of the requests that a sidecar received and sent, with the containers that count them; a pod may have several, and
 * the first counts. Envoy's listeners for administration and statistics are left out.
 */
export const REQUEST_COUNTERS = [
  { metric: 'istio_requests_total', of: 'Istio', containers: ['istio-proxy'], matchers: '' },
  {
    metric: 'response_total',
    of: 'Linkerd',
    containers: ['linkerd-proxy'],
    matchers: ', direction=~"inbound|outbound"',
  },
  { metric: 'sidecar_cluster_upstream_rq_total', of: 'FSM', containers: ['sidecar'], matchers: '' },
  {
    metric: 'envoy_http_downstream_rq_total',
    of: 'Envoy',
    // Those of Istio; of Open Service Mesh and App Mesh; of Kuma; of Consul.
    containers: ['istio-proxy', 'envoy', 'kuma-sidecar', 'consul-dataplane'],
    matchers: ', envoy_http_conn_manager_prefix!~"admin.*|stats.*|agent.*"',
  },
]

// The labels of a pod: the usual ones, those of some scrape configurations, and those of FSM.
const POD_LABELS = [
  { namespace: 'namespace', pod: 'pod' },
  { namespace: 'kubernetes_namespace', pod: 'kubernetes_pod_name' },
  { namespace: 'source_namespace', pod: 'source_pod_name' },
]

/**
 * @typedef {object} Scope the containers and the time that queries are about
 * @property {string} namespace
 * @property {string[]} containers
 * @property {number} seconds back from now
 */

/**
 * Renders the query for the samples of the container that has most of them in the last twenty minutes.
 * @param {Scope} scope
 * @returns {string} PromQL
 */
export function renderScrapeQuery(scope) {
  return `max(count_over_time(${renderContainer('container_cpu_usage_seconds_total', scope)}[20m]))`
}

/**
 * Computes the interval of scrapes, and the window of rates and the step of subqueries that suit it.
 * @param {number | null} samples in twenty minutes; null, or less than one: none, and an interval of 30 s is taken
 * @returns all in seconds: scrapeSeconds: rounded to 5 s, at least 5; rateSeconds: SCRAPES_OF_RATE scrapes, rounded to 30 s, at
 *   least RATE_SECONDS_LEAST; stepSeconds: one scrape, rounded to 30 s, at least STEP_SECONDS_LEAST
 */
export function computeSteps(samples) {
  // One sample more or less is within twenty minutes by chance.
  const scrapeSeconds = samples === null || samples < 1 ? 30 : Math.max(5, 5 * Math.round(1200 / samples / 5))
  const round = (/** @type {number} */ seconds) => 30 * Math.round(seconds / 30)
  return {
    scrapeSeconds,
    rateSeconds: Math.max(RATE_SECONDS_LEAST, round(SCRAPES_OF_RATE * scrapeSeconds)),
    stepSeconds: Math.max(STEP_SECONDS_LEAST, round(scrapeSeconds)),
  }
}

/** @typedef {ReturnType<typeof computeSteps>} Steps */

/**
 * Renders the queries for the usage of containers. A rate allows for resets of its counter.
 * @param {Scope} scope
 * @param {Steps} steps
 * @returns PromQL by the name of its result: CPU in cores over the time in which a container ran (`meanCores`, `p95Cores`,
 *   `peakCores`), the number of these `points`, the `throttledFraction` of CFS periods, the highest working set (`memoryBytes`),
 *   and a sample for each container that runs now (`running`)
 */
export function renderUsageQueries(scope, { rateSeconds, stepSeconds }) {
  const range = `${scope.seconds}s`
  const renderRateQuery = (/** @type {string} */ metric) =>
    `max by (${IDENTITY}) (rate(${renderContainer(metric, scope)}[${rateSeconds}s]))[${range}:${stepSeconds}s]`
  const cpu = renderRateQuery('container_cpu_usage_seconds_total')
  const memory = renderContainer('container_memory_working_set_bytes', scope)
  return {
    meanCores: `avg_over_time(${cpu})`,
    p95Cores: `quantile_over_time(0.95, ${cpu})`,
    peakCores: `max_over_time(${cpu})`,
    points: `count_over_time(${cpu})`,
    throttledFraction: `sum_over_time(${renderRateQuery('container_cpu_cfs_throttled_periods_total')}) / sum_over_time(${renderRateQuery('container_cpu_cfs_periods_total')})`,
    memoryBytes: `max by (${IDENTITY}) (max_over_time(${memory}[${range}]))`,
    running: `max by (${IDENTITY}) (${renderContainer('container_cpu_usage_seconds_total', scope)})`,
  }
}

/**
 * Renders the queries for resources and owners of pods, from kube-state-metrics. Sidecars that are init containers have metrics
 * of their own. A pod of a StatefulSet keeps its name when its resources change: its older series must not count while it runs.
 * @param {Scope} scope
 * @returns PromQL by the name of its result
 */
export function renderStateQueries(scope) {
  const range = `${scope.seconds}s`
  const renderResourceQuery = (/** @type {string} */ name) => {
    const metric = `{__name__=~"kube_pod_(init_)?container_resource_${name}", ${matchContainers(scope)}}`
    const renderMaxQuery = (/** @type {string} */ values) => `max by (${IDENTITY}, resource) (${values})`
    const running = renderContainer('container_cpu_usage_seconds_total', scope)
    return `${renderMaxQuery(metric)} or (${renderMaxQuery(`last_over_time(${metric}[${range}])`)} unless on (${IDENTITY}) ${running})`
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
 * @returns labels: the form; expression: PromQL
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
 * @param {object} counter
 * @param {typeof REQUEST_COUNTERS[number]} counter.counter
 * @param {typeof POD_LABELS[number]} counter.labels
 * @param {Scope} counter.scope whose containers count these requests
 * @param {Steps} counter.steps
 * @returns PromQL by the name of its result: requests a second (`perSecond`), CPU in `cores`, and the number of `points`
 */
export function renderRequestQueries({ counter: { metric, matchers }, labels, scope, steps }) {
  const { rateSeconds, stepSeconds } = steps
  const rate = `rate(${metric}{${labels.namespace}="${scope.namespace}", ${labels.pod}!=""${matchers}}[${rateSeconds}s])`
  const once = `max without (${[...REPLICA_LABELS, ...TARGET_LABELS].join(', ')}) (${rate})`
  const named = labels.pod === 'pod' ? once : `label_replace(${once}, "pod", "$1", "${labels.pod}", "(.+)")`
  const requests = `sum by (pod) (${named})`
  const cpu = `max by (${IDENTITY}) (rate(${renderContainer('container_cpu_usage_seconds_total', scope)}[${rateSeconds}s]))`
  const range = `[${scope.seconds}s:${stepSeconds}s]`
  return {
    perSecond: `avg_over_time((${requests} and on (pod) ${cpu})${range})`,
    cores: `avg_over_time((${cpu} and on (pod) ${requests})${range})`,
    points: `count_over_time((${cpu} and on (pod) ${requests})${range})`,
  }
}

/** Finds the containers of all namespaces that have CPU metrics. Pause containers (POD) and whole pods are left out. */
export const CONTAINERS_QUERY =
  'count by (namespace, container) (container_cpu_usage_seconds_total{container!="", container!="POD"})'

/** Counts the series of cAdvisor, with or without labels. */
export const CADVISOR_QUERY = 'count(container_cpu_usage_seconds_total)'
/** Counts the targets that are scraped. */
export const TARGETS_QUERY = 'count(up)'

/**
 * @param {string} metric
 * @param {Scope} scope
 */
const renderContainer = (metric, scope) => `${metric}{${matchContainers(scope)}}`

/**
 * Renders the label matchers of a scope, whose containers are alternatives of one pattern.
 * @param {Scope} scope
 */
const matchContainers = ({ namespace, containers }) => `namespace="${namespace}", container=~"${containers.join('|')}"`
