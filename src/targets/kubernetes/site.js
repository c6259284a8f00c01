import { BenchError, SiteLostError, UsageError } from '../../lib/errors.js'
import { suggest } from '../../lib/nearest.js'
import { nodeTool } from '../../tools/node.js'
import { connect } from './api.js'
import { createKubernetesTarget } from './index.js'
import { createImageTools } from './tools.js'

/**
 * @import { Site } from '../../types.ts'
 * @import { Where } from './manifests.js'
 */

const NATIVE_SIDECARS_SINCE = 29

/**
 * @typedef {object} ClusterChoice
 * @property {string | null} context of the kubeconfig; null for the current
 * @property {Where} node where the services go: a node's name, or label=value
 * @property {Where} loadNode
 * @property {string | null} namespace
 * @property {Record<string, string>} images by the tool's name
 * @property {number | null} generators
 */

/**
 * A cluster.
 * @param {ClusterChoice & { runId: string }} options
 * @returns {Promise<Site>}
 * @throws {BenchError} when it cannot be reached, or has no such node
 */
export async function openKubernetesSite({ runId, context, node, loadNode, namespace, images, generators }) {
  const api = await connect({ context })
  const { minor, gitVersion } = await readVersion(api)
  const nodes = await api.list('v1', 'Node')
  const where = chooseNode(nodes, node, '--node')
  const machine = describeNode(where.node)
  const loadWhere = loadNode === null ? where.where : chooseNode(nodes, loadNode, '--load-node').where
  const nodeImage = images.node ?? nodeTool.image
  const target = createKubernetesTarget({
    ...{ api, runId, nodeImage, generators, loadWhere },
    namespace: namespace ?? `sidecar-bench-${runId}`,
    where: where.where,
    hasNativeSidecars: minor >= NATIVE_SIDECARS_SINCE,
  })
  return {
    target: withAdvice(target),
    runId,
    cpus: machine.cpus,
    machine: { ...machine, cluster: api.server, kubernetes: gitVersion },
    sampleSource: 'cgroup',
    cores: [],
    findTool: createImageTools({ api, target, images, where: where.where }),
  }
}

/**
 * @param {import('./api.js').Api} api
 */
export async function readVersion(api) {
  const version = api.config.makeApiClient(api.k8s.VersionApi)
  const { minor, gitVersion } = await api.request('ask for the version', () => version.getCode(), { lostAfterSeconds: 5 }).catch(error => {
    if (!(error instanceof SiteLostError)) throw error
    throw new BenchError(`the API server ${api.server} (context ${api.nameOf()}) cannot be reached: is the cluster up? ${error.message}`, { cause: error })
  })
  return { minor: Number.parseInt(minor, 10), gitVersion }
}

/**
 * @param {any[]} nodes
 * @param {Where} wanted null: the first that is ready and takes pods
 * @param {string} option
 */
export function chooseNode(nodes, wanted, option) {
  const isUsable = (/** @type {any} */ n) =>
    !n.spec.unschedulable && n.status.conditions?.some((/** @type {any} */ c) => c.type === 'Ready' && c.status === 'True')
  const [label, value] = wanted?.includes('=') ? wanted.split('=', 2) : ['kubernetes.io/hostname', wanted]
  const found = wanted === null ? nodes : nodes.filter(n => n.metadata.labels?.[label] === value)
  if (found.length === 0) {
    const names = nodes.map(n => n.metadata.name)
    throw new UsageError(`${option} ${wanted}: the cluster has no such node${suggest(`${wanted}`, names)}; it has: ${names.join(', ')}`)
  }
  const node = found.find(isUsable)
  if (!node) throw new BenchError(`no node can take pods: ${found.map(n => n.metadata.name).join(', ')} not ready, or cordoned`)
  return { node, where: wanted ?? `${node.metadata.labels['kubernetes.io/hostname']}` }
}

/** @param {any} node */
function describeNode({ metadata, status }) {
  const { nodeInfo, allocatable, capacity } = status
  return {
    node: metadata.name,
    kernel: `Linux ${nodeInfo.kernelVersion}`,
    architecture: nodeInfo.architecture,
    cpus: Math.floor(parseCpu(capacity.cpu)),
    allocatableCpus: parseCpu(allocatable.cpu),
    memoryBytes: Number.parseInt(capacity.memory, 10) * (capacity.memory.endsWith('Ki') ? 1024 : 1),
    system: nodeInfo.osImage,
    kubelet: nodeInfo.kubeletVersion,
    containerRuntime: nodeInfo.containerRuntimeVersion,
  }
}

/** @param {string} quantity of CPUs: `2` or `1930m` */
export function parseCpu(quantity) {
  return quantity.endsWith('m') ? Number.parseInt(quantity, 10) / 1000 : Number(quantity)
}

/**
 * What is left behind where the cluster no longer answers is named.
 * @template {import('../../types.ts').Target} T
 * @param {T} target
 * @returns {T}
 */
function withAdvice(target) {
  return {
    ...target,
    async close(options) {
      try {
        return await target.close(options)
      } catch (error) {
        if (!(error instanceof BenchError)) throw error
        throw new BenchError(`${error.message}; what the run left there is removed by: npm run cleanup -- --target kubernetes`, { cause: error })
      }
    },
  }
}
