import dgram from 'node:dgram'
import { mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { waitForCondition } from '../../src/lib/wait.js'
import { startMetricsServer } from '../../src/live/metrics.js'
import { findOnPath } from '../../src/tools/find.js'
import { makeFolder } from '../fakes/scratch.js'
import { listDashboardQueries } from '../live/dashboard-queries.js'
import { ARMS, endTrial, plan, sample, startTrial } from '../live/fake-events.js'

const { TEST_KUBECONFIG = '', TEST_CLUSTER = '', PATH = '' } = process.env
const [prometheus, kubectl] = await Promise.all(['prometheus', 'kubectl'].map(name => findOnPath(name, PATH)))
const missing = [
  ...(TEST_KUBECONFIG ? [] : ['TEST_KUBECONFIG, the kubeconfig of a cluster that tests may change']),
  ...(TEST_CLUSTER ? [] : ['TEST_CLUSTER, the program that makes an image for it']),
  ...(prometheus ? [] : ['prometheus']),
  ...(kubectl ? [] : ['kubectl']),
]

const NAMESPACE = 'sidecar-bench-monitoring'
// Through the API server.
const SERVICE = `/api/v1/namespaces/${NAMESPACE}/services/prometheus:http/proxy`
const readme = readFileSync('k8s/monitoring/README.md', 'utf8')
// The Go module proxy does not have every version; this one it has.
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
const CRD = 'customresourcedefinition/scrapeconfigs.monitoring.coreos.com'
// A pod that does not come up is to be named by kubectl, not by the test's own limit.
const SLOW = { timeout: 90_000 }

// kustomize compares paths that have no links in them.
const scratch = realpathSync(makeFolder('kubernetes-monitoring'))
const kube = (/** @type {string[]} */ ...argv) =>
  execa(kubectl ?? 'kubectl', ['-n', NAMESPACE, ...argv], { env: { KUBECONFIG: TEST_KUBECONFIG }, timeout: 60_000 })
let isCrdOurs = false

beforeAll(async () => {
  if (missing.length > 0) return
  // The image has its program in /, and under its own name that is where the data are mounted.
  const program = path.join(scratch, 'prometheus-server')
  symlinkSync(`${prometheus}`, program)
  await execa(TEST_CLUSTER, ['image', 'prometheus', program])
  await applyWith({})
}, 120_000)

beforeEach(context => {
  if (missing.length > 0) context.skip(`needs ${missing.join(' and ')}`)
})

afterAll(async () => {
  if (missing.length > 0) return
  await kube('delete', '--ignore-not-found', `namespace/${NAMESPACE}`, ...(isCrdOurs ? [CRD] : []))
}, 90_000)

describe('k8s/monitoring on a cluster', () => {
  it('runs under restricted pod security, and scrapes nothing until a target is set', async () => {
    const other = await kube('run', 'other', '--image=localhost/prometheus:test', '--dry-run=server').catch(e => e)
    expect(other.stderr).toMatch(/violates PodSecurity "restricted/)
    const [{ metric, value }] = await askUntilAnswered('up')
    const [{ targets }] = parse(readFileSync('k8s/monitoring/prometheus.yml', 'utf8')).scrape_configs[0].static_configs
    expect([metric.instance, value[1]]).toEqual([targets[0], '0'])
  })

  it('has the dashboard where Grafana looks for it', async () => {
    const { stdout } = await kube('get', 'configmaps', '-l', 'grafana_dashboard=1', '-o', 'json')
    const dashboard = readFileSync('bench/monitoring/grafana-dashboard.json', 'utf8')
    expect(JSON.parse(stdout).items.map((/** @type {any} */ item) => item.data)).toEqual([
      { 'sidecar-bench.json': dashboard },
    ])
  })

  it(
    'starts again for another target, and answers every query of the dashboard while a run goes on',
    SLOW,
    async () => {
      const run = await startLiveRun()
      try {
        const pod = await findPod()
        await applyWith({ target: run.target })
        expect(await findPod()).not.toBe(pod)

        let silent = listDashboardQueries({ run: 'run-1' })
        const isAllAnswered = async () => {
          const answers = await Promise.all(silent.map(({ expression }) => ask(expression)))
          silent = silent.filter((_, i) => answers[i].length === 0)
          return silent.length === 0
        }
        // What is still silent then says more than that the time has passed.
        await waitForCondition(isAllAnswered, { what: 'series', deadlineSeconds: 30, intervalMs: 250 }).catch(() => {})
        expect(silent, `on ${run.target}: ${JSON.stringify(await ask('up'))}`).toEqual([])
        expect(await ask('up == 1')).toMatchObject([{ metric: { job: 'sidecar-bench', instance: run.target } }])
      } finally {
        await run.stop()
      }
    },
  )

  it('is reached by the name that is given to Grafana', SLOW, async () => {
    const [, target] = /`http:\/\/(\S+)` as a data source/.exec(readme) ?? []
    expect(target).toContain(`.${NAMESPACE}:`)
    // A pod of the cluster that asks by that name: Prometheus itself.
    await applyWith({ target })
    expect(await askUntilAnswered('up == 1')).toMatchObject([{ metric: { instance: target } }])
  })

  it('has a ScrapeConfig that the Prometheus Operator takes', async context => {
    const why = await createOperatorCrd()
    if (why !== null) return context.skip(why)
    const { stdout } = await kube('apply', '--dry-run=server', '-f', 'k8s/monitoring/scrape-config.yaml')
    expect(stdout).toMatch(/scrapeconfig\S*\/sidecar-bench created/)
  })

  it('goes by the command that its README names, with all that it had', async () => {
    const [, argv] = /`kubectl ([^`]+)` takes everything/.exec(readme) ?? []
    await kube(...argv.split(/\s/))
    expect((await kube('get', 'namespace', NAMESPACE, '--ignore-not-found', '-o', 'name')).stdout).toBe('')
    const ours = ['-l', 'app.kubernetes.io/part-of=sidecar-bench', '-o', 'name']
    expect((await kube('get', 'namespaces,deployments,services,configmaps', '-A', ...ours)).stdout).toBe('')
  })
})

/**
 * Applies k8s/monitoring with the test's image, as a kustomization of its own, and waits until it is served.
 * @param {{ target?: string }} options target: instead of the one that is nobody
 */
async function applyWith({ target }) {
  const folder = mkdtempSync(path.join(scratch, 'own-'))
  const kustomization = {
    ...{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', namespace: NAMESPACE },
    resources: [path.relative(folder, path.resolve('k8s/monitoring'))],
    images: [{ name: 'prom/prometheus', newName: 'localhost/prometheus', newTag: 'test' }],
  }
  if (target) {
    const config = parse(readFileSync('k8s/monitoring/prometheus.yml', 'utf8'))
    config.scrape_configs[0].static_configs[0].targets = [target]
    writeFileSync(path.join(folder, 'prometheus.yml'), stringify(config))
    const generator = { name: 'prometheus', behavior: 'replace', files: ['prometheus.yml'] }
    Object.assign(kustomization, { configMapGenerator: [generator] })
  }
  writeFileSync(path.join(folder, 'kustomization.yaml'), stringify(kustomization))
  await kube('apply', '-k', folder)
  await kube('rollout', 'status', 'deployment/prometheus', '--timeout=30s')
  // The Service takes a moment more to know of the pod.
  const isServed = () => succeeds(kube('get', '--raw', `${SERVICE}/-/ready`))
  await waitForCondition(isServed, { what: 'the Service', deadlineSeconds: 10, intervalMs: 250 })
}

/** @param {Promise<unknown>} promise */
const succeeds = promise =>
  promise.then(
    () => true,
    () => false,
  )

async function findPod() {
  return (await kube('get', 'pods', '-l', 'app.kubernetes.io/name=prometheus', '-o', 'name')).stdout
}

/**
 * What Prometheus answers, by its Service.
 * @param {string} expression
 * @returns {Promise<{ metric: Record<string, string>, value: [number, string] }[]>} its series
 */
async function ask(expression) {
  const { stdout } = await kube('get', '--raw', `${SERVICE}/api/v1/query?query=${encodeURIComponent(expression)}`)
  return JSON.parse(stdout).data.result
}

/** @param {string} expression */
async function askUntilAnswered(expression) {
  /** @type {Awaited<ReturnType<typeof ask>>} */
  let series = []
  const isAnswered = async () => {
    series = await ask(expression)
    return series.length > 0
  }
  await waitForCondition(isAnswered, { what: `series of ${expression}`, deadlineSeconds: 20, intervalMs: 250 })
  return series
}

/** A run whose second trial is in its window and goes on, served to the pods of the cluster. */
async function startLiveRun() {
  const { url, publish, close } = await startMetricsServer({
    address: { option: '--metrics', text: 'of the test', host: await findOwnAddress(), port: 0 },
  })
  const [, arm] = ARMS
  for (const event of [plan(), startTrial(arm), endTrial({ arm }), startTrial(arm)]) publish(event)
  publish({ kind: 'phase', phase: 'window', atMs: 0 })
  let seconds = 0
  const tick = () => {
    seconds += 0.1
    const reading = { cpuSeconds: seconds / 5, periods: 10 * seconds, throttledPeriods: 5 * seconds }
    publish(sample({ seconds, reading }))
    publish({ kind: 'counted', requests: 1000 * seconds, failed: 10 * seconds, atMs: 0 })
  }
  const ticking = setInterval(tick, 100)
  return {
    target: new URL(url).host,
    stop() {
      clearInterval(ticking)
      return close()
    },
  }
}

/** @returns {Promise<string>} the address of this machine that a node sees, and so the pods on it */
async function findOwnAddress() {
  const addresses = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}'
  const [node] = (await kube('get', 'nodes', '-o', addresses)).stdout.split(' ')
  const socket = dgram.createSocket(isIPv6(node) ? 'udp6' : 'udp4')
  try {
    // Nothing is sent: the system only chooses the way to the node, and with it the address.
    await new Promise((resolve, reject) => socket.on('error', reject).connect(9, node, () => resolve(null)))
    return socket.address().address
  } finally {
    socket.close()
  }
}

/** @returns {Promise<string | null>} why the cluster has no ScrapeConfig; null: it has */
async function createOperatorCrd() {
  if ((await kube('get', CRD, '--ignore-not-found')).stdout !== '') return null
  const go = await findOnPath('go', PATH)
  if (!go) return 'needs the Prometheus Operator in the cluster, or go to download its CustomResourceDefinition'
  const { stdout } = await execa(go, ['mod', 'download', '-json', OPERATOR], { cwd: scratch, reject: false })
  const { Dir, Error: why } = JSON.parse(stdout || '{ "Error": "go mod download printed nothing" }')
  if (!Dir) {
    return `needs the Prometheus Operator in the cluster, and its CustomResourceDefinition cannot be had: ${why}`
  }
  isCrdOurs = true
  const folder = path.join(Dir, 'example/prometheus-operator-crd')
  await kube('create', '-f', path.join(folder, 'monitoring.coreos.com_scrapeconfigs.yaml'))
  // A fresh definition has no conditions yet, and then kubectl does not wait for one.
  const isEstablished = () => succeeds(kube('wait', '--for=condition=Established', '--timeout=10s', CRD))
  await waitForCondition(isEstablished, { what: CRD, deadlineSeconds: 30, intervalMs: 250 })
  return null
}
