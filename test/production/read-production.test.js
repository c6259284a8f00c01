import { describe, expect, it } from 'vitest'
import { readSidecarUsage } from '../../src/production/read-production.js'

/** @import { Prometheus, Sample } from '../../src/production/prometheus.js' */

const POD = 'web-6d4f8b9c7d-x2x4z'

/** A Prometheus that answers queries that match; others have no answer. @param {[RegExp, Sample[]][]} answers */
const createPrometheus = answers =>
  /** @type {Prometheus} */ ({
    address: 'http://prometheus',
    warnings: new Set(),
    query: async expression => answers.find(([pattern]) => pattern.test(expression))?.[1] ?? [],
  })

/** @param {string} container @param {number} value @returns {Sample} */
const sampleOf = (container, value) => ({ labels: { namespace: 'shop', pod: POD, container }, value })

/** Reads two containers of one pod, of which Istio counts requests. @param {string[]} containers */
function readPod(...containers) {
  const ofContainers = (/** @type {number} */ value) => (/** @type {string} */ name) => sampleOf(name, value)
  const named = (/** @type {string} */ expression) => containers.filter(name => expression.includes(name))
  const prometheus = createPrometheus([
    [/^count by \(__name__\).* namespace=/, [{ labels: { __name__: 'istio_requests_total' }, value: 1 }]],
    [/^avg_over_time\(\(sum by \(pod\).*istio_requests_total/, [{ labels: { pod: POD }, value: 100 }]],
    [/^avg_over_time\(max by/, containers.map(ofContainers(0.005))],
  ])
  const { query } = prometheus
  return readSidecarUsage(
    {
      ...prometheus,
      query: async (expression, what) => {
        // The CPU at the points of requests, of the containers that are asked for.
        if (/^avg_over_time\(\(max by.*istio_requests_total/.test(expression))
          return named(expression).map(ofContainers(0.05))
        if (/^count_over_time\(\(max by.*istio_requests_total/.test(expression))
          return named(expression).map(ofContainers(60))
        return query(expression, what)
      },
    },
    { namespace: 'shop', containers, seconds: 7 * 86_400 },
  )
}

describe('requests of a pod', () => {
  it('are those of the container that counts them, and of no other', async () => {
    const { containers, counters } = await readPod('istio-proxy', 'sidecar')
    expect(containers.map(({ container, meanCores, counted }) => ({ container, meanCores, counted }))).toEqual([
      { container: 'istio-proxy', meanCores: 0.005, counted: { perSecond: 100, cores: 0.05, seconds: 3600 } },
      { container: 'sidecar', meanCores: 0.005, counted: null },
    ])
    expect(counters).toEqual([{ metric: 'istio_requests_total', origin: 'Istio' }])
  })

  it('are not known of a container that no counter belongs to', async () => {
    const { lacks } = await readPod('istio-proxy', 'router')
    expect(lacks.at(-1)).toMatch(/^No CPU per request of router: .* istio-proxy, linkerd-proxy, sidecar, envoy,/)
  })
})
