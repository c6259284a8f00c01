import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { waitForCondition } from '../../src/lib/wait.js'
import { findFreePort } from './prometheus.js'

/**
 * A real Prometheus that holds a recorded past: two replicas that scraped every 30 s, the second 15 s after the first.
 */

const SCRAPE_SECONDS = 30
const MIB = 2 ** 20
/** Beyond the range that tests ask for. */
const SECONDS = 3.5 * 3600
export const RANGE_SECONDS = 3 * 3600

/** @typedef {{ name: string, labels: Record<string, string>, value: (t: number) => number | null, everySeconds?: number }} Series value: at seconds since the begin; null: no sample */

/** A counter that grows at some rates. @param {(t: number) => number} rateAt each second */
function counter(rateAt) {
  const sums = [0]
  for (let t = 1; t <= SECONDS + SCRAPE_SECONDS; t++) sums.push(sums[t - 1] + rateAt(t))
  return (/** @type {number} */ t) => sums[Math.round(t)]
}

/** A counter that begins again at 0. @param {number} rate @param {number} at */
const reset = (rate, at) => (/** @type {number} */ t) => rate * (t < at ? t : t - at)

/**
 * @typedef {object} Sidecar
 * @property {string} pod
 * @property {string} container
 * @property {string} [namespace]
 * @property {(t: number) => number | null} cpu seconds
 * @property {(t: number) => number | null} [memory] bytes
 * @property {number} [throttled] share of its periods
 * @property {Record<string, [number, number | null]>} [set] request and limit by resource
 * @property {[kind: string, name: string]} [owner]
 * @property {string} [id] of the container: another after a restart
 * @property {number} [everySeconds]
 */

/** @param {Sidecar} sidecar @returns {Series[]} */
function listSeries({
  pod,
  container,
  namespace = 'shop',
  cpu,
  memory,
  throttled,
  set = {},
  owner,
  id = '/1',
  everySeconds,
}) {
  const labels = { namespace, pod, container, id }
  const alive = (/** @type {(t: number) => number} */ value) => (/** @type {number} */ t) =>
    cpu(t) === null ? null : value(t)
  const state = { namespace, pod, container }
  return [
    { name: 'container_cpu_usage_seconds_total', labels, value: cpu, everySeconds },
    ...(memory ? [{ name: 'container_memory_working_set_bytes', labels, value: memory }] : []),
    ...(throttled === undefined
      ? []
      : [
          { name: 'container_cpu_cfs_periods_total', labels, value: alive(t => 10 * t) },
          { name: 'container_cpu_cfs_throttled_periods_total', labels, value: alive(t => 10 * throttled * t) },
        ]),
    ...Object.entries(set).flatMap(([resource, [request, limit]]) => [
      { name: 'kube_pod_container_resource_requests', labels: { ...state, resource }, value: alive(() => request) },
      ...(limit === null
        ? []
        : [{ name: 'kube_pod_container_resource_limits', labels: { ...state, resource }, value: alive(() => limit) }]),
    ]),
    ...(owner
      ? [
          {
            name: 'kube_pod_owner',
            labels: { namespace, pod, owner_kind: owner[0], owner_name: owner[1] },
            value: alive(() => 1),
          },
        ]
      : []),
  ]
}

const begin = SECONDS - RANGE_SECONDS
const constant = (/** @type {number} */ value) => () => value

/** The sidecars and their requests: the numbers are worked out in production.test.js. @type {Series[]} */
const SERIES = [
  // A tenth of the time at 90m; the memory of one scrape alone is the highest.
  ...listSeries({
    pod: 'cart-6d4f8b9c7d-x2x4z',
    container: 'istio-proxy',
    cpu: counter(t => (t > SECONDS - RANGE_SECONDS / 10 ? 0.09 : 0.05)),
    memory: t => (Math.floor((t - begin) / SCRAPE_SECONDS) === 100 ? 80 : 60) * MIB,
    throttled: 0.12,
    set: { cpu: [0.1, 0.1], memory: [128 * MIB, 128 * MIB] },
    owner: ['ReplicaSet', 'cart-6d4f8b9c7d'],
  }),
  // Its counter begins again in place.
  ...listSeries({
    pod: 'cart-6d4f8b9c7d-b7k9m',
    container: 'istio-proxy',
    cpu: reset(0.04, SECONDS / 2),
    memory: constant(50 * MIB),
    throttled: 0.02,
    set: { cpu: [0.1, 0.1], memory: [128 * MIB, 128 * MIB] },
    owner: ['ReplicaSet', 'cart-6d4f8b9c7d'],
  }),
  // Of the revision before: it ended an hour after the range began.
  ...listSeries({
    pod: 'cart-5c6d7b8f9-zzzzz',
    container: 'istio-proxy',
    cpu: t => (t < begin + 3600 ? 0.047 * t : null),
    memory: t => (t < begin + 3600 ? 40 * MIB : null),
    set: { cpu: [0.3, 0.3] },
    owner: ['ReplicaSet', 'cart-5c6d7b8f9'],
  }),
  ...['cart-6d4f8b9c7d', 'cart-5c6d7b8f9'].map(replicaset => ({
    name: 'kube_replicaset_owner',
    labels: { namespace: 'shop', replicaset, owner_kind: 'Deployment', owner_name: 'cart' },
    value: constant(1),
  })),
  ...[
    { pod: 'cart-6d4f8b9c7d-x2x4z', reporter: 'destination', code: '200', rate: 90 },
    { pod: 'cart-6d4f8b9c7d-x2x4z', reporter: 'destination', code: '503', rate: 10 },
    { pod: 'cart-6d4f8b9c7d-x2x4z', reporter: 'source', code: '200', rate: 20 },
    { pod: 'cart-6d4f8b9c7d-b7k9m', reporter: 'destination', code: '200', rate: 80 },
  ].map(({ pod, reporter, code, rate }) => ({
    name: 'istio_requests_total',
    labels: { namespace: 'shop', pod, reporter, response_code: code },
    value: (/** @type {number} */ t) => rate * t,
  })),
  // Envoy counts its requests beside Istio: they are not counted twice.
  {
    name: 'envoy_http_downstream_rq_total',
    labels: { namespace: 'shop', pod: 'cart-6d4f8b9c7d-b7k9m', envoy_http_conn_manager_prefix: 'inbound_8080' },
    value: t => 80 * t,
  },
  // A restart: another id, so another series.
  ...[0, 1].flatMap(i =>
    listSeries({
      pod: 'images-0',
      container: 'istio-proxy',
      id: `/${i}`,
      cpu: t => (t < SECONDS / 2 === (i === 0) ? 0.004 * (t - i * (SECONDS / 2)) : null),
      memory: t => (t < SECONDS / 2 === (i === 0) ? 20 * MIB : null),
      set: i === 0 ? {} : { cpu: [0.5, null], memory: [512 * MIB, 512 * MIB] },
      owner: ['StatefulSet', 'images'],
    }),
  ),
  ...[
    { prefix: 'inbound_8080', rate: 10 },
    { prefix: 'admin', rate: 5 },
  ].map(({ prefix, rate }) => ({
    name: 'envoy_http_downstream_rq_total',
    labels: { namespace: 'shop', pod: 'images-0', envoy_http_conn_manager_prefix: prefix },
    value: (/** @type {number} */ t) => rate * t,
  })),
  ...listSeries({
    pod: 'orders-7b8c9d6f5-k2k4k',
    container: 'linkerd-proxy',
    cpu: t => 0.02 * t,
    memory: constant(47 * MIB),
    set: { cpu: [0.02, null], memory: [50 * MIB, 50 * MIB] },
    owner: ['ReplicaSet', 'orders-7b8c9d6f5'],
  }),
  ...['inbound', 'outbound'].map(direction => ({
    name: 'response_total',
    labels: { namespace: 'shop', pod: 'orders-7b8c9d6f5-k2k4k', direction },
    value: (/** @type {number} */ t) => 50 * t,
  })),
  // No owner is known.
  ...listSeries({
    pod: 'users-7f9c8d6b5-q8w7z',
    container: 'sidecar',
    cpu: t => 0.03 * t,
    memory: constant(30 * MIB),
    set: { cpu: [0.04, 0.2], memory: [40 * MIB, 64 * MIB] },
  }),
  {
    name: 'sidecar_cluster_upstream_rq_total',
    labels: { source_namespace: 'shop', source_pod_name: 'users-7f9c8d6b5-q8w7z', sidecar_cluster_name: 'shop/users' },
    value: t => 20 * t,
  },
  // Metrics of CPU alone.
  ...listSeries({ namespace: 'bare', pod: 'web-0', container: 'istio-proxy', cpu: t => 0.05 * t }),
  // Scraped every 60 s.
  ...listSeries({ namespace: 'slow', pod: 'web-0', container: 'istio-proxy', cpu: t => 0.05 * t, everySeconds: 60 }),
  // Idle until the last hour, in which two jobs scrape its requests; another container is named as FSM's sidecar is.
  ...listSeries({
    namespace: 'edge',
    pod: 'late-0',
    container: 'istio-proxy',
    cpu: counter(t => (t > SECONDS - 3600 ? 0.05 : 0.005)),
  }),
  ...listSeries({ namespace: 'edge', pod: 'late-0', container: 'sidecar', cpu: t => 0.002 * t }),
  ...['istio-proxy', 'web'].map((scraped, i) => ({
    name: 'istio_requests_total',
    labels: {
      ...{ namespace: 'edge', pod: 'late-0', reporter: 'destination' },
      ...{ job: `job-${i}`, instance: `10.0.0.1:${15_020 + i}`, endpoint: `metrics-${i}`, container: scraped },
    },
    value: (/** @type {number} */ t) => (t > SECONDS - 3600 ? 100 * (t - SECONDS + 3600) : null),
  })),
  // A pod of a StatefulSet before a change of its limit, and after it.
  ...listSeries({ namespace: 'edge', pod: 'changed-0', container: 'istio-proxy', cpu: t => 0.05 * t }),
  ...[2, 0.5].map((cores, i) => ({
    name: 'kube_pod_container_resource_limits',
    labels: { namespace: 'edge', pod: 'changed-0', container: 'istio-proxy', resource: 'cpu', uid: `${i}` },
    value: (/** @type {number} */ t) => (t < SECONDS - 3600 === (i === 0) ? cores : null),
  })),
  ...listSeries({ pod: 'cart-6d4f8b9c7d-x2x4z', container: 'cart', cpu: t => 2 * t, memory: constant(900 * MIB) }),
]

/** @param {number} endSeconds of the wall clock */
function renderOpenMetrics(endSeconds) {
  const lines = []
  for (const [i, replica] of ['a', 'b'].entries()) {
    for (const { name, labels, value, everySeconds = SCRAPE_SECONDS } of SERIES) {
      const allLabels = { ...labels, prometheus_replica: replica }
      const text = Object.entries(allLabels).map(([key, word]) => `${key}="${word}"`)
      for (let t = i * 15; t <= SECONDS; t += everySeconds) {
        const number = value(t)
        if (number !== null) lines.push(`${name}{${text.join(',')}} ${number} ${endSeconds - SECONDS + t}`)
      }
    }
  }
  return `${lines.join('\n')}\n# EOF\n`
}

/**
 * @param {{ prometheus: string, promtool: string, folder: string, mostSeconds: number }} options
 */
export async function startRecorded({ prometheus, promtool, folder, mostSeconds }) {
  const past = path.join(folder, 'past.om')
  const tsdb = path.join(folder, 'tsdb')
  writeFileSync(past, renderOpenMetrics(30 * Math.floor(Date.now() / 30_000)))
  await execa(promtool, ['tsdb', 'create-blocks-from', 'openmetrics', past, tsdb])
  const file = path.join(folder, 'prometheus.yml')
  writeFileSync(file, 'scrape_configs: []\n')
  const address = `http://127.0.0.1:${await findFreePort()}`
  const argv = [`--config.file=${file}`, `--storage.tsdb.path=${tsdb}`, `--web.listen-address=${new URL(address).host}`]
  const running = execa(prometheus, argv, { reject: false, timeout: mostSeconds * 1000, all: true })
  const isReady = () =>
    fetch(`${address}/-/ready`, { signal: AbortSignal.timeout(1000) }).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitForCondition(isReady, { what: 'Prometheus', deadlineSeconds: 20, intervalMs: 100 })
  return {
    address,
    /** Asks promtool for the one value of an expression. @param {string} expression */
    async ask(expression) {
      const { stdout } = await execa(promtool, ['query', 'instant', address, expression])
      return Number(/=> (\S+) @/.exec(stdout)?.[1])
    },
    async stop() {
      running.kill()
      await running
    },
  }
}
