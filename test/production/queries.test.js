import { describe, expect, it } from 'vitest'
import { REQUEST_COUNTERS, renderRequestQueries, renderStateQueries } from '../../src/production/queries.js'

const scope = { namespace: 'shop', containers: ['istio-proxy'], seconds: 600 }
const intervals = { scrapeSeconds: 30, rateSeconds: 120, stepSeconds: 60 }

describe('the queries of requests', () => {
  const counter = REQUEST_COUNTERS[0]
  const CPU =
    'max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace="shop", container=~"istio-proxy"}[120s]))'

  it('count a sidecar once that two jobs scrape, with its CPU at the same points', () => {
    const labels = { namespace: 'namespace', pod: 'pod' }
    const requests =
      'sum by (pod) (max without (prometheus_replica, prometheus, replica, receive_replica, job, instance, endpoint, service, container) (rate(istio_requests_total{namespace="shop", pod!=""}[120s])))'
    expect(renderRequestQueries({ counter, labels, scope, intervals })).toEqual({
      perSecond: `avg_over_time((${requests} and on (pod) ${CPU})[600s:60s])`,
      cores: `avg_over_time((${CPU} and on (pod) ${requests})[600s:60s])`,
      points: `count_over_time((${CPU} and on (pod) ${requests})[600s:60s])`,
    })
  })

  it('find pods under the label that their job gives them', () => {
    const labels = { namespace: 'source_namespace', pod: 'source_pod_name' }
    const { cores } = renderRequestQueries({ counter, labels, scope, intervals })
    expect(cores).toContain('[120s])), "pod", "$1", "source_pod_name", "(.+)"))')
    expect(cores).toContain('{source_namespace="shop", source_pod_name!=""}')
  })
})

describe('the queries of what is set', () => {
  it('take the values of now, and those of before only for pods that do not run', () => {
    const metric =
      '{__name__=~"kube_pod_(init_)?container_resource_limits", namespace="shop", container=~"istio-proxy"}'
    expect(renderStateQueries(scope).limits).toBe(
      `max by (namespace, pod, container, resource) (${metric}) or (max by (namespace, pod, container, resource) (last_over_time(${metric}[600s])) unless on (namespace, pod, container) container_cpu_usage_seconds_total{namespace="shop", container=~"istio-proxy"})`,
    )
  })
})
