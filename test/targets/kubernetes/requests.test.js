import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pipyTool } from '../../../src/dataplanes/pipy/index.js'
import { writeCertificates } from '../../../src/lib/certificates.js'
import { renderSpiffeId } from '../../../src/model/sidecar-contract.js'
import { openLedger } from '../../../src/node/ledger.js'
import { ACCESS, ROLES } from '../../../src/targets/kubernetes/access.js'
import { checkCluster } from '../../../src/targets/kubernetes/doctor.js'
import { createImageToolFinder } from '../../../src/targets/kubernetes/image-tools.js'
import { createKubernetesTarget } from '../../../src/targets/kubernetes/index.js'
import { cleanUpCluster } from '../../../src/targets/kubernetes/namespaces.js'
import { createContainers } from '../../fakes/cluster-objects.js'
import { connectTo, FORBIDDEN, startFakeApiServer } from '../../fakes/fake-api-server.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { ApiRequest } from '../../fakes/fake-api-server.js' @import { Handle } from '../../../src/model/types.ts' */
/** @import { Access } from '../../../src/targets/kubernetes/access.js' */

const NAMESPACE = 'bench-r1'
const folder = makeFolder('requests-test')
const certificates = path.join(folder, 'certificates')
/** @type {ApiRequest[]} */
let requests = []
/** @type {string[]} */
const warnings = []
const warn = (/** @type {Error} */ { message }) => warnings.push(message)

// All that a run, the doctor and the cleanup ask of a cluster.
beforeAll(async () => {
  process.on('warning', warn)
  const server = await startFakeApiServer()
  requests = server.requests
  await writeCertificates({
    folder: certificates,
    services: [{ name: 'gateway', identity: renderSpiffeId('gateway') }],
  })
  const api = await connectTo({ server: server.url, folder })
  const { signal } = new AbortController()
  const ledger = openLedger({ runId: 'r1', root: path.join(folder, 'ledgers') })
  const target = createKubernetesTarget({
    ...{ api, ledger, namespace: NAMESPACE, where: 'n1', loadWhere: 'n1', nodeImage: 'node', cpus: 4, node: 'n1' },
    nodeLabel: 'n1',
    ...{ hasNativeSidecars: true, hasRecursiveReadOnly: true, sampleSource: 'cgroup', signal },
  })
  await checkCluster({ api, node: null, loadNode: null, images: {}, specs: [pipyTool] })
  await target.open()
  const forbidden = createImageToolFinder({ api, target, images: {}, choosePlace: () => null, signal })
  expect(await forbidden({ ...pipyTool, name: FORBIDDEN.replace('version-', '') })).toEqual({
    missing: expect.stringContaining('no pod is made: exceeded quota'),
  })
  for (const source of ['echo', 'pipy-scripts', certificates]) target.locate(source)
  await target.placesFor(1, ['gateway'])
  await target.allowRules('rules:1')
  const redirected = {
    service: 'gateway',
    plane: /** @type {const} */ ('envoy'),
    cpuLimitCores: 0.25,
    isRedirected: true,
  }
  const specs = createContainers(redirected).map(({ spec }) => spec)
  const { processes, remove } = await target.deploy(specs, { start: 1, folder: path.join(folder, 'raw') })
  await Promise.all(processes.map(p => p.waitUntilReady(signal)))
  const refusal = 'k8s/rbac.yaml'
  await expect(target.look(processes)).rejects.toThrow(refusal)
  await expect(processes[1].readAdmin('/')).rejects.toThrow(refusal)
  await remove()
  /** @type {Handle[]} */
  const started = []
  const ofRollout = { ...specs[1], service: 'client-1', batchOf: 1, files: [] }
  const onStart = (/** @type {Handle} */ process) => void started.push(process)
  const rollout = await target.deploy([ofRollout], { start: 2, folder: path.join(folder, 'raw'), onStart })
  expect(started).toMatchObject([{ spec: ofRollout, pod: { uid: 'client-1-2', createdMs: expect.any(Number) } }])
  await started[0].waitUntilReady(signal)
  await expect(target.pods?.openRolloutPoller()).rejects.toThrow(refusal)
  await rollout.remove()
  await target.close()
  await cleanUpCluster({ api, includesOtherMachines: false })
  server.close()
}, 30_000)

afterAll(() => {
  process.off('warning', warn)
})

describe('what is asked of a cluster', () => {
  it('is what the roles grant, and they grant no more', () => {
    // Server-side apply asks for create, too; of exec and portforward see ACCESS.
    const verbsOf = (/** @type {ApiRequest} */ { verb, resource }) =>
      verb === 'patch' ? ['create', 'patch'] : /\/(exec|portforward)$/.test(resource) ? ['get', 'create'] : [verb]
    const used = requests.flatMap(one => verbsOf(one).map(verb => `${verb} ${one.resource}`))
    const listGranted = (/** @type {Access[]} */ table) =>
      table.flatMap(({ group, resource, verbs }) => verbs.map(verb => `${verb} ${group}/${resource}`))
    const granted = [...listGranted(ACCESS), ...listGranted(ROLES['sidecar-bench-kubelet'])]
    expect([...new Set(used)].sort()).toEqual(granted.sort())
  })

  it('has keys in Secrets of the run only', () => {
    const key = readFileSync(path.join(certificates, 'gateway-key.pem'), 'utf8')
    const forms = [key.split('\n')[2], Buffer.from(key).toString('base64').slice(80, 160)]
    const holding = requests.filter(({ body }) => forms.some(form => body.includes(form)))
    expect(holding.map(({ kind, namespace }) => [kind, namespace])).toEqual(Array(2).fill(['Secret', NAMESPACE]))
    // Of a start whose services are deployed, and of one of a rollout.
    expect(requests.filter(({ verb, resource }) => verb === 'delete' && resource === '/secrets')).toHaveLength(2)
    expect(requests.some(({ kind, body }) => kind === 'Deployment' && body.includes('gateway-key.pem'))).toBe(true)
  })

  // The server ends each watch at once here, and every few minutes on a cluster.
  it('keeps nothing of watches that have ended', () => {
    expect(requests.filter(({ verb }) => verb === 'watch').length).toBeGreaterThan(15)
    expect(warnings).toEqual([])
  })
})
