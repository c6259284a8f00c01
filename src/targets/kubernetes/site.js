import { BenchError, SiteLostError } from '../../lib/errors.js'
import { openLedger } from '../../node/ledger.js'
import { iptablesTool } from '../../tools/iptables.js'
import { nodeTool } from '../../tools/node.js'
import { assertNode, assertPod } from './answers.js'
import { createApiClient } from './api.js'
import { createImageToolFinder } from './image-tools.js'
import { createKubernetesTarget } from './index.js'
import { readKubeletSummary } from './kubelet.js'
import { chooseNode, computeNodeLimits, readNodeFacts } from './nodes.js'
import { HOST_LABEL } from './pod.js'

/** The first minor version of Kubernetes 1 that has native sidecars by default (KEP-753). */
export const NATIVE_SIDECARS_DEFAULT_SINCE = 29
const RECURSIVE_READ_ONLY_SINCE = 31
// KEP-2837, pod-level resources: beta, and so on by default.
const POD_RESOURCES_SINCE = 34

/**
 * @import { Conditions, SampleSource, Site } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { NodePlace } from './pod.js'
 */

/**
 * @typedef {object} ClusterChoice
 * @property {string | null} context of the kubeconfig; null: the current one
 * @property {NodePlace} node for the services
 * @property {NodePlace} loadNode null: that of the services
 * @property {string | null} namespace of the services; null: one named after the run
 * @property {string} loadTool the generator's program
 * @property {Record<string, string>} images by the tool's name
 * @property {SampleSource} sampleSource
 * @property {AbortSignal} signal
 */

/**
 * Opens a cluster as a site. It creates nothing there yet.
 * @param {ClusterChoice & { runId: string }} options
 * @returns {Promise<Site>} closing its target closes its ledger
 * @throws {UsageError} if there is no kubeconfig, context or node of these names; {BenchError} if the cluster cannot be reached, no
 *   node accepts pods, the kubelet's counters are refused that `sampleSource` needs, a node or pod is not as the kit knows it, or the
 *   ledger cannot be written
 */
export async function openKubernetesSite({ runId, context, node, loadNode, ...options }) {
  const { namespace, images, loadTool, sampleSource, signal } = options
  const api = await createApiClient({ context })
  const { minor, gitVersion } = await readServerVersion(api)
  const nodes = await api.list('v1', 'Node')
  const { node: serviceNode, where } = chooseNode(nodes, node, '--node')
  const machine = readNodeFacts(assertNode(serviceNode))
  const loadWhere = loadNode === null ? where : chooseNode(nodes, loadNode, '--load-node').where
  // By the kubelet's counters, the load is on this node, since clocks of two could not be compared. A refusal must come before the run.
  if (sampleSource === 'kubelet') await readKubeletSummary(api, machine.node)
  const oldestMinor = Math.min(minor, Number(machine.kubelet.split('.')[1]))
  const limits = computeNodeLimits({ node: serviceNode, pods: (await api.list('v1', 'Pod')).map(assertPod) })
  const ledger = openLedger({ runId })
  const target = createKubernetesTarget({
    api,
    ledger,
    nodeImage: images.node ?? nodeTool.image,
    loadWhere,
    signal,
    namespace: namespace ?? `sidecar-bench-${runId}`,
    where,
    hasNativeSidecars: oldestMinor >= NATIVE_SIDECARS_DEFAULT_SINCE,
    hasRecursiveReadOnly: minor >= RECURSIVE_READ_ONLY_SINCE,
    sampleSource,
    cpus: machine.cpus,
    node: machine.node,
    nodeLabel: serviceNode.metadata.labels?.[HOST_LABEL] ?? machine.node,
  })
  const choosePlace = (/** @type {string} */ name) => (name === loadTool ? loadWhere : where)
  const findTool = createImageToolFinder({ api, target, images, choosePlace, signal })
  return {
    target,
    runId,
    ledger,
    cpus: machine.cpus,
    machine: { ...machine, cluster: api.server, kubernetes: gitVersion },
    sampleSource,
    limits,
    cores: [],
    assertCpuSettings: conditions => assertPodResources(conditions, { minor, gitVersion, kubelet: machine.kubelet }),
    async assertInterception() {
      const iptables = await findTool(iptablesTool)
      if ('missing' in iptables) throw new BenchError(`--interception redirect: ${iptables.missing}`)
      await target.allowRules(`${iptables.image}`)
    },
    findTool,
  }
}

/**
 * Asserts that pods may have resources of their own, if an arm needs that. Containers may have requests in any
 * cluster.
 * @param {Conditions[]} conditions of all arms
 * @param {{ minor: number, gitVersion: string, kubelet: string }} versions of the API server (minor, gitVersion) and
 *   the kubelet
 * @throws {BenchError} if the API server or the kubelet is too old
 */
export function assertPodResources(conditions, { minor, gitVersion, kubelet }) {
  const [cores] = conditions.flatMap(({ podCpuCores }) => podCpuCores ?? [])
  if (cores === undefined || Math.min(minor, Number(kubelet.split('.')[1])) >= POD_RESOURCES_SINCE) return
  throw new BenchError(
    `--pod-cpu ${cores}: pods have resources of their own by default since Kubernetes 1.${POD_RESOURCES_SINCE}, and here are ${gitVersion} and the kubelet ${kubelet}: leave it out, or take a newer cluster`,
  )
}

/**
 * Reads the version of the API server.
 * @param {Api} api
 * @returns {Promise<{ minor: number, gitVersion: string }>} minor: NaN if it is no number
 * @throws {BenchError} if it refuses, or does not answer for some seconds
 */
export async function readServerVersion(api) {
  const version = api.config.makeApiClient(api.k8s.VersionApi)
  const { minor, gitVersion } = await api
    .request('ask for the version', () => version.getCode(), { lostAfterSeconds: 5 })
    .catch(error => {
      if (!(error instanceof SiteLostError)) throw error
      const noun = `the API server ${api.server} (context ${api.readContext()})`
      throw new BenchError(`${noun} cannot be reached: is the cluster up? ${error.message}`, { cause: error })
    })
  return { minor: Number.parseInt(minor, 10), gitVersion }
}
