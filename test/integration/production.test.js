import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { cli } from '../fakes/cli.js'
import { makeFolder } from '../fakes/scratch.js'
import { RANGE_SECONDS, startRecorded } from '../real/production.js'
import { needProgram } from '../real/prometheus.js'

// Sidecars of several meshes in a real Prometheus, whose numbers are worked out here by hand.
const folder = makeFolder('production-test')
const MIB = 2 ** 20
const RANGE = `${RANGE_SECONDS / 3600}h`
const RATIOS = 'test/fixtures/runs/load'

/** @type {Awaited<ReturnType<typeof startRecorded>>} */
let recorded

beforeEach(async function start(context) {
  const prometheus = await needProgram(context, 'prometheus')
  const promtool = await needProgram(context, 'promtool')
  recorded ??= await startRecorded({ prometheus, promtool, folder, mostSeconds: 120 })
})
afterAll(() => recorded?.stop())

/** @param {string[]} words */
const size = (...words) => cli('size', '--from-prometheus', recorded.address, '--for', RANGE, ...words)

/** @param {string[]} words @returns {Promise<Record<string, any>>} workloads by name, and the rest */
async function readJson(...words) {
  const { stdout, stderr } = await size(...words, '--json')
  expect(stderr).toBe('')
  const { workloads, ...rest } = JSON.parse(stdout)
  return { ...rest, ...Object.fromEntries(workloads.map((/** @type {any} */ one) => [one.workload.name, one])) }
}

describe('size --from-prometheus', () => {
  it('computes what sidecars of two replicas of Prometheus used, once', async () => {
    const { cart, orders, images, users, scrapeSeconds, rateSeconds } = await readJson('--namespace', 'shop')
    expect({ scrapeSeconds, rateSeconds }).toEqual({ scrapeSeconds: 30, rateSeconds: 120 })

    // 90m for a tenth of the time: the 95th percentile; 1.15 of it; the limit is 1.5 times the limit that throttles.
    expect(cart).toMatchObject({ container: 'istio-proxy', pods: 2, podsSeen: 3, state: 'throttled' })
    expect(cart.p95Cores).toBeCloseTo(0.09, 6)
    expect(cart.computed.requestCores).toBeCloseTo(1.15 * 0.09, 6)
    expect(cart.computed.limitCores).toBeCloseTo(1.5 * 0.1, 6)
    expect(cart.throttledFraction).toBeCloseTo(0.12, 6)
    // 50m, and 90m in a tenth: 54m; 40m, with a counter that began again; 47m for an hour: 47m on average, within 1 %.
    expect(cart.meanCores / 0.047).toBeCloseTo(1, 2)
    // 120/s, with what it sends, and 80/s; 470 µs.
    expect(cart.requestsPerSecond).toBeCloseTo(100, 6)
    expect(cart.cpuPerRequestMicros / 470).toBeCloseTo(1, 2)
    // The one scrape of 80 MiB.
    expect(cart.memoryBytes).toBe(80 * MIB)
    expect(cart.computed.bytes).toBeCloseTo(1.15 * 80 * MIB, 0)
    // What is set is that of pods that run, and not that of the revision before.
    expect(cart.set).toEqual({
      request: { cores: 0.1, bytes: 128 * MIB },
      limit: { cores: 0.1, bytes: 128 * MIB },
    })

    expect(orders).toMatchObject({ container: 'linkerd-proxy', state: 'near-memory-limit', throttledFraction: null })
    expect(orders.cpuPerRequestMicros).toBeCloseTo(200, 1)
    expect(orders.set.limit.cores).toBeNull()

    // 4m are below the least request: 10m; 500m are 50 times that. Admin requests of Envoy are none of the load.
    expect(images).toMatchObject({ state: 'too-large', workload: { kind: 'StatefulSet', isByOwner: true } })
    expect(images.computed).toMatchObject({ requestCores: 0.01, limitCores: 0.1 })
    expect(images.timesTooLarge).toBeCloseTo(50, 6)
    expect(images.requestsPerSecond).toBeCloseTo(10, 6)
    expect(images.cpuPerRequestMicros / 400).toBeCloseTo(1, 2)

    expect(users).toMatchObject({ container: 'sidecar', state: 'fits', workload: { kind: 'pods', isByOwner: false } })
    expect(users.cpuPerRequestMicros).toBeCloseTo(1500, 0)
  })

  it('counts the CPU of requests while these are counted, once, and for the container that counts them', async () => {
    const { workloads } = JSON.parse((await size('--namespace', 'edge', '--json')).stdout)
    const find = (/** @type {string} */ name, /** @type {string} */ container) =>
      workloads.find((/** @type {any} */ one) => one.workload.name === name && one.container === container)
    const late = find('late', 'istio-proxy')
    // 5m for two hours and 50m for one: 20m; 100/s in the last hour alone.
    expect(late.meanCores / 0.02).toBeCloseTo(1, 1)
    expect(late.requestsPerSecond / 100).toBeCloseTo(1, 1)
    expect(late.cpuPerRequestMicros / 500).toBeCloseTo(1, 1)
    expect(find('late', 'sidecar').requestsPerSecond).toBeNull()
    expect(find('changed', 'istio-proxy').set.limit.cores).toBe(0.5)
  })

  it('computes what promtool computes from one replica alone', async () => {
    const { cart } = await readJson('--namespace', 'shop')
    const busiest = 'pod="cart-6d4f8b9c7d-x2x4z", container="istio-proxy"'
    const rate = `sum(rate(container_cpu_usage_seconds_total{prometheus_replica="a", ${busiest}}[2m]))`
    expect(cart.p95Cores).toBeCloseTo(await recorded.ask(`quantile_over_time(0.95, (${rate})[${RANGE}:1m])`), 6)
    expect(cart.peakCores).toBeCloseTo(await recorded.ask(`max_over_time((${rate})[${RANGE}:1m])`), 6)
    const memory = `container_memory_working_set_bytes{prometheus_replica="a", ${busiest}}`
    expect(cart.memoryBytes).toBe(await recorded.ask(`max(max_over_time(${memory}[${RANGE}]))`))
    // Both replicas are there: their plain sum is twice as much.
    const both = rate.replace('prometheus_replica="a", ', '')
    expect(await recorded.ask(`quantile_over_time(0.95, (${both})[${RANGE}:1m])`)).toBeCloseTo(2 * cart.p95Cores, 6)
  })

  it('answers on a screen, with those first that are throttled or too large', async () => {
    const { stdout, exitCode } = await size('--namespace', 'shop')
    expect(exitCode).toBe(0)
    const lines = stdout.split('\n')
    expect(lines.length).toBeLessThanOrEqual(16)
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(100)
    const [cart, orders, images, users] = ['cart', 'orders', 'images', 'users'].map(name =>
      lines.findIndex(line => line.startsWith(`  ${name} `)),
    )
    expect([cart, orders, images, users]).toEqual([3, 4, 5, 6])
    expect(lines[cart].split(/ {2,}/).slice(2)).toEqual([
      'throttled 12 %',
      expect.stringMatching(/^4(69|70)$/),
      ...['100m → 104m', '128Mi → 92Mi', '100m → 150m'],
    ])
    expect(stdout).toContain('Of 4 workloads, 1 throttled, 1 near their memory limit, 1 at least ten times too large.')
    // 2 × 100m + 20m + 500m + 40m; 2 × 103.5m + 23m + 10m + 34.5m.
    expect(stdout).toContain('5 sidecars request 0.76 cores and 0.84 GiB; computed: 0.27 cores and 0.29 GiB.')
    expect(stdout).toMatch(/Workloads by kube-state-metrics, 1 by names of\s+pods/)
    const { stdout: details } = await size('--namespace', 'shop', '--details')
    expect(details).toContain('2 of 3')
    expect(details).toContain('Requests by response_total (Linkerd).')
  })

  it('estimates another plane by the ratios of a run, and names its node', async () => {
    const { stdout } = await size('--namespace', 'shop', '--plane', 'pipy', '--ratios', RATIOS)
    expect(stdout.split('\n').length).toBeLessThanOrEqual(16)
    // 0.5528 of 103.5m, and 0.2029 of 92 MiB.
    expect(stdout).toMatch(/ {2}cart .*58m, 19Mi/)
    expect(stdout).toMatch(/ {2}orders .* 20m → 23m +- /)
    expect(stdout).toContain('With pipy, an estimate: 0.12 cores and 0.04 GiB instead of 0.22 cores and 0.20 GiB')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      `pipy to envoy on AMD EPYC, 2 CPUs (${RATIOS}; ratings, 1 sidecar, plaintext, POST 1 KiB, echoed, 5 users, CPU limit 0.25), not under this load: CPU per request 0.55 (no interval), memory 0.20 (rss)`,
    )
  })

  it('says in its details why a container has no ratios', async () => {
    const { stdout } = await size('--namespace', 'shop', '--plane', 'pipy', '--ratios', RATIOS, '--details')
    expect(stdout).toContain('none that stands for linkerd-proxy (linkerd:deployed, linkerd)')
  })

  it('prints resources and rows', async () => {
    const { stdout: yaml } = await size('--namespace', 'shop', '--format', 'yaml')
    expect(yaml).toContain(
      '# StatefulSet/images, container istio-proxy: 50 times too large\nresources:\n  requests:\n    cpu: 10m',
    )
    const { stdout: csv } = await size('--namespace', 'shop', '--format', 'csv')
    const [head, first] = csv.split('\r\n').map(line => line.split(','))
    expect(first[head.indexOf('workload')]).toBe('cart')
    expect(Number(first[head.indexOf('computedMemoryBytes')])).toBeCloseTo(1.15 * 80 * MIB, 0)
  })

  it('says which metrics are missing, and what is not known without them', async () => {
    const { stdout, exitCode } = await size('--namespace', 'bare')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('No container_memory_working_set_bytes of these sidecars: no memory is computed.')
    expect(stdout).toContain(
      'No kube_pod_container_resource_requests of these sidecars: what is set today is not known.',
    )
    expect(stdout).toContain('No counter of requests of these pods is scraped: no CPU per request.')
    expect(stdout).toMatch(/ {2}web +fits +- +58m/)
    expect(stdout).toContain('Workloads by names of pods.')
  })

  it('takes longer averages if scrapes are rarer', async () => {
    const { web, scrapeSeconds, rateSeconds } = await readJson('--namespace', 'slow')
    expect({ scrapeSeconds, rateSeconds }).toEqual({ scrapeSeconds: 60, rateSeconds: 240 })
    expect(web.meanCores).toBeCloseTo(0.05, 6)
  })

  it('says when there is less data than requested', async () => {
    const { stdout } = await cli('size', '--from-prometheus', recorded.address, '--namespace', 'shop')
    expect(stdout).toMatch(/! Only [34] h of the 7d are there/)
  })

  it.for([
    [
      'an unknown namespace',
      ['--namespace', 'shopp'],
      'knows no container of the namespace shopp; it has bare, edge, shop, slow',
    ],
    [
      'containers that are not there',
      ['--namespace', 'shop', '--container', 'envoy'],
      'no container of the namespace shop is named envoy; there are cart, istio-proxy, linkerd-proxy, sidecar',
    ],
  ])('names what there is instead of %s', async ([, words, message]) => {
    const { stderr, stdout, exitCode } = await size(.../** @type {string[]} */ (words))
    expect(stderr).toContain(message)
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 })
  })
})
