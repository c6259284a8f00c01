import { BenchError, SiteLostError, UsageError } from '../../lib/errors.js'
import { suggest } from '../../lib/nearest.js'
import { openLedger } from '../../node/ledger.js'
import { nodeTool } from '../../tools/node.js'
import { readNode, readPod } from './answers.js'
import { connect } from './api.js'
import { createKubernetesTarget } from './index.js'
import { readSummary } from './kubelet.js'
import { findLimits } from './node-limits.js'
import { HOST_LABEL, parseWhere } from './pod.js'
import { parseQuantity } from './quantity.js'
import { createImageTools } from './tools.js'

/** Minor version of Kubernetes 1. */
export const NATIVE_SIDECARS_SINCE = 29
const RECURSIVE_READ_ONLY_SINCE = 31

/** @import { V1Node } from '@kubernetes/client-node' */
/** @import { Site } from '../../model/types.ts' */
/** @import { Where } from './pod.js' */

/**
 * @typedef {object} ClusterChoice
 * @property {string | null} context of the kubeconfig; null for the current
 * @property {Where} node where the services go: a node's name, or label=value
 * @property {Where} loadNode
 * @property {string | null} namespace
 * @property {Record<string, string>} images by the tool's name
 * @property {string} loadTool the name of the load generator's program
 * @property {import('../../model/types.ts').SampleSource} sampleSource
 * @property {AbortSignal} signal
 */

/**
 * A cluster.
 * @param {ClusterChoice & { runId: string }} options
 * @returns {Promise<Site>}
 * @throws {BenchError} when it cannot be reached, or has no such node
 */
export async function openKubernetesSite({
  runId,
  context,
  node,
  loadNode,
  namespace,
  images,
  loadTool,
  sampleSource,
  signal,
}) {
  const api = await connect({ context })
  const { minor, gitVersion } = await readVersion(api)
  const nodes = await api.list('v1', 'Node')
  const where = chooseNode(nodes, node, '--node')
  const machine = describeNode(readNode(where.node))
  const loadWhere = loadNode === null ? where.where : chooseNode(nodes, loadNode, '--load-node').where
  if (sampleSource === 'kubelet') {
    if (loadWhere !== where.where) {
      throw new UsageError('--samples kubelet cannot tell how far clocks are apart: it takes no --load-node')
    }
    // A refusal now, and not when the load runs already.
    await readSummary(api, machine.node)
  }
  const nodeImage = images.node ?? nodeTool.image
  const ledger = openLedger({ runId })
  const target = createKubernetesTarget({
    api,
    ledger,
    nodeImage,
    loadWhere,
    signal,
    namespace: namespace ?? `sidecar-bench-${runId}`,
    where: where.where,
    hasNativeSidecars: Math.min(minor, Number(machine.kubelet.split('.')[1])) >= NATIVE_SIDECARS_SINCE,
    hasRecursiveReadOnly: minor >= RECURSIVE_READ_ONLY_SINCE,
    sampleSource,
    cpus: machine.cpus,
    node: machine.node,
    nodeLabel: where.node.metadata.labels?.[HOST_LABEL] ?? machine.node,
  })
  return {
    target,
    runId,
    ledger,
    cpus: machine.cpus,
    machine: { ...machine, cluster: api.server, kubernetes: gitVersion },
    sampleSource,
    limits: findLimits({ node: readNode(where.node), pods: (await api.list('v1', 'Pod')).map(readPod) }),
    cores: [],
    findTool: createImageTools({
      api,
      target,
      images,
      whereOf: name => (name === loadTool ? loadWhere : where.where),
      signal,
    }),
  }
}

/** @param {import('./api.js').Api} api */
export async function readVersion(api) {
  const version = api.config.makeApiClient(api.k8s.VersionApi)
  const { minor, gitVersion } = await api
    .request('ask for the version', () => version.getCode(), { lostAfterSeconds: 5 })
    .catch(error => {
      if (!(error instanceof SiteLostError)) throw error
      throw new BenchError(
        `the API server ${api.server} (context ${api.nameOf()}) cannot be reached: is the cluster up? ${error.message}`,
        { cause: error },
      )
    })
  return { minor: Number.parseInt(minor, 10), gitVersion }
}

/**
 * @param {any[]} nodes
 * @param {Where} wanted a node's name, or label=value; null: the first that is ready and takes pods
 * @param {string} option
 */
export function chooseNode(nodes, wanted, option) {
  const { label, value } = wanted === null ? { label: '', value: '' } : parseWhere(wanted)
  const isWanted = (/** @type {any} */ { metadata }) =>
    metadata.labels?.[label] === value || (label === HOST_LABEL && metadata.name === value)
  const found = wanted === null ? nodes : nodes.filter(isWanted)
  if (found.length === 0) {
    const names = nodes.map(n => n.metadata.name)
    throw new UsageError(`${option} ${wanted}: the cluster has no such node${suggest(`${wanted}`, names)}`)
  }
  const node = found.find(n => findDefect(n) === null)
  if (!node) {
    throw new BenchError(
      `no node can take pods: ${found.map(n => n.metadata.name).join(', ')} not ready, cordoned or tainted; name one with ${option}`,
    )
  }
  return { node, where: wanted?.includes('=') ? wanted : `${node.metadata.labels?.[HOST_LABEL] ?? node.metadata.name}` }
}

/** Why a node takes no pods of a run; null when it does. @param {V1Node} node */
export function findDefect({ spec, status }) {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') return `it is not ready: ${ready?.message ?? 'it does not say why'}`
  if (spec?.unschedulable) return 'it is cordoned: kubectl uncordon it, or name another with --node'
  const taint = spec?.taints?.find(({ effect }) => effect !== 'PreferNoSchedule')
  return taint ? `its taint ${taint.key}:${taint.effect} keeps pods away: name another with --node` : null
}

/** @param {any} node */
export function describeNode({ metadata, status }) {
  const { nodeInfo, allocatable, capacity } = status
  return {
    node: metadata.name,
    bootId: nodeInfo.bootID,
    kernel: `Linux ${nodeInfo.kernelVersion}`,
    architecture: nodeInfo.architecture,
    cpus: Math.floor(parseQuantity(capacity.cpu)),
    allocatableCpus: parseQuantity(allocatable.cpu),
    memoryBytes: parseQuantity(capacity.memory),
    system: nodeInfo.osImage,
    kubelet: nodeInfo.kubeletVersion,
    containerRuntime: nodeInfo.containerRuntimeVersion,
  }
}
