import { BenchError, SiteLostError } from '../../lib/errors.js'
import { listLastLines } from '../../lib/log-tail.js'
import { renderCommand } from '../../lib/render-command.js'
import { openLedger } from '../../node/ledger.js'
import { iptablesTool } from '../../tools/iptables.js'
import { nodeTool } from '../../tools/node.js'
import { isBuilt } from '../../tools/sources.js'
import { isVersionPrinted, readLibrary } from '../../tools/version.js'
import { readNode, readPod } from './answers.js'
import { connect } from './api.js'
import { awaitPods } from './await-pods.js'
import { findImage } from './images.js'
import { createKubernetesTarget } from './index.js'
import { readSummary } from './kubelet.js'
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
const ASK_MS = 200

/**
 * @import { Conditions, Site, Tool, ToolSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { Where } from './pod.js'
 */

/**
 * @typedef {object} ClusterChoice
 * @property {string | null} context of the kubeconfig; null: the current one
 * @property {Where} node for the services
 * @property {Where} loadNode null: that of the services
 * @property {string | null} namespace of the services; null: one named after the run
 * @property {string} loadTool the generator's program
 * @property {Record<string, string>} images by the tool's name
 * @property {import('../../model/types.ts').SampleSource} sampleSource
 * @property {AbortSignal} signal
 */

/**
 * Opens a cluster as a site. It creates nothing there yet.
 * @param {ClusterChoice & { runId: string }} options
 * @returns {Promise<Site>}
 * @throws {BenchError} if it cannot be reached, has no such node, or refuses the kubelet's counters that options
 *   request
 */
export async function openKubernetesSite({ runId, context, node, loadNode, ...options }) {
  const { namespace, images, loadTool, sampleSource, signal } = options
  const api = await connect({ context })
  const { minor, gitVersion } = await readVersion(api)
  const nodes = await api.list('v1', 'Node')
  const where = chooseNode(nodes, node, '--node')
  const machine = readNodeFacts(readNode(where.node))
  const loadWhere = loadNode === null ? where.where : chooseNode(nodes, loadNode, '--load-node').where
  // By the kubelet's counters, the load is on this node, since clocks of two could not be compared. A refusal must come before the run.
  if (sampleSource === 'kubelet') await readSummary(api, machine.node)
  const oldestMinor = Math.min(minor, Number(machine.kubelet.split('.')[1]))
  const ledger = openLedger({ runId })
  const target = createKubernetesTarget({
    api,
    ledger,
    nodeImage: images.node ?? nodeTool.image,
    loadWhere,
    signal,
    namespace: namespace ?? `sidecar-bench-${runId}`,
    where: where.where,
    hasNativeSidecars: oldestMinor >= NATIVE_SIDECARS_DEFAULT_SINCE,
    hasRecursiveReadOnly: minor >= RECURSIVE_READ_ONLY_SINCE,
    sampleSource,
    cpus: machine.cpus,
    node: machine.node,
    nodeLabel: where.node.metadata.labels?.[HOST_LABEL] ?? machine.node,
  })
  const chooseToolPlace = (/** @type {string} */ name) => (name === loadTool ? loadWhere : where.where)
  const findTool = createImageTools({ api, target, images, whereOf: chooseToolPlace, signal })
  return {
    target,
    runId,
    ledger,
    cpus: machine.cpus,
    machine: { ...machine, cluster: api.server, kubernetes: gitVersion },
    sampleSource,
    limits: computeNodeLimits({ node: readNode(where.node), pods: (await api.list('v1', 'Pod')).map(readPod) }),
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
 * @returns {Promise<{ minor: number, gitVersion: string }>}
 * @throws {BenchError} if it does not answer for 5 s
 */
export async function readVersion(api) {
  const version = api.config.makeApiClient(api.k8s.VersionApi)
  const { minor, gitVersion } = await api
    .request('ask for the version', () => version.getCode(), { lostAfterSeconds: 5 })
    .catch(error => {
      if (!(error instanceof SiteLostError)) throw error
      const what = `the API server ${api.server} (context ${api.readContext()})`
      throw new BenchError(`${what} cannot be reached: is the cluster up? ${error.message}`, { cause: error })
    })
  return { minor: Number.parseInt(minor, 10), gitVersion }
}

/**
 * Creates the function that finds programs in images. A Job prints the version of each program: that shows a missing
 * or wrong image before anything is measured, and pulls a good one.
 * @param {{ api: Api, target: ReturnType<typeof createKubernetesTarget>, images: Record<string, string>, whereOf:
 *   (name: string) => Where, signal: AbortSignal }} options images: of the user, by the tool's name; whereOf: gives
 *   the place of a tool
 * @returns {(spec: ToolSpec) => Promise<Tool | { missing: string }>} missing: the reason, with advice
 */
export function createImageTools({ api, target, images, whereOf, signal }) {
  return async spec => {
    if (spec.path)
      return { missing: `${spec.path} is a program of this machine: a cluster runs images, --image ${spec.name}=…` }
    const image = findImage(spec, images)
    if (image === null) return { missing: `there is no image of ${spec.name}: give --image ${spec.name}=…` }
    const written = `${renderCommand('images', `--${spec.name} FILE`)} writes it, on a machine of the node's architecture`
    const bring = isBuilt(spec.name) && !Object.hasOwn(images, spec.name) ? `${written}, or ` : ''
    const advice = `${bring}give --image ${spec.name}=…`
    const { pods } = await target.open()
    const { namespace } = target
    const name = `version-${spec.name}`
    const labels = { [LABELS.managed]: MANAGER }
    const command = [spec.name, ...spec.versionArgv]
    const job = renderVersionJob({ name, namespace, labels, image, command, where: whereOf(spec.name) })
    await api.apply(job)
    const listPods = () => pods.find(name)
    const readLog = () => api.readLog({ namespace, pod: `${listPods()[0]?.metadata?.name}`, container: name })
    let text = ''
    // Some programs print their version and keep running.
    const isPrinted = () => isVersionPrinted(spec, text)
    const reading = setInterval(async () => {
      const [pod] = listPods()
      if (pod && findContainerId(pod, name)) text = await readLog().catch(() => text)
    }, ASK_MS)
    try {
      await awaitPods({
        ...{ api, pods, namespace, signal },
        noun: `the image of ${spec.name}`,
        controllerPrefix: name,
        listPods,
        isDone: started => isPrinted() || started.some(pod => pod.status?.phase === 'Succeeded'),
        deadlineSeconds: PULL_SECONDS,
      })
      if (!isPrinted()) text = await readLog()
      const version = spec.parseVersion(text)
      const digest = findContainerStatus(listPods()[0], name)?.imageID.replace(/^.*sha256:/, '') ?? ''
      const output = listLastLines(text, 3).join(' | ') || 'it printed nothing'
      if (version === null)
        return { missing: `the image ${image} has no ${spec.name} that says its version: ${output}; ${advice}` }
      if (!spec.isAccepted(version))
        return { missing: `the image ${image} has ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}` }
      const origin = { sha256: digest, source: `image ${image}`, image }
      return { name: spec.name, path: spec.name, version, ...readLibrary(spec, text), ...origin }
    } catch (error) {
      if (!(error instanceof BenchError) || error instanceof SiteLostError || error.exitStatus !== 1) throw error
      return { missing: `${error.message}${bring && `; ${advice}`}` }
    } finally {
      clearInterval(reading)
      await api.remove(job)
    }
  }
}
