import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/lib/errors.js'
import { computeQueryIntervals } from '../../src/production/queries.js'
import { findRatios, scaleSize } from '../../src/production/ratios.js'
import { computeWorkloadSizes } from '../../src/production/workload-size.js'
import { createWorkloadFinder, parsePodName } from '../../src/production/workloads.js'

/** @import { ContainerUse } from '../../src/production/read-production.js' */

const MIB = 2 ** 20
const NOTHING = { cores: null, bytes: null }
const finder = createWorkloadFinder({ podOwners: [], replicaSetOwners: [] })

/** @param {string} pod @param {Partial<ContainerUse>} [use] @returns {ContainerUse} */
const createUse = (pod, use) => ({
  pod,
  container: 'istio-proxy',
  meanCores: 0.02,
  p95Cores: 0.04,
  peakCores: 0.1,
  seconds: 7 * 86_400,
  throttledFraction: null,
  memoryBytes: 100 * MIB,
  isRunning: true,
  counted: null,
  requests: NOTHING,
  limits: NOTHING,
  ...use,
})

/** @param {ContainerUse[]} containers */
const compute = (...containers) => computeWorkloadSizes(/** @type {any} */ ({ containers, findWorkload: finder }))

describe('requests and limits of a workload', () => {
  it('have room above the busiest and the largest pod', () => {
    const [{ computed, pods }] = compute(
      createUse('web-0', { p95Cores: 0.02, memoryBytes: 120 * MIB }),
      createUse('web-1', { p95Cores: 0.06, peakCores: 0.2 }),
    )
    expect(pods).toBe(2)
    expect(computed.requestCores).toBeCloseTo(1.15 * 0.06, 9)
    expect(computed.limitCores).toBeCloseTo(1.5 * 0.2, 9)
    expect(computed.bytes).toBeCloseTo(1.15 * 120 * MIB, 6)
  })

  it('are no less than a sidecar needs for one burst', () => {
    const [{ computed }] = compute(createUse('web-0', { p95Cores: 0.001, peakCores: 0.002 }))
    expect(computed).toMatchObject({ requestCores: 0.01, limitCores: 0.1 })
  })

  it('go above the limit that throttles, at any usage', () => {
    const throttled = { throttledFraction: 0.05, peakCores: 0.1, limits: { cores: 0.2, bytes: null } }
    const [{ computed, state, why }] = compute(createUse('web-0', throttled))
    expect(computed.limitCores).toBeCloseTo(0.3, 9)
    expect({ state, why }).toEqual({ state: 'throttled', why: 'throttled in 5 % of its periods' })
    expect(compute(createUse('web-0', { ...throttled, throttledFraction: 0.009 }))[0].state).toBe('fits')
  })

  it('are not raised by the throttling of a pod that is gone, under another limit', () => {
    const [{ computed, state, throttledFraction }] = compute(
      createUse('web-0', { peakCores: 0.15, throttledFraction: 0, limits: { cores: 2, bytes: null } }),
      createUse('web-1', { isRunning: false, throttledFraction: 0.4, limits: { cores: 0.1, bytes: null } }),
    )
    expect({ state, throttledFraction }).toEqual({ state: 'fits', throttledFraction: 0 })
    expect(computed.limitCores).toBeCloseTo(0.225, 9)
  })

  it('take the percentile from pods that lasted, and from all only if none did', () => {
    const lasting = Array.from({ length: 20 }, (_, i) => createUse(`web-${i}`, { p95Cores: 0.03 }))
    const failed = createUse('web-20', { p95Cores: 0.8, seconds: 120, isRunning: false })
    const [{ p95Cores, computed }] = compute(...lasting, failed)
    expect(p95Cores).toBe(0.03)
    expect(computed.requestCores).toBeCloseTo(1.15 * 0.03, 9)
    expect(compute(failed, createUse('web-0', { p95Cores: 0.03, seconds: 600 }))[0].p95Cores).toBe(0.8)
  })

  it('weigh the pods by the time that they were seen, and their requests by the time that these were counted', () => {
    const [{ meanCores, requestsPerSecond, cpuPerRequestMicros }] = compute(
      createUse('web-0', {
        meanCores: 0.1,
        seconds: 3 * 7200,
        counted: { perSecond: 200, cores: 0.1, seconds: 3 * 60 },
      }),
      createUse('web-1', { meanCores: 0.02, seconds: 7200, counted: { perSecond: 40, cores: 0.02, seconds: 60 } }),
      createUse('web-2', { meanCores: 0.08, seconds: 4 * 7200 }),
    )
    expect(meanCores).toBeCloseTo((3 * 0.1 + 0.02 + 4 * 0.08) / 8, 9)
    expect(requestsPerSecond).toBeCloseTo(160, 9)
    // Of the pods whose requests are counted: 0.08 cores at 160/s.
    expect(cpuPerRequestMicros).toBeCloseTo(500, 6)
  })

  it('have the CPU per request of the time with requests, after an idle week', () => {
    const counted = { perSecond: 100, cores: 0.05, seconds: 3600 }
    const meanCores = (0.005 * 7 * 24 + 0.05) / (7 * 24 + 1)
    const [{ cpuPerRequestMicros }] = compute(createUse('web-0', { meanCores, counted }))
    expect(cpuPerRequestMicros).toBeCloseTo(500, 9)
  })

  it('have no CPU per request if nothing was requested', () => {
    const counted = { perSecond: 0, cores: 0.01, seconds: 7200 }
    expect(compute(createUse('web-0', { counted }))[0].cpuPerRequestMicros).toBeNull()
  })

  it('come in the order of what needs a change', () => {
    const request = (/** @type {number} */ cores) => ({ requests: { cores, bytes: null } })
    const sizes = compute(
      createUse('fits-0'),
      createUse('young-0', { seconds: 600 }),
      createUse('large-0', request(0.5)),
      createUse('larger-0', request(2)),
      createUse('full-0', { limits: { cores: null, bytes: 110 * MIB } }),
      createUse('slowed-0', { throttledFraction: 0.1 }),
      createUse('slower-0', { throttledFraction: 0.2 }),
    )
    expect(sizes.map(({ workload, why }) => [workload.name, why])).toEqual([
      ['slower', 'throttled in 20 % of its periods'],
      ['slowed', 'throttled in 10 % of its periods'],
      ['full', 'memory at 91 % of its limit'],
      ['larger', '43 times too large'],
      ['large', '11 times too large'],
      ['young', 'only 10 min of data'],
      ['fits', ''],
    ])
  })
})

describe('the workload of a pod', () => {
  it.for([
    ['cart-6d4f8b9c7d-x2x4z', 'cart'],
    ['cart-v2-5c6d7b8f9-zzzzz', 'cart-v2'],
    ['images-10', 'images'],
    ['agent-x7k2b', 'agent'],
    ['lonely', 'lonely'],
    // No suffix of a controller has vowels.
    ['front-gateway', 'front-gateway'],
  ])('is cut from %s', ([pod, name]) => {
    expect(parsePodName(pod)).toEqual({ name, kind: 'pods', isByOwner: false })
  })

  it('is what kube-state-metrics says, if it says it', () => {
    const ownerOf = (/** @type {string} */ pod, /** @type {string} */ kind, /** @type {string} */ name) => ({
      labels: { pod, owner_kind: kind, owner_name: name },
      value: 1,
    })
    const find = createWorkloadFinder({
      podOwners: [
        ownerOf('a', 'ReplicaSet', 'front-gateway-abc'),
        ownerOf('b', 'ReplicaSet', 'canary-5c6d'),
        ownerOf('c', 'Job', 'nightly-29123456'),
        ownerOf('web-0', '<none>', '<none>'),
      ],
      replicaSetOwners: [
        { labels: { replicaset: 'canary-5c6d', owner_kind: 'Rollout', owner_name: 'canary' }, value: 1 },
      ],
    })
    expect(['a', 'b', 'c', 'web-0'].map(find)).toEqual([
      { name: 'front-gateway', kind: 'ReplicaSet', isByOwner: true },
      { name: 'canary', kind: 'Rollout', isByOwner: true },
      { name: 'nightly', kind: 'Job', isByOwner: true },
      { name: 'web', kind: 'pods', isByOwner: false },
    ])
  })
})

describe('the lengths of averages', () => {
  it.for([
    [null, { scrapeSeconds: 30, rateSeconds: 120, stepSeconds: 60 }],
    [0, { scrapeSeconds: 30, rateSeconds: 120, stepSeconds: 60 }],
    [80, { scrapeSeconds: 15, rateSeconds: 120, stepSeconds: 60 }],
    [39, { scrapeSeconds: 30, rateSeconds: 120, stepSeconds: 60 }],
    [20, { scrapeSeconds: 60, rateSeconds: 240, stepSeconds: 60 }],
    [10, { scrapeSeconds: 120, rateSeconds: 480, stepSeconds: 120 }],
  ])('suit %s samples in twenty minutes', ([samples, steps]) => {
    expect(computeQueryIntervals(/** @type {number | null} */ (samples))).toEqual(steps)
  })
})

describe('the ratios of another plane', () => {
  const machine = { cpuModel: 'ARM', cpus: 4 }
  const arm = (/** @type {string} */ plane, profile = null) => ({
    ...{ plane, profile, hasSidecars: true, repeatOf: null, link: 'hop', sidecars: [{}, {}] },
  })
  const mtls = { tls: 'ecdsa-p256', protocol: 'http/1.1', features: 'lean' }
  /** @param {string} a @param {string} b @param {string} quantity @param {number[]} ratio @param {string} [kind] */
  const comparison = (a, b, quantity, [low, median, high], kind = 'closed') => ({
    ...{ a, b, quantity, service: null, isControl: false, ratio: { low, median, high }, verdict: 'higher' },
    ...{ link: 'hop', cpuLimitCores: null, load: { kind, users: 5, payloadBytes: 1024 }, conditions: mtls },
  })
  const compared = [
    comparison('envoy', 'pipy', 'cpuPerRequest', [1, 1.1, 1.2]),
    comparison('envoy', 'pipy', 'cpuPerRequest', [2, 2.5, 4], 'interleaved'),
    comparison('envoy', 'pipy', 'rss', [4, 5, 8]),
  ]
  const summaryOf = (/** @type {object[]} */ comparisons) => {
    const arms = [arm('pipy'), arm('envoy'), { ...arm('none'), hasSidecars: false }]
    return /** @type {any} */ ({ machine, results: [{ arms, comparisons }] })
  }
  const summary = summaryOf(compared)
  const options = { container: 'istio-proxy', plane: 'pipy', folder: 'results/a' }
  const CONDITIONS = 'hop, 2 sidecars, mTLS, POST 1 KiB, echoed, 5 users'

  it('are converted to the requested plane, of interleaved arms first', () => {
    expect(findRatios(summary, options)).toEqual({
      ...{ plane: 'pipy', from: 'envoy', node: 'ARM, 4 CPUs', folder: 'results/a' },
      cpu: { median: 0.4, low: 0.25, high: 0.5, of: 'cpuPerRequest', conditions: CONDITIONS },
      memory: { median: 0.2, low: 0.125, high: 0.25, of: 'rss', conditions: CONDITIONS },
    })
  })

  it('are of a valid comparison, and of mTLS before plaintext', () => {
    const cpu = (/** @type {number} */ median, change = {}) => ({
      ...comparison('pipy', 'envoy', 'cpuPerRequest', [median, median, median], 'interleaved'),
      ...change,
    })
    const plaintext = { conditions: { ...mtls, tls: 'plaintext' } }
    const find = (/** @type {object[]} */ ...comparisons) => findRatios(summaryOf(comparisons), options)?.cpu
    const invalid = cpu(0.1, { verdict: 'invalid' })
    expect(find(invalid, cpu(0.2, plaintext), cpu(0.3, { cpuLimitCores: 0.5 }))).toMatchObject({
      median: 0.3,
      conditions: `${CONDITIONS}, CPU limit 0.5`,
    })
    expect(find(invalid, cpu(0.2, plaintext))).toMatchObject({
      median: 0.2,
      conditions: CONDITIONS.replace('mTLS', 'plaintext'),
    })
    expect(() => find(invalid)).toThrow('CPU per request of pipy and envoy could not be compared')
  })

  it('scale what was computed', () => {
    const [size] = compute(createUse('web-0'))
    const scaled = scaleSize(size, /** @type {any} */ (findRatios(summary, options)))
    expect(scaled.requestCores).toBeCloseTo(0.4 * 1.15 * 0.04, 9)
    expect(scaled.limitCores).toBeCloseTo(0.4 * 1.5 * 0.1, 9)
    expect(scaled.bytes).toBeCloseTo(0.2 * 1.15 * 100 * MIB, 6)
  })

  it('are not computed for the plane that runs already', () => {
    expect(findRatios(summary, { ...options, plane: 'envoy' })).toBeNull()
  })

  it.for([
    [{ container: 'kuma-sidecar' }, 'no plane of the kit is the container kuma-sidecar'],
    [{ container: 'linkerd-proxy' }, 'none that stands for linkerd-proxy (linkerd:deployed, linkerd)'],
    [{ plane: 'nginx' }, 'it measured pipy, envoy, and not nginx: measure both, such as bench --planes nginx,envoy'],
  ])('are refused without a comparison: %s', ([change, message]) => {
    expect(() => findRatios(summary, { ...options, .../** @type {object} */ (change) })).toThrow(UsageError)
    expect(() => findRatios(summary, { ...options, .../** @type {object} */ (change) })).toThrow(`${message}`)
  })
})
