import { describe, expect, it } from 'vitest'
import { pipyTool } from '../../../src/dataplanes/pipy/index.js'
import { BenchError, SiteLostError } from '../../../src/lib/errors.js'
import { checkCluster } from '../../../src/targets/kubernetes/doctor.js'

const IMAGES = ['docker.io/flomesh/pipy:1.5.18', 'docker.io/library/node:20.20.2-slim']

/** @param {string} name @param {{ spec?: object, isReady?: boolean, kubelet?: string, images?: string[], labels?: object }} [options] */
const createNode = (name, { spec = {}, isReady = true, kubelet = 'v1.34.3', images = IMAGES, labels = {} } = {}) => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  spec,
  status: {
    capacity: { cpu: '4', memory: '16777216Ki' },
    allocatable: { cpu: '3920m', memory: '15Gi' },
    conditions: [
      { type: 'Ready', status: isReady ? 'True' : 'Unknown', message: 'Kubelet stopped posting node status.' },
    ],
    nodeInfo: { kubeletVersion: kubelet, containerRuntimeVersion: 'containerd://2.1.4' },
    images: images.map(image => ({ names: [image] })),
  },
})

const refusal = (/** @type {string} */ message, code = 403) => Object.assign(new BenchError(message), { code })

/**
 * A cluster that has everything, but for what is given; a function that throws refuses.
 * @param {{ minor?: string, nodes?: any[], denied?: string[], configz?: () => object, createNamespace?: () => object,
 *   tryApply?: (object: any) => object, getCode?: () => object }} [options] denied: `verb resource`
 */
function fakeApi({
  minor = '34',
  nodes = [createNode('n1')],
  denied = [],
  configz = () => ({ cpuCFSQuota: true, cpuCFSQuotaPeriod: '100ms', cpuManagerPolicy: 'none' }),
  createNamespace = () => ({}),
  tryApply = () => ({}),
  getCode = () => ({ minor, gitVersion: `v1.${minor}.0` }),
} = {}) {
  const clients = {
    version: { getCode: async () => getCode() },
    authorization: {
      createSelfSubjectAccessReview: async (/** @type {any} */ { body }) => {
        const { verb, resource, subresource } = body.spec.resourceAttributes
        return { status: { allowed: !denied.includes(`${verb} ${resource}${subresource ? `/${subresource}` : ''}`) } }
      },
    },
  }
  return /** @type {any} */ ({
    server: 'https://cluster.example:6443',
    readContext: () => 'test',
    k8s: { VersionApi: 'version', AuthorizationV1Api: 'authorization' },
    config: { makeApiClient: (/** @type {keyof typeof clients} */ name) => clients[name] },
    request: async (/** @type {string} */ _, /** @type {() => Promise<any>} */ ask) => ask(),
    list: async () => nodes,
    tryApply: async (/** @type {any} */ object) => tryApply(object),
    core: {
      createNamespace: async () => createNamespace(),
      connectGetNodeProxyWithPath: async () => ({ kubeletconfig: configz() }),
    },
  })
}

/** @param {Parameters<typeof fakeApi>[0]} [cluster] @param {object} [options] */
async function examine(cluster, options) {
  const request = { node: null, loadNode: null, images: {}, specs: [pipyTool], ...options }
  const findings = await checkCluster({ api: fakeApi(cluster), ...request })
  return {
    isReady: findings.every(({ level }) => level !== 'missing'),
    text: findings.flatMap(({ level, text, more = [] }) => [`${level.padEnd(8)} ${text}`, ...more]).join('\n'),
  }
}
const refuse = (/** @type {Error} */ error) => () => {
  throw error
}

describe('checkCluster', () => {
  it('says of a cluster that has everything what it is', async () => {
    expect(await examine()).toEqual({
      isReady: true,
      text: [
        'ok       API server: Kubernetes v1.34.0 at https://cluster.example:6443 (context test)',
        'ok       access: all that a run asks is allowed',
        'ok       reader: its privileged namespace and its DaemonSet would be admitted',
        'ok       node n1: 4 CPUs (3.92 allocatable), 16.0 GiB, kubelet v1.34.3, containerd://2.1.4, ready',
        'ok       image of pipy: flomesh/pipy:1.5.18, on n1',
        'ok       image of node: node:20.20.2-slim, on n1',
        'ok       CPU caps on n1: quotas every 100ms, CPU manager none',
        'ok       largest cap at which two sidecars can bind on the 4 CPUs of n1: 1 cores',
      ].join('\n'),
    })
  })

  it('ends with an API server that does not answer', async () => {
    const { text, isReady } = await examine({ getCode: refuse(new SiteLostError('no answer for 5 s')) })
    expect(isReady).toBe(false)
    expect(text).toMatch(/^missing {2}the API server .*cluster\.example.*no answer for 5 s$/)
  })

  it('warns of a server that is older than native sidecars, and of such a node under a newer one', async () => {
    expect((await examine({ minor: '28+' })).text).toContain('warning  API server: Kubernetes v1.28+.0')
    const { text, isReady } = await examine({ nodes: [createNode('n1', { kubelet: 'v1.28.15' })] })
    expect(text).toMatch(/warning {2}node n1: .*older than native sidecars/)
    expect(isReady).toBe(true)
  })

  it('passes its own mistakes on', async () => {
    await expect(examine({ getCode: refuse(new TypeError('x is undefined')) })).rejects.toThrow('x is undefined')
  })
})

describe('checkCluster, of access', () => {
  it('names what is denied, and where it stands what is needed', async () => {
    const { text, isReady } = await examine({ denied: ['create jobs', 'patch jobs', 'get pods/exec'] })
    expect(isReady).toBe(false)
    expect(text).toContain('missing  access: you may not create, patch jobs.batch (the load')
    expect(text).toContain('missing  access: you may not get pods/exec (')
    expect(text.match(/k8s\/rbac\.yaml/g)).toHaveLength(1)
  })

  it('does not try what is denied', async () => {
    const failing = refuse(new Error('tried'))
    const denied = ['create namespaces', 'list nodes']
    const { text } = await examine({ denied, createNamespace: failing, tryApply: failing })
    expect(text).not.toMatch(/reader:|node n1/)
  })
})

describe('checkCluster, of the reader', () => {
  it('misses a cluster that refuses privileged namespaces or the DaemonSet', async () => {
    const namespace = await examine({
      createNamespace: refuse(refusal('admission webhook "policy" denied the request')),
    })
    expect(namespace.isReady).toBe(false)
    expect(namespace.text).toContain('missing  reader: its privileged namespace is refused: admission webhook "policy"')
    const reader = await examine({ tryApply: refuse(refusal('host paths are not allowed')) })
    expect(reader.text).toContain('missing  reader: its DaemonSet is refused: host paths are not allowed')
  })

  it('warns if a webhook cannot say', async () => {
    const { text, isReady } = await examine({
      tryApply: refuse(refusal('admission webhook "policy" does not support dry run', 400)),
    })
    expect(isReady).toBe(true)
    expect(text).toContain('warning  reader: ')
  })

  it('tries it with the image that the run would use', async () => {
    /** @type {any[]} */
    const tried = []
    await examine({ tryApply: object => [tried.push(object)] }, { images: { node: 'registry.example/node:20' } })
    expect(tried[0].spec.template.spec.containers[0].image).toBe('registry.example/node:20')
  })
})

describe('checkCluster, of nodes', () => {
  it('misses a node that is not there, or is cordoned', async () => {
    expect((await examine({}, { node: 'm1' })).text).toMatch(/missing {2}--node m1: .*n1/)
    const { text, isReady } = await examine({ nodes: [createNode('n1', { spec: { unschedulable: true } })] })
    expect(isReady).toBe(false)
    expect(text).toMatch(/missing {2}no node .*cordoned/)
  })

  it('misses the node of the run where a taint keeps pods away, and none where it only discourages them', async () => {
    const taint = (/** @type {string} */ effect) => [
      createNode('n1', { spec: { taints: [{ key: 'node-role.kubernetes.io/control-plane', effect }] } }),
    ]
    expect((await examine({ nodes: taint('PreferNoSchedule') })).isReady).toBe(true)
    const { text, isReady } = await examine({ nodes: taint('NoSchedule') }, { node: 'n1' })
    expect(isReady).toBe(false)
    expect(text).toMatch(/n1 not ready, cordoned or tainted/)
  })

  it('looks at every node that a label matches, and only warns if another can serve', async () => {
    const labels = { pool: 'bench' }
    const nodes = [createNode('n1'), createNode('n2', { labels }), createNode('n3', { labels, isReady: false })]
    const { text, isReady } = await examine({ nodes }, { node: 'pool=bench' })
    expect(isReady).toBe(true)
    expect(text).not.toContain('node n1')
    expect(text).toMatch(/ok {7}node n2: .*ready/)
    expect(text).toMatch(/warning {2}node n3: .*not ready: Kubelet stopped posting node status\./)
  })

  it('looks at the node of the load, too', async () => {
    const nodes = [createNode('n1'), createNode('n2'), createNode('n3', { images: IMAGES.slice(0, 1) })]
    const { text } = await examine({ nodes }, { node: 'n1', loadNode: 'n3' })
    expect(text).toMatch(/ok {7}node n1/)
    expect(text).toMatch(/ok {7}node n3/)
    expect(text).not.toContain('n2')
    expect(text).toContain('warning  image of node: node:20.20.2-slim will be pulled by n3')
    expect(text).toContain('on the 4 CPUs of n1')
  })
})

describe('checkCluster, of images', () => {
  it('warns of those that will be pulled, and says once how a node without a registry gets them', async () => {
    const { text, isReady } = await examine({ nodes: [createNode('n1', { images: [] })] })
    expect(isReady).toBe(true)
    expect(text).toContain('warning  image of pipy: flomesh/pipy:1.5.18 will be pulled by n1\n')
    expect(text.match(/k3s ctr images import/g)).toHaveLength(1)
  })

  it('does not claim that an image is missing if the node lists only its largest', async () => {
    const images = Array.from({ length: 50 }, (_, i) => `docker.io/example/large:${i}`)
    expect((await examine({ nodes: [createNode('n1', { images })] })).text).toContain('50 largest images only')
  })

  it('warns of an image that is pulled although the node has it', async () => {
    const nodes = [createNode('n1', { images: ['localhost/pipy:latest', IMAGES[1]] })]
    const { text } = await examine({ nodes }, { images: { pipy: 'localhost/pipy' } })
    expect(text).toContain('warning  image of pipy: localhost/pipy will be pulled at every start')
  })
})

describe('checkCluster, of CPU caps', () => {
  it('misses a kubelet that enforces no limits', async () => {
    const { text, isReady } = await examine({ configz: () => ({ cpuCFSQuota: false }) })
    expect(isReady).toBe(false)
    expect(text).toContain('missing  CPU caps on n1: ')
  })

  it('warns of CPUs that a pod has for itself, since Kubernetes 1.33 without a quota', async () => {
    const configz = () => ({ cpuCFSQuota: true, cpuManagerPolicy: 'static' })
    const since = await examine({ configz })
    expect(since.isReady).toBe(true)
    expect(since.text).toMatch(/warning {2}CPU caps on n1: .*static.*for itself and no quota;/)
    const before = await examine({ configz, nodes: [createNode('n1', { kubelet: 'v1.32.1' })] })
    expect(before.text).toMatch(/static.*for itself;/)
  })

  it('says that a kubelet could not be asked, and what is done anyway', async () => {
    const denied = await examine({ configz: refuse(refusal('nodes "n1" is forbidden')) })
    expect(denied.isReady).toBe(true)
    expect(denied.text).toMatch(
      /warning {2}CPU caps on n1: you may not ask .*nodes\/proxy.*; every run reads its quotas back/,
    )
    const away = await examine({ configz: refuse(new SiteLostError('no answer for 5 s')) })
    expect(away.text).toContain('warning  CPU caps on n1: no answer for 5 s; every run')
  })
})
