import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { adsTool } from '../../src/dataplanes/envoy/ads-control.js'
import { computeCpuPerRequestMicros, listSidecars } from '../../src/judge/record/measures.js'
import { createAuthority, issueCertificate } from '../../src/lib/certificates.js'
import { waitForCondition } from '../../src/lib/wait.js'
import { listArms } from '../../src/model/results.js'
import { readProcFile } from '../../src/node/kernel/proc-files.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { findTool } from '../../src/tools/find.js'
import { renderImageName } from '../../src/tools/image.js'
import { listen } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'
import { tools } from './real-tools.js'

const { TEST_KUBECONFIG: kubeconfig, TEST_CLUSTER: cluster } = process.env
const RUN_LABEL = 'app.kubernetes.io/managed-by=sidecar-bench'
const USER = 'sidecar-bench-test-user'
const scratch = makeFolder('kubernetes-test')
const images = ['pipy', 'envoy', 'k6', 'node'].flatMap(name => ['--image', `${name}=localhost/${name}:test`])
let runs = 0

beforeEach(context => {
  if (!kubeconfig) context.skip('needs a cluster: TEST_KUBECONFIG names none')
  const missing = Object.entries(tools).flatMap(([name, tool]) => (tool ? [] : [name]))
  if (missing.length > 0) context.skip(`needs ${missing.join(', ')}, which cannot be had here`)
})

/** @param {object} object @param {string[]} argv */
const kubectlWith = (object, ...argv) =>
  execa('kubectl', ['--kubeconfig', `${kubeconfig}`, ...argv, '-f', '-'], { input: JSON.stringify(object) })
const apply = (/** @type {object} */ object) => kubectlWith(object, 'apply')
const kubectl = (/** @type {string[]} */ ...argv) => execa('kubectl', ['--kubeconfig', `${kubeconfig}`, ...argv])

/**
 * Starts a run of the kit on the cluster.
 * @param {string[]} argv
 * @param {{ config?: string, verb?: string }} [options] config: of another user, or by another way
 */
function start(argv, { config = kubeconfig, verb = 'bench' } = {}) {
  const out = path.join(scratch, `run-${++runs}`)
  const ofRun = verb === 'bench' ? [...images, '--out', out] : []
  const args = ['src/cli.js', verb, '--target', 'kubernetes', ...ofRun, ...argv]
  const child = execa('node', args, { env: { KUBECONFIG: config }, reject: false })
  return { out, child }
}

const CAPACITY = 'capacity'
const smoke = ['--measure', 'capacity', '--cpu', '0.25', '--profile', 'smoke']

const listNamespaces = async () => (await kubectl('get', 'namespaces', '-l', RUN_LABEL, '-o', 'name')).stdout
const expectNothingLeft = async () => expect(await listNamespaces()).toBe('')

/** @param {string} text @param {string} name */
const saveConfig = (text, name) => {
  const file = path.join(scratch, name)
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** A kubeconfig of a user with the least that k8s/rbac.yaml names. @type {string} */
let leastConfig
/** A kubeconfig of a user who may do nothing. @type {string} */
let forbiddenConfig

beforeAll(async () => {
  if (!kubeconfig || !cluster || !tools.pipy || !tools.envoy || !tools.k6) return
  const programs = { pipy: tools.pipy.path, envoy: tools.envoy.path, k6: tools.k6.path, node: process.execPath }
  for (const [name, program] of Object.entries(programs)) await execa(cluster, ['image', name, program])
  await kubectl('apply', '-f', 'k8s/rbac.yaml')
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: USER } })
  for (const name of ['least', 'forbidden']) {
    await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: USER } })
  }
  await apply({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: USER } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'sidecar-bench' },
    subjects: [{ kind: 'ServiceAccount', name: 'least', namespace: USER }],
  })
  const config = parse(readFileSync(kubeconfig, 'utf8'))
  const configOf = async (/** @type {string} */ name) => {
    const { stdout: token } = await kubectl('create', 'token', name, '-n', USER)
    const users = [{ name: config.users[0].name, user: { token } }]
    return saveConfig(stringify({ ...config, users }), `${name}.yaml`)
  }
  leastConfig = await configOf('least')
  forbiddenConfig = await configOf('forbidden')
}, 120_000)

afterAll(async () => {
  if (kubeconfig) {
    await kubectl('delete', 'clusterrolebinding', USER, '--ignore-not-found')
    await kubectl('delete', 'namespace', USER, '--ignore-not-found')
    await kubectl('delete', '-f', 'k8s/rbac.yaml', '--ignore-not-found')
  }
}, 60_000)

describe('the cap experiment on a cluster', () => {
  it(
    'measures none, Pipy and Envoy with the least rights, side by side and at the caps, tries the planes, and leaves nothing',
    { timeout: 300_000 },
    async () => {
      const { out, child } = start(['--cpu', '0.25', '--profile', 'smoke', '--json'], { config: leastConfig })
      const { stdout, stderr, exitCode } = await child
      expect(exitCode, stderr).toBe(0)
      const { records: all, manifest } = readRun(out)
      const records = all.filter(({ trial }) => trial.kind === CAPACITY)
      expect(manifest).toMatchObject({ target: 'kubernetes', machine: { node: expect.any(String) } })
      expect(records.map(r => r.outcome)).not.toContain('failed')
      for (const { processes, samples, load, window } of records) {
        expect(samples).toMatchObject({ source: 'cgroup', missing: 0, clockOffsetMs: 0 })
        expect(window?.endLateMs).toBeLessThan(50)
        expect(load?.verified).toBeGreaterThan(100)
        for (const p of processes.filter(x => x.role === 'sidecar')) {
          expect(p).toMatchObject({
            cpuLimitCores: 0.25,
            cpuLimitReadBackCores: 0.25,
            workers: 1,
            isReplaced: false,
            oomKills: 0,
          })
          expect(p.cpuCores).toBeGreaterThan(0.05)
          expect(p.memory.rssBytes).toBeGreaterThan(5e6)
        }
      }
      const summary = JSON.parse(stdout)
      for (const row of summary.parity.filter((/** @type {any} */ { lacks }) => !lacks))
        expect(row.found, `${row.plane} ${row.name}`).toBe(row.expected)
      expect(summary.parity.map((/** @type {any} */ r) => `${r.plane} ${r.name}`)).toEqual(
        expect.arrayContaining([
          'pipy parity-answers',
          'envoy parity-refusals',
          'envoy parity-tls',
          'pipy parity-workers',
        ]),
      )
      // Of the records: a trial that the machine disturbed has no value in the summary.
      const cpuPerRequest = (/** @type {string} */ plane) => {
        const record = /** @type {(typeof records)[number]} */ (records.find(({ trial }) => trial.arm.plane === plane))
        return Number(computeCpuPerRequestMicros(record, listSidecars(record)) ?? Number.NaN)
      }
      expect(cpuPerRequest('pipy')).toBeLessThan(cpuPerRequest('envoy'))
      // Envoy's own count of what it refused, read through a forwarded port.
      for (const { trial, processes } of records) {
        const counts = processes.filter(p => p.role === 'sidecar').map(p => p.overflows)
        expect(counts).toEqual(trial.arm.plane === 'none' ? [] : Array(2).fill(trial.arm.plane === 'envoy' ? 0 : null))
      }
      // Each in pods of its own, which share one load.
      const interleaved = all.filter(({ trial }) => trial.kind !== CAPACITY)
      expect(interleaved.map(r => r.trial.arm.plane).sort()).toEqual(['envoy', 'pipy'])
      expect(new Set(interleaved.map(r => r.trial.interleaving)).size).toBe(1)
      for (const { outcome, reasons, load, processes } of interleaved) {
        expect(outcome, reasons.join()).not.toBe('failed')
        expect(load?.verified).toBeGreaterThan(100)
        for (const p of processes.filter(x => x.role === 'sidecar'))
          expect(p).toMatchObject({ cpuLimitCores: null, workers: 1 })
      }
      await expectNothingLeft()
      const verified = await execa('node', ['src/cli.js', 'verify', out])
      expect(verified.stdout).toMatch(/(\d+) of \1 records were computed again from their raw files/)
    },
  )
})

describe('a rollout on a cluster', () => {
  it('makes a pod of each sidecar, changes all, and leaves nothing', { timeout: 120_000 }, async () => {
    const argv = ['rollout', '--planes', 'pipy', '--sidecars', '8', '--profile', 'smoke', '--rounds', '1']
    const { out, child } = start(argv, { config: leastConfig })
    const { stderr } = await child
    const [{ trial, rollout, processes, reasons }] = readRun(out).records
    expect(rollout, `${stderr}${reasons}`).toMatchObject({
      ...{ sidecars: 8, first: { converged: 8 }, change: { converged: 8 }, pods: { ready: 8 } },
      controlAnonBytes: { peak: expect.any(Number) },
    })
    expect(Number(rollout?.first.seconds)).toBeGreaterThan(0.01)
    // Seen before they had it: some said no first. On a busy node not each is asked in time for that.
    const { members } = JSON.parse(readFileSync(path.join(out, 'raw', trial.id, 'rollout.json'), 'utf8'))
    expect(members.some((/** @type {any} */ { first }) => first.lastNoMs !== null)).toBe(true)
    expect(
      processes.filter(({ role }) => role === 'sidecar').map(({ service, batchOf }) => [service, batchOf]),
    ).toEqual(Array.from({ length: 8 }, (_, i) => [`client-${i + 1}`, 1]))
    await expectNothingLeft()
  })

  it('is refused if the node takes no more pods, with the arithmetic', async () => {
    const { stderr, exitCode } = await start(['rollout', '--planes', 'pipy', '--sidecars', '900']).child
    expect(stderr).toMatch(
      /900 sidecars take 9\d\d of pods \(900 × 1 \+ \d+\), and the node \S+ has 500: at most \d+ fit/,
    )
    expect(exitCode).toBe(2)
    await expectNothingLeft()
  })
})

describe('what goes wrong in a run', () => {
  it('spoils the trial that it happens in, says why, and the run goes on', { timeout: 480_000 }, async () => {
    const leaky = path.join(scratch, 'leaky')
    cpSync('pipy-scripts', leaky, { recursive: true })
    const proxy = readFileSync(path.join(leaky, 'proxy.js'), 'utf8')
    const leak = proxy.replace(
      '.to(way)',
      () => ".to($=>$.handleMessageStart(() => void kept.push(new Data('x'.repeat(65536)))).pipe(way))",
    )
    expect(leak).not.toBe(proxy)
    writeFileSync(path.join(leaky, 'proxy.js'), leak.replace('export function', 'var kept = []\n\nexport function'))
    const experiment = path.join(scratch, 'faults.yaml')
    writeFileSync(
      experiment,
      'name: faults\nquestion: What does a fault spoil?\naxes: { plane: [pipy], link: [ratings], cpuLimitCores: [0.25] }\nprofiles: { smoke: { rounds: 3, windowSeconds: 4 } }\n',
    )
    const namespace = 'sidecar-bench-faults'
    const options = ['--planes', `pipy,pipy=${leaky}`, '--memory', '48MiB', '--seed', '1', '--namespace', namespace]
    const { out, child } = start([experiment, ...smoke, ...options])
    const pods = async (/** @type {string} */ labels) =>
      (await kubectl('get', 'pods', '-n', namespace, '-l', labels, '-o', 'name')).stdout.split('\n').filter(Boolean)
    // Each fault waits for the load of a trial of its own. The leaky arm's trials bring theirs, which may come first: it strikes again then.
    const faults = [
      {
        reason: /k6's generator died [a-z -]+ with the deletion of its pod/,
        strike: async () =>
          kubectl(
            ...['delete', '-n', namespace, '--grace-period=0', '--force'],
            ...(await pods('app.kubernetes.io/name=k6')),
          ),
      },
      {
        reason: /ratings's (sidecar|application) died [a-z -]+ with the deletion of its pod/,
        strike: async () => {
          const [pod] = await pods('app.kubernetes.io/name=ratings')
          const name = pod.replace('pod/', '')
          const eviction = {
            apiVersion: 'policy/v1',
            kind: 'Eviction',
            metadata: { name, namespace },
            deleteOptions: { gracePeriodSeconds: 0 },
          }
          return kubectlWith(eviction, 'create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`)
        },
      },
      {
        reason: /the kit's own reader is missing on \S+: it has no pod there/,
        strike: async () => kubectl('delete', 'daemonset', '-n', `${namespace}-reader`, 'reader', '--wait=true'),
      },
    ]
    const isRecorded = (/** @type {RegExp} */ reason) => records(out).some(line => reason.test(line))
    const oomKill = /ratings's sidecar died [a-z -]+ with OOMKilled: its memory limit was reached/
    let isEnded = false
    child.then(() => (isEnded = true))
    const knownPods = new Set()
    const isNewLoad = async () => {
      const [pod] = await pods('app.kubernetes.io/name=k6').catch(() => [])
      if (!pod || knownPods.has(pod)) return isEnded
      knownPods.add(pod)
      const label = 'jsonpath={.metadata.labels.sidecar-bench/start}'
      const { stdout } = await kubectl('get', '-n', namespace, pod, '-o', label).catch(() => ({ stdout: '' }))
      return stdout !== ''
    }
    for (const [i, { strike, reason }] of faults.entries()) {
      // Without a reader nothing more is measured: the leak comes first.
      if (i === 2)
        await waitForCondition(() => isEnded || isRecorded(oomKill), {
          what: 'a sidecar that is killed for its memory',
          deadlineSeconds: 240,
        })
      while (!isEnded && !isRecorded(reason)) {
        await waitForCondition(isNewLoad, { what: 'a load', deadlineSeconds: 120, intervalMs: 200 })
        if (isEnded) break
        await new Promise(resolve => setTimeout(resolve, 3000))
        const before = records(out).length
        await strike().catch(() => {})
        await waitForCondition(() => isEnded || records(out).length > before, {
          what: 'a record',
          deadlineSeconds: 120,
          intervalMs: 200,
        })
      }
    }
    const { stderr } = await child
    const { records: measured } = readRun(out)
    const reasons = measured.flatMap(r => r.reasons).join('\n')
    // On a busy machine a window may be unsteady, and is measured once more.
    expect(measured.filter(r => r.trial.repeats === null).length, stderr).toBe(6)
    for (const { reason } of faults) expect(reasons).toMatch(reason)
    expect(reasons).toMatch(oomKill)
    await expectNothingLeft()
  })

  it('gives a pod the quota of --pod-cpu, and stops in order on SIGINT', { timeout: 120_000 }, async () => {
    const namespace = 'sidecar-bench-pod-cpu'
    const options = [
      '--measure',
      'capacity',
      '--cpu',
      'none',
      '--pod-cpu',
      '0.5',
      '--profile',
      'smoke',
      '--rounds',
      '5',
    ]
    const { out, child } = start([...options, '--planes', 'pipy', '--link', 'ratings', '--namespace', namespace])
    const where = ['-n', namespace, '-l', 'app.kubernetes.io/name=ratings']
    const listPods = async () => {
      const { stdout } = await kubectl('get', 'pods', ...where, '-o', 'json').catch(() => ({ stdout: '{"items":[]}' }))
      return JSON.parse(stdout).items
    }
    await waitForCondition(async () => (await listPods()).length > 0, {
      what: 'a pod',
      deadlineSeconds: 100,
      intervalMs: 200,
    })
    const [{ spec }] = await listPods()
    expect(spec.resources).toMatchObject({ requests: { cpu: '500m' }, limits: { cpu: '500m' } })
    expect([...spec.initContainers, ...spec.containers].map(({ name }) => name)).toEqual(['sidecar', 'application'])
    await waitForCondition(() => records(out).length > 0, { what: 'a trial', deadlineSeconds: 100, intervalMs: 100 })
    child.kill('SIGINT')
    expect((await child).exitCode).toBe(130)
    const { processes, gates } = JSON.parse(records(out)[0])
    const ofPod = processes.filter((/** @type {any} */ { service }) => service === 'ratings')
    expect(ofPod.map((/** @type {any} */ p) => p.cpuLimitReadBackCores)).toEqual([0.5, 0.5])
    expect(gates.map((/** @type {any} */ { gate }) => gate)).not.toContain('pod-cap')
    await expectNothingLeft()
  })

  it('leaves a killed run to cleanup, which leaves a running one alone', { timeout: 120_000 }, async () => {
    const { child } = start([...smoke, '--planes', 'none'])
    const areThere = async () => (await listNamespaces()).includes('-reader')
    await waitForCondition(areThere, { what: 'its namespaces', deadlineSeconds: 60, intervalMs: 200 })
    expect((await start([], { verb: 'cleanup' }).child).stdout).toMatch(/left +namespace .*: its run goes on/)
    child.kill('SIGKILL')
    await child
    expect((await start([], { verb: 'cleanup' }).child).stdout.match(/removed namespace/g)).toHaveLength(2)
    await expectNothingLeft()
  })
})

// They wait most of their time, and nothing is said about their numbers. The longest begin first.
describe.concurrent('runs beside each other', () => {
  // Where there is no cluster, nothing was tried.
  afterAll(() => (kubeconfig ? expectNothingLeft() : undefined))

  it(
    'are 50 copies of a service, which come up at once, each with its sidecar, and go',
    { timeout: 480_000 },
    async () => {
      const options =
        '--measure capacity --services 50 --link pair --planes pipy --cpu 0.02 --rate 20 --users 4 --profile smoke'
      const { out, child } = start(options.split(' '))
      const { stderr } = await child
      const [record] = readRun(out).records
      expect(record, `${stderr}`).toBeDefined()
      expect(record.outcome, `${stderr}`).not.toBe('failed')
      expect(record.processes.filter(p => p.role === 'sidecar')).toHaveLength(51)
      console.log(
        `50 copies: ready in ${record.phasesSeconds.start.toFixed(1)} s, gone in ${record.phasesSeconds.stop.toFixed(1)} s`,
      )
    },
  )

  it(
    'ends the run when the API server is gone, keeps what was measured, and names cleanup, which then removes it',
    { timeout: 480_000 },
    async () => {
      const config = parse(readFileSync(`${kubeconfig}`, 'utf8'))
      const server = new URL(config.clusters[0].cluster.server)
      /** @type {Set<net.Socket>} */
      const sockets = new Set()
      const proxy = net.createServer(socket => {
        const there = net.connect(Number(server.port), server.hostname)
        for (const s of [socket, there]) sockets.add(s.on('error', () => {}))
        socket.pipe(there).pipe(socket)
      })
      const { port } = await listen(proxy)
      Object.assign(config.clusters[0].cluster, {
        server: `https://127.0.0.1:${port}`,
        'tls-server-name': server.hostname,
      })
      const { out, child } = start([...smoke, '--planes', 'none', '--rounds', '5'], {
        config: saveConfig(stringify(config), 'proxied.yaml'),
      })
      await waitForCondition(() => records(out).length > 0, { what: 'a trial', deadlineSeconds: 100, intervalMs: 100 })
      proxy.close()
      for (const socket of sockets) socket.destroy()
      const { exitCode, stderr } = await child
      expect(exitCode, stderr).toBe(1)
      expect(stderr).toMatch(/has not answered for \d+ s \(.*\); .*npm run cleanup -- --target kubernetes/)
      expect(records(out).length).toBeGreaterThan(0)
      expect(readProcFile(`${out}/summary.json`), stderr).not.toBe('')
      expect(listArms(readSummary(out))).toHaveLength(1)
      const { stdout } = await start([], { verb: 'cleanup' }).child
      // Two, and those of a first try that failed.
      expect(stdout.match(/removed namespace/g)?.length).toBeGreaterThanOrEqual(2)
      // The ledger names the address of the proxy, at which no cluster is any more.
      const [, run] = stdout.match(new RegExp(`https://127\\.0\\.0\\.1:${port} of run (\\S+):`)) ?? []
      const { stdout: removed } = await execa('node', ['src/cli.js', 'cleanup', `${run}`, '--cluster-gone'])
      expect(removed).toMatch(new RegExp(`removed folder .*/${run}`))
    },
  )

  it('gives Envoys their configuration from the image of the ADS server', { timeout: 480_000 }, async context => {
    if ('missing' in (await findTool(adsTool))) context.skip('needs the ADS server, which cannot be built here')
    const argv = ['rollout', '--planes', 'envoy', '--control', 'ads', '--sidecars', '8', '--profile', 'smoke']
    const rounds = ['--rounds', '1']
    const remove = () => execa('ctr', ['-n', 'k8s.io', 'images', 'rm', renderImageName('ads')], { reject: false })
    await remove()
    const without = await start([...argv, ...rounds]).child
    expect(without.stderr).toMatch(/npm run images -- --ads FILE writes it/)
    const archive = path.join(scratch, 'ads.tar')
    await execa('node', ['src/cli.js', 'images', '--ads', archive])
    await execa('ctr', ['-n', 'k8s.io', 'images', 'import', archive])
    const { out, child } = start([...argv, ...rounds])
    const { stderr } = await child
    const [{ rollout, processes, reasons }] = readRun(out).records
    expect(rollout, `${stderr}${reasons}`).toMatchObject({
      ...{ sidecars: 8, first: { converged: 8 }, change: { converged: 8 }, pods: { ready: 8 } },
      controlAnonBytes: { peak: expect.any(Number) },
    })
    expect(processes.filter(({ role }) => role === 'control')).toHaveLength(1)
    await remove()
  })

  describe.concurrent('what stops a run before it measures', () => {
    it('is no kubeconfig', async () => {
      const { stderr, exitCode } = await execa('node', ['src/cli.js', 'bench', '--target', 'kubernetes'], {
        ...{ env: { KUBECONFIG: '', HOME: scratch }, reject: false },
      })
      expect(stderr).toMatch(/no kubeconfig: set KUBECONFIG/)
      expect(exitCode).toBe(2)
    })

    it.for([
      { what: 'a context that is not there', options: '--context tset', status: 2, words: /no context "tset".*"test"/ },
      {
        what: 'a node that is not there',
        options: '--node edge-9',
        status: 2,
        words: /--node edge-9: the cluster has no such node/,
      },
      {
        what: 'an image that cannot be pulled',
        options: '--image pipy=localhost/nothing:test',
        status: 4,
        words: /the plane pipy cannot be measured: .*the image localhost\/nothing:test .* cannot be pulled: /,
      },
      {
        what: 'an image of something else',
        options: '--image pipy=localhost/node:test',
        status: 4,
        words: /the plane pipy cannot be measured: .*pipy/,
      },
      {
        what: 'a node without room',
        options: `--cpu ${os.availableParallelism()}`,
        status: 1,
        words: /no node takes the pod .*Insufficient cpu/,
      },
    ])('is $what', { timeout: 300_000 }, async ({ options, status, words }) => {
      const { stderr, exitCode } = await start([...smoke, '--planes', 'pipy', ...options.split(' ')]).child
      expect(stderr).toMatch(words)
      expect(exitCode).toBe(status)
    })

    it('is a cluster that does not answer', async () => {
      const config = parse(readFileSync(`${kubeconfig}`, 'utf8'))
      config.clusters[0].cluster.server = 'https://127.0.0.1:9'
      const { stderr, exitCode } = await start(smoke, { config: saveConfig(stringify(config), 'dead.yaml') }).child
      expect(stderr).toMatch(/the API server https:\/\/127\.0\.0\.1:9 .*cannot be reached: is the cluster up\?/)
      expect(exitCode).toBe(1)
    })

    it('is a user without rights: it says which verb on what', async () => {
      const { stderr, exitCode } = await start(smoke, { config: forbiddenConfig }).child
      expect(stderr).toMatch(/cannot list resource "nodes".*k8s\/rbac\.yaml/)
      expect(exitCode).toBe(1)
    })

    it('is a namespace of that name, which is left as it is', async () => {
      const { stderr, exitCode } = await start([...smoke, '--namespace', USER]).child
      expect(stderr).toMatch(new RegExp(`the namespace ${USER} is already there: give --namespace another`))
      expect(exitCode).toBe(1)
      expect((await kubectl('get', 'namespace', USER, '-o', 'jsonpath={.status.phase}')).stdout).toBe('Active')
    })
  })
})

// It refuses every run of the kit.
describe('a webhook that stops a run', () => {
  it.for([
    ['deployments', /admission webhook .* denied the request: no sidecars on Fridays/],
    ['pods', /no pod is made: .*no sidecars on Fridays/],
  ])('refuses %s', { timeout: 90_000 }, async ([resource, message]) => {
    const webhook = await startWebhook(/** @type {string} */ (resource))
    try {
      const { stderr, exitCode } = await start([...smoke, '--planes', 'none']).child
      expect(stderr).toMatch(message)
      expect(exitCode).toBe(1)
    } finally {
      await webhook.stop()
    }
    await expectNothingLeft()
  })
})

/** @param {string} out */
function records(out) {
  return readProcFile(`${out}/trials.jsonl`).split('\n').filter(Boolean)
}

/** A validating webhook that refuses what a run of the kit makes. @param {string} resource */
async function startWebhook(resource) {
  const authority = await createAuthority('webhook')
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    identity: 'urn:webhook',
    dnsName: 'localhost',
  })
  const server = https.createServer({ cert: certificatePem, key: keyPem }, async (request, response) => {
    const { request: review } = JSON.parse((await request.setEncoding('utf8').toArray()).join(''))
    const isOurs = review.object?.metadata?.labels?.['sidecar-bench/start'] !== undefined
    const answer = {
      uid: review.uid,
      allowed: !isOurs,
      ...(isOurs ? { status: { message: 'no sidecars on Fridays' } } : {}),
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }))
  })
  const { port } = await listen(server)
  const name = 'refusing.sidecar-bench.test'
  await apply({
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name } },
    webhooks: [
      {
        ...{ name, sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Ignore', timeoutSeconds: 5 },
        clientConfig: {
          url: `https://localhost:${port}/`,
          caBundle: Buffer.from(authority.certificate.toString('pem')).toString('base64'),
        },
        rules: [{ operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: [resource] }],
      },
    ],
  })
  // The API server takes a moment to know of it.
  await new Promise(resolve => setTimeout(resolve, 2000))
  return {
    async stop() {
      await kubectl('delete', 'validatingwebhookconfiguration', name)
      server.closeAllConnections()
      server.close()
    },
  }
}
