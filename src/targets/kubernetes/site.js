import { BenchError, EXIT, SiteLostError } from '../../lib/errors.js'
import { listLastLines } from '../../lib/log-tail.js'
import { renderCommand } from '../../lib/render-command.js'
import { openLedger } from '../../node/ledger.js'
import { iptablesTool } from '../../tools/iptables.js'
import { nodeTool } from '../../tools/node.js'
import { isBuiltByKit } from '../../tools/sources.js'
import { isVersionPrinted, parseTlsLibrary } from '../../tools/version.js'
import { assertNode, assertPod } from './answers.js'
import { createApiClient } from './api.js'
import { awaitPods } from './await-pods.js'
import { findImage } from './images.js'
import { createKubernetesTarget } from './index.js'
import { readKubeletSummary } from './kubelet.js'
import { LABELS, MANAGER, renderVersionJob } from './manifests.js'
import { chooseNode, computeNodeLimits, readNodeFacts } from './nodes.js'
import { HOST_LABEL } from './pod.js'
import { findContainerId, findContainerStatus } from './pod-status.js'

/** The first minor version of Kubernetes 1 that has native sidecars by default (KEP-753). */
export const NATIVE_SIDECARS_DEFAULT_SINCE = 29
const RECURSIVE_READ_ONLY_SINCE = 31
// KEP-2837, pod-level resources: beta, and so on by default.
const POD_RESOURCES_SINCE = 34

const PULL_SECONDS = 300
const POLL_MS = 200

/**
 * @import { Conditions, SampleSource, Site, Tool, ToolSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { NodePlace } from './pod.js'
 * @import { PodWatch } from './pod-watch.js'
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

/**
 * @typedef {object} ImageToolOptions
 * @property {Api} api
 * @property {ReturnType<typeof createKubernetesTarget>} target
 * @property {Record<string, string>} images of the user, by the tool's name
 * @property {(name: string) => NodePlace} choosePlace chooses the place of a tool
 * @property {AbortSignal} signal
 */

/**
 * Creates the function that finds programs in images. A Job prints the version of each program: that shows a missing
 * or wrong image before anything is measured, and pulls a good one.
 * @param {ImageToolOptions} options
 * @returns {(spec: ToolSpec) => Promise<Tool | { missing: string }>} missing: the reason, with advice; it throws a BenchError if the
 *   API server refuses the Job, a SiteLostError if it does not answer, and the signal's reason when it aborts
 */
export function createImageToolFinder({ api, target, images, choosePlace, signal }) {
  return async spec => {
    if (spec.path)
      return { missing: `${spec.path} is a program of this machine: a cluster runs images, --image ${spec.name}=…` }
    const image = findImage(spec, images)
    if (image === null) return { missing: `there is no image of ${spec.name}: give --image ${spec.name}=…` }
    const written = `${renderCommand('images', `--${spec.name} FILE`)} writes it, on a machine of the node's architecture`
    const buildAdvice = isBuiltByKit(spec.name) && !Object.hasOwn(images, spec.name) ? `${written}, or ` : ''
    const advice = `${buildAdvice}give --image ${spec.name}=…`
    const { pods } = await target.open()
    const job = renderVersionJob({
      name: `version-${spec.name}`,
      namespace: target.namespace,
      labels: { [LABELS.managed]: MANAGER },
      image,
      command: [spec.name, ...spec.versionArgv],
      where: choosePlace(spec.name),
    })
    await api.apply(job)
    try {
      const { text, digest } = await readVersionLog({ api, pods, spec, ...job.metadata, signal })
      const version = spec.parseVersion(text)
      const output = listLastLines(text, 3).join(' | ') || 'it printed nothing'
      if (version === null)
        return { missing: `the image ${image} has no ${spec.name} that says its version: ${output}; ${advice}` }
      if (!spec.isAccepted(version))
        return { missing: `the image ${image} has ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}` }
      const origin = { sha256: digest, source: `image ${image}`, image }
      return { name: spec.name, path: spec.name, version, ...parseTlsLibrary(spec, text), ...origin }
    } catch (error) {
      if (!(error instanceof BenchError) || error instanceof SiteLostError) throw error
      // An interrupt has another exit status.
      if (error.exitStatus !== EXIT.failed) throw error
      return { missing: `${error.message}${buildAdvice && `; ${advice}`}` }
    } finally {
      await api.remove(job)
    }
  }
}

/**
 * Reads what a program prints for its version, until that is printed or the program ends: some print it and keep running.
 * @param {object} options
 * @param {Api} options.api
 * @param {PodWatch} options.pods
 * @param {ToolSpec} options.spec
 * @param {string} options.namespace
 * @param {string} options.name of the Job, its container and its service
 * @param {AbortSignal} options.signal
 * @returns {Promise<{ text: string, digest: string }>} digest: the SHA-256 of the image; empty: the node does not say it
 * @throws {BenchError} if the program does not start, fails, or prints no version in PULL_SECONDS; as `awaitPods`
 */
async function readVersionLog({ api, pods, spec, namespace, name, signal }) {
  const listPods = () => pods.find(name)
  const readLog = () => api.readLog({ namespace, pod: `${listPods()[0]?.metadata?.name}`, container: name })
  let text = ''
  const isPrinted = () => isVersionPrinted(spec, text)
  const polling = setInterval(async () => {
    const [pod] = listPods()
    if (pod && findContainerId(pod, name)) text = await readLog().catch(() => text)
  }, POLL_MS)
  try {
    await awaitPods({
      api,
      pods,
      namespace,
      noun: `the image of ${spec.name}`,
      controllerPrefix: name,
      listPods,
      isDone: podsSoFar => isPrinted() || podsSoFar.some(pod => pod.status?.phase === 'Succeeded'),
      deadlineSeconds: PULL_SECONDS,
      signal,
    })
    if (!isPrinted()) text = await readLog()
    const imageId = findContainerStatus(listPods()[0], name)?.imageID
    return { text, digest: imageId?.replace(/^.*sha256:/, '') ?? '' }
  } finally {
    clearInterval(polling)
  }
}
