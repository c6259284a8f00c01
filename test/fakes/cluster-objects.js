import { readFileSync } from 'node:fs'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { k6 } from '../../src/loads/k6/index.js'
import { PORTS } from '../../src/model/sidecar-contract.js'
import { createApplication } from '../../src/services/applications.js'
import { createModel } from '../../src/services/sidecar-model.js'
import { locateNextHop, parseTopology } from '../../src/services/topology.js'
import {
  LABELS,
  MANAGER,
  renderConfigMap,
  renderDeployment,
  renderJob,
  renderNamespace,
  renderProber,
  renderReader,
  renderSecret,
  renderService,
  renderSidecarPod,
  renderVersionJob,
} from '../../src/targets/kubernetes/manifests.js'

const dataPlanes = Object.values(await loadPlanes())

/**
 * @import { DataPlane, ProcessSpec, Service, Tool } from '../../src/model/types.ts'
 * @import { Container } from '../../src/targets/kubernetes/pod.js'
 */

const file = 'bench/topologies/gateway-ratings.yaml'
const topology = parseTopology(readFileSync(file, 'utf8'), file)
const placeAt = (/** @type {string} */ reach) => ({ reach, listen: '0.0.0.0', inside: '127.0.0.1' })
const places = { gateway: placeAt('10.96.1.1'), ratings: placeAt('10.96.1.2') }
const namespace = 'sidecar-bench-r1'
const readerNamespace = `${namespace}-reader`
const labels = { [LABELS.managed]: MANAGER, [LABELS.run]: 'r1' }
const startLabels = { ...labels, [LABELS.start]: '1' }

/** @returns {Tool} */
const toolIn = (/** @type {string} */ name, /** @type {string} */ version, /** @type {string} */ image) => ({
  ...{ name, path: name, version, image, sha256: '', source: `image ${image}` },
})
const tools = {
  pipy: toolIn('pipy', '1.5.18', 'flomesh/pipy:1.5.18'),
  envoy: toolIn('envoy', '1.40.0', 'envoyproxy/envoy:distroless-v1.40.0'),
  k6: toolIn('k6', '1.1.0', 'grafana/k6:1.1.0'),
}

/**
 * The containers of a service: its application, then its sidecar, as a run makes them.
 * @param {{ service: string, plane: 'pipy' | 'envoy', cpuLimitCores: number | null, memoryLimitBytes?: number | null,
 *   isRedirected?: boolean }} options
 * @returns {Container[]}
 */
export function createContainers({
  service: name,
  plane,
  cpuLimitCores,
  memoryLimitBytes = null,
  isRedirected = false,
}) {
  const service = /** @type {Service} */ (topology.services.find(s => s.name === name))
  const { createSidecar } = /** @type {DataPlane} */ (dataPlanes.find(p => p.name === plane))
  const application = createApplication({
    service: name,
    kind: /** @type {'echo' | 'forward'} */ (service.application),
    listen: { address: '127.0.0.1', port: PORTS.application },
    next: service.application === 'forward' ? locateNextHop(service, { places, hasSidecars: true }) : null,
    ...{ runtime: tools.pipy, scripts: '/bench/echo', folder: '/bench/trial' },
  })
  const sidecar = /** @type {NonNullable<typeof createSidecar>} */ (createSidecar)({
    model: createModel(topology, {
      ...{ service, places, trafficPolicy: 'listed', workers: 1, certificates: '/bench/certificates', isRedirected },
    }),
    ...{ folder: `/bench/${name}`, tool: tools[plane], scripts: '/bench/pipy-scripts' },
    profile: null,
    cpuLimitCores,
  })
  return [containerOf(application), containerOf({ ...sidecar, memoryLimitBytes })]
}

/** @type {Record<string, string[]>} */
const SCRIPTS = {
  '/bench/echo': ['echo.js', 'forward.js', 'node/echo.js', 'node/forward.js'],
  '/bench/pipy-scripts': ['config.js', 'main.js'],
  '/bench/k6': ['closed-loop.js', 'common.js', 'open-loop.js'],
}

/** @param {ProcessSpec} spec @returns {Container} */
function containerOf(spec) {
  const { service, scripts, files, credentials } = spec
  const folders = scripts.map(path => ({ path, configMap: `scripts-of-${path.slice(7)}`, names: SCRIPTS[path] }))
  const configFolder = { path: spec.folder, configMap: `${service}-1`, names: files.map(f => f.name) }
  const trust = { path: '/bench/certificates', secret: `${service}-1`, names: credentials.map(f => f.split('/')[3]) }
  return { spec, folders: [...folders, ...[configFolder, trust].filter(({ names }) => names.length > 0)] }
}

const generator = containerOf(
  k6.createGenerator({
    ...{
      tool: tools.k6,
      scripts: '/bench/k6',
      folder: '/bench/trial',
      urls: ['http://10.96.1.1:15003/'],
      certificate: null,
      host: 'gateway',
    },
    load: {
      ...{ kind: 'closed', users: 50, payloadBytes: 1024, warmupSeconds: 1.5, windowSeconds: 3.5 },
      ...{ connections: 'kept', hasCertificate: false, burst: null },
    },
    ...{ tailMs: 1000, admin: null, cpus: 2 },
  }),
)
export const pipyGateway = createContainers({
  service: 'gateway',
  plane: 'pipy',
  cpuLimitCores: 0.25,
  memoryLimitBytes: 2 ** 27,
})
const envoyRatings = createContainers({ service: 'ratings', plane: 'envoy', cpuLimitCores: 1.5 })
const [, { spec: pipySidecar }] = pipyGateway
const rendered = Object.fromEntries(pipySidecar.files.map(f => [f.name, f.content]))
const kit = { path: '/bench/kit', configMap: 'kit', names: ['package.json', 'src/node/prober.js'] }
const image = 'node:20.20.2-slim'
export const gateway = { service: 'gateway', name: 'gateway-1', namespace, labels: startLabels }
export const ratings = { service: 'ratings', name: 'ratings-1', namespace, labels: startLabels }
const load = {
  service: 'k6',
  name: 'k6-2',
  namespace,
  labels: { ...labels, [LABELS.start]: '2' },
  container: generator,
}
const reader = { name: 'reader', namespace: readerNamespace, labels, image, folder: kit }
const credentials = { 'ca.pem': 'of an authority\n', 'gateway.pem': 'of gateway\n', 'gateway-key.pem': 'a key\n' }

/** Everything that a run asks for, by the name of its golden file. @type {Record<string, any>} */
export const objects = {
  'namespace-restricted': renderNamespace({ name: namespace, runId: 'r1', level: 'restricted' }),
  'namespace-privileged': renderNamespace({ name: readerNamespace, runId: 'r1', level: 'privileged' }),
  configmap: renderConfigMap({
    name: 'gateway-1',
    namespace,
    labels: startLabels,
    files: { ...rendered, 'a/folder.js': 'one()\n' },
  }),
  secret: renderSecret({ name: 'gateway-1', namespace, labels: startLabels, files: credentials }),
  service: renderService({ ...gateway, ports: [PORTS.application, PORTS.outbound, PORTS.inbound] }),
  'deployment-native-sidecar': renderDeployment({
    ...{ ...gateway, containers: pipyGateway, where: 'node-1', hasNativeSidecars: true },
  }),
  'deployment-without-native-sidecars': renderDeployment({
    ...{ ...ratings, containers: envoyRatings, where: 'role=edge', hasNativeSidecars: false },
  }),
  'sidecar-pod': renderSidecarPod({
    ...{
      service: 'client-7',
      name: 'client-7-1',
      namespace,
      labels: startLabels,
      container: pipyGateway[1],
      where: 'node-1',
    },
  }),
  job: renderJob({ ...load, where: null }),
  prober: renderProber({ name: 'prober', namespace, labels, image, folder: kit, where: 'node-1' }),
  'reader-on-nodes': renderReader({ ...reader, nodePlaces: ['node-1', 'role=load'], hasRecursiveReadOnly: true }),
  'reader-anywhere': renderReader({ ...reader, nodePlaces: ['node-1', null], hasRecursiveReadOnly: false }),
  'version-job': renderVersionJob({
    ...{ name: 'version-pipy', namespace, labels, image: 'flomesh/pipy:1.5.18', command: ['pipy', '--version'] },
    where: 'node-1',
  }),
}
