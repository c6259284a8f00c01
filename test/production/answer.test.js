import { describe, expect, it } from 'vitest'
import { createProductionAnswer } from '../../src/production/answer.js'
import { computeQueryIntervals } from '../../src/production/queries.js'
import { computeWorkloadSizes } from '../../src/production/workload-size.js'
import { createWorkloadFinder } from '../../src/production/workloads.js'
import { renderAnswerText } from '../../src/report/answer/text.js'

const MIB = 2 ** 20

/** Sidecars of many workloads, the first of which is throttled. @param {number} count */
function createProduction(count) {
  const containers = Array.from({ length: count }, (_, i) => ({
    ...{ pod: `a-service-with-a-name-as-long-as-teams-give-them-${i}-0`, container: 'istio-proxy' },
    ...{ meanCores: 0.02, p95Cores: 0.04, peakCores: 0.1, seconds: 7 * 86_400 },
    ...{ throttledFraction: i === 0 ? 0.2 : null, memoryBytes: 1000 * MIB, isRunning: true },
    ...{ counted: { perSecond: 100, cores: 0.02, seconds: 86_400 } },
    ...{ requests: { cores: 10, bytes: 20_000 * MIB }, limits: { cores: 20, bytes: 30_000 * MIB } },
  }))
  const findWorkload = createWorkloadFinder({ podOwners: [], replicaSetOwners: [] })
  const lacks = ['No counter of requests of these pods is scraped: no CPU per request.']
  return { containers, findWorkload, intervals: computeQueryIntervals(40), counters: [], lacks }
}

describe('the answer of sidecars that run already', () => {
  it.for([1, 4, 40, 400])('fits on a screen with %i workloads and another plane', many => {
    const production = createProduction(many)
    const sizes = computeWorkloadSizes(production)
    const ratio = {
      median: 0.5,
      low: 0.45,
      high: 0.55,
      of: 'cpuPerRequest',
      conditions: 'hop, 2 sidecars, mTLS, POST 1 KiB, echoed, 5 users',
    }
    const ratios = new Map([
      [
        'istio-proxy',
        {
          plane: 'pipy',
          from: 'envoy:istio',
          cpu: ratio,
          memory: ratio,
          node: 'AMD EPYC, 2 CPUs',
          folder: 'results/a-run',
        },
      ],
    ])
    const answer = createProductionAnswer({
      ...{ namespace: 'shop', range: '7d', seconds: 7 * 86_400, address: 'http://prometheus.monitoring.svc:9090' },
      ...{ production, sizes, plane: 'pipy', ratios, warnings: ['a warning of the server'] },
    })
    const lines = renderAnswerText(answer, { more: ['To paste: --format yaml'] }).split('\n')
    expect(lines.length).toBeLessThanOrEqual(16)
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(100)
    const text = lines.join(' ').replaceAll(/\s+/g, ' ')
    expect(text).toContain('throttled 20 %')
    expect(text).toContain('with pipy')
    expect(text).toContain('! No counter of requests')
    expect(text).toContain('(results/a-run; hop, 2 sidecars, mTLS, POST 1 KiB, echoed, 5 users), not under this load')
    expect(text).toContain('(95 % CI 0.45 to 0.55)')
    // 1.15 of 40m each, and half of that.
    const cores = (/** @type {number} */ each) => (many * each).toFixed(many * each < 10 ? 2 : 1)
    expect(text).toContain(`With pipy, an estimate: ${cores(0.023)} cores`)
    expect(text).toContain(`computed: ${cores(0.046)} cores`)
  })
})
