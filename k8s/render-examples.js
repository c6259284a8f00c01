import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Document } from 'yaml'
import { loadPlanes } from '../src/dataplanes/registry.js'
import { ROOT } from '../src/lib/paths.js'
import { readTextFiles } from '../src/lib/text-files.js'
import { PORTS } from '../src/model/sidecar-contract.js'
import { parseTopology } from '../src/services/topology.js'
import {
  LABELS,
  renderConfigMap,
  renderDeployment,
  renderNamespace,
  renderService,
} from '../src/targets/kubernetes/manifests.js'
import { createContainers } from './example-containers.js'
import { ENDPOINT, renderKustomization } from './kustomization.js'

const dataPlanes = Object.values(await loadPlanes())

/**
 * @import { DataPlane, Service, Topology } from '../src/model/types.ts'
 */

const TOPOLOGY = 'bench/topologies/gateway-ratings.yaml'
const SCRIPTS = ['echo', 'pipy-scripts']
// The start of the range that kubeadm, kind and minikube give to services. Fixed addresses belong there: the cluster
// takes its own from above (kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation).
const renderServiceAddress = (/** @type {number} */ nth) => `10.96.0.${77 + nth}`
const HEADER = '# Written by k8s/write.js from the code that runs use. How to apply it: k8s/README.md\n\n'

/** @typedef {{ name: string, services: string[], files: { file: string, content: string }[] }} Example */

/**
 * The services of one link, with the sidecars of every data plane whose sidecars run alone, to be applied by hand.
 * @returns {Example[]}
 */
export function renderExamples() {
  const topology = parseTopology(readFileSync(path.join(ROOT, TOPOLOGY), 'utf8'), TOPOLOGY)
  const scripts = Object.fromEntries(SCRIPTS.map(name => [name, readTextFiles(path.join(ROOT, name))]))
  const planes = dataPlanes.filter(
    plane => plane.createSidecar !== null && plane.pipelines !== 'only' && !plane.createCompanions,
  )
  // Only who is called needs a fixed address: it is in its callers' configurations.
  const called = topology.services.filter(({ name }) => topology.services.some(s => s.calls.includes(name)))
  return planes.map((plane, nth) => {
    const addresses = called.map(({ name }, i) => [name, renderServiceAddress(nth * called.length + i)])
    return renderExample({ topology, plane, scripts, addresses: Object.fromEntries(addresses) })
  })
}

/**
 * @param {{ topology: Topology, plane: DataPlane, scripts: Record<string, Record<string, string>>,
 *   addresses: Record<string, string> }} options scripts: the files of each folder; addresses: of services that others call
 * @returns {Example}
 */
function renderExample({ topology, plane, scripts, addresses }) {
  const name = `${topology.name}-${plane.name}`
  const labels = { 'app.kubernetes.io/part-of': name }
  const services = topology.services.map(service => ({
    service,
    containers: createContainers({ topology, service, plane, scripts, addresses }),
  }))
  const mounted = new Set(services.flatMap(s => s.containers.flatMap(c => c.folders.map(f => f.configMap ?? ''))))
  const shared = Object.keys(scripts).filter(folder => mounted.has(folder))
  const texts = services.flatMap(s => s.containers.flatMap(c => c.spec.files.map(f => f.content)))
  const createServicePlace = (/** @type {string} */ service) => {
    const endpoint = `${addresses[service]}:${PORTS.inbound}`
    return { address: addresses[service], endpoint: texts.some(text => text.includes(endpoint)) ? endpoint : undefined }
  }
  const namespace = withoutRun(renderNamespace({ name, runId: '', level: 'restricted' }), labels)
  const files = [
    { file: 'namespace.yaml', objects: [namespace] },
    {
      file: 'scripts.yaml',
      objects: shared.map(scriptName =>
        renderConfigMap({ name: scriptName, namespace: name, labels, files: scripts[scriptName] }),
      ),
    },
    ...services.map(({ service, containers }) => ({
      file: `${service.name}.yaml`,
      objects: renderOne({ service, containers, namespace: name, labels, ...createServicePlace(service.name) }),
    })),
  ]
  const credentials = Object.fromEntries(
    services.map(({ service, containers }) => [
      service.name,
      containers.flatMap(({ spec }) => spec.credentials.map(file => path.posix.basename(file))),
    ]),
  )
  const kustomization = renderKustomization({ name, credentials, files, addresses, labels })
  return {
    name,
    services: topology.services.map(s => s.name),
    files: [{ file: 'kustomization.yaml', objects: [kustomization] }, ...files].map(({ file, objects }) => ({
      file: `examples/${name}/${file}`,
      content: HEADER + objects.map(renderYaml).join('---\n'),
    })),
  }
}

/**
 * @param {{ service: Service, containers: ReturnType<typeof createContainers>, namespace: string,
 *   labels: Record<string, string>, address: string | undefined, endpoint: string | undefined }} options endpoint: where a
 *   configuration has the address and the port in one word
 */
function renderOne({ service, containers, namespace, labels, address, endpoint }) {
  const common = { service: service.name, name: service.name, namespace, labels }
  const files = containers.flatMap(({ spec }) => spec.files.map(f => [f.name, f.content]))
  const { spec, metadata, ...rest } = renderService({ ...common, ports: [PORTS.inbound] })
  const annotations = endpoint ? { annotations: { [ENDPOINT]: endpoint } } : {}
  return [
    renderConfigMap({ ...common, files: Object.fromEntries(files) }),
    {
      ...rest,
      metadata: { ...metadata, ...annotations },
      spec: { ...(address ? { clusterIP: address } : {}), ...spec },
    },
    renderDeployment({ ...common, containers, where: null, hasNativeSidecars: true }),
  ]
}

/**
 * Without the labels of a run: `cleanup` removes what has them.
 * @param {ReturnType<typeof renderNamespace>} namespace
 * @param {Record<string, string>} labels instead
 */
function withoutRun({ metadata, ...rest }, labels) {
  const { [LABELS.managed]: _, [LABELS.run]: __, ...kept } = metadata.labels
  return { ...rest, metadata: { ...metadata, labels: { ...labels, ...kept } } }
}

/** @param {unknown} object */
function renderYaml(object) {
  const document = new Document(object, { aliasDuplicateObjects: false })
  const address = /** @type {any} */ (document.getIn(['spec', 'clusterIP'], true))
  if (address)
    address.comment = ' where services have other addresses (k3s: 10.43.0.0/16), change it here, and only here'
  return document.toString({ lineWidth: 0 })
}
