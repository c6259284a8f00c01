import { BenchError } from '../../lib/errors.js'
import { renderCommand } from '../../lib/render-command.js'
import { findLargestBindingCpuLimit } from '../../model/cpu-limits.js'
import { formatImageName } from '../../tools/image.js'
import { nodeTool } from '../../tools/node.js'
import { isBuilt } from '../../tools/sources.js'
import { checkAccess } from './access.js'
import { chooseImages, hasImage, isAlwaysPulled } from './images.js'
import { renderNamespace, renderReader } from './manifests.js'
import { chooseNode, findDefect, parseQuantity } from './nodes.js'
import { parseNodeLabel } from './pod.js'
import { NATIVE_SIDECARS_DEFAULT_SINCE, readVersion } from './site.js'

/**
 * @import { ToolSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 */
/**
 * @import { Where } from './pod.js'
 * @import { V1Node } from '@kubernetes/client-node'
 */

/**
 * A finding, with further lines under its text.
 * @typedef {{ level: 'ok' | 'warning' | 'missing', text: string, more?: string[] }} Finding
 */

const TRIED_NAME = 'sidecar-bench-doctor'
// The server's error for an admission webhook with side effects, which is called for real objects only.
const UNTRIED = /does not support dry run/
const RBAC = 'k8s/rbac.yaml names all that a run needs: have it applied, and its ClusterRole sidecar-bench bound to you'

// Kubernetes 1.33: the static CPU manager sets no quota on a container with its own CPUs (DisableCPUQuotaWithExclusiveCPUs).
const NO_QUOTA_SINCE = 33
// The kubelet's default of nodeStatusMaxImages.
const LISTED_IMAGES = 50
const KUBELET_SECONDS = 5
const IMPORT =
  'a node without a registry takes them from an archive: ctr -n k8s.io images import, k3s ctr images import, kind load'
const READ_BACK = 'every run reads its quotas back from the kernel anyway'

/**
 * Checks all that a default run needs on a cluster, and creates nothing there. A refusal is a finding; what needs a
 * denied request is not checked.
 * @param {{ api: Api, node: Where, loadNode: Where, images: Record<string, string>, specs: ToolSpec[] }} options as
 *   for a run; loadNode: null: that of the services; images: by the tool's name, instead of its default
 * @returns {Promise<Finding[]>}
 */
export async function checkCluster({ api, node, loadNode, images, specs }) {
  /** @type {Finding[]} */
  const findings = []
  try {
    const { minor, gitVersion } = await readVersion(api)
    const isOld = minor < NATIVE_SIDECARS_DEFAULT_SINCE
    const oldNote = `: sidecars are ordinary containers; native ones came with 1.${NATIVE_SIDECARS_DEFAULT_SINCE}`
    const text = `API server: Kubernetes ${gitVersion} at ${api.server} (context ${api.readContext()})`
    findings.push(isOld ? createWarning(`${text}${oldNote}`) : createOkFinding(text))
    const denied = await checkAccess(api).catch(error => {
      findings.push(createWarning(`access: ${error.message}`))
      return null
    })
    if (denied?.length === 0) findings.push(createOkFinding('access: all that a run asks is allowed'))
    for (const { group, resource, verbs, why } of denied ?? []) {
      const text = `access: you may not ${verbs.join(', ')} ${resource}${group && `.${group}`} (${why})`
      findings.push({ level: 'missing', text, more: resource === denied?.at(-1)?.resource ? [RBAC] : [] })
    }
    // A request that is denied would only fail, so what needs it is not checked.
    const isPermitted = (/** @type {string} */ resource) => !denied?.some(d => d.resource === resource)
    if (isPermitted('namespaces') && isPermitted('daemonsets'))
      findings.push(await checkReader(api, images.node ?? nodeTool.image))
    if (isPermitted('nodes')) {
      /** @type {V1Node[]} */
      const allNodes = await api.list('v1', 'Node')
      const services = chooseNode(allNodes, node, '--node')
      const load = loadNode === null ? services : chooseNode(allNodes, loadNode, '--load-node')
      const places = [services, load].map(({ where }) => parseNodeLabel(where))
      const usedNodes = allNodes.filter(({ metadata }) =>
        places.some(({ label, value }) => metadata?.labels?.[label] === value),
      )
      const cpus = Math.floor(parseQuantity(services.node.status.capacity.cpu))
      const largest = `largest cap at which two sidecars can bind on the ${cpus} CPUs of ${readNodeName(services.node)}`
      findings.push(
        ...usedNodes.map(node => checkNode(node, minor)),
        ...checkImages(usedNodes, chooseImages({ specs, images })),
        ...(await Promise.all(usedNodes.map(node => checkCpuLimits(api, node)))),
        createOkFinding(`${largest}: ${findLargestBindingCpuLimit(cpus)} cores`),
      )
    }
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    findings.push({ level: 'missing', text: error.message })
  }
  return findings
}

/**
 * Checks, in a dry run, whether the API server would admit the reader.
 * @param {Api} api
 * @param {string} image of Node
 * @returns {Promise<Finding>}
 */
async function checkReader(api, image) {
  const reader = renderReader({
    name: TRIED_NAME,
    // A dry run needs a namespace that is there.
    namespace: 'default',
    labels: {},
    image,
    folder: { path: '/bench/kit', configMap: 'kit', names: [] },
    wheres: [],
    hasRecursiveReadOnly: false,
  })
  let what = 'privileged namespace'
  try {
    const body = renderNamespace({ name: TRIED_NAME, runId: 'doctor', level: 'privileged' })
    await api.request('create its namespace', () => api.core.createNamespace({ body, dryRun: 'All' }))
    what = 'DaemonSet'
    await api.tryApply(reader)
    return createOkFinding('reader: its privileged namespace and its DaemonSet would be admitted')
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    const level = UNTRIED.test(error.message) ? 'warning' : 'missing'
    return { level, text: `reader: its ${what} is refused: ${error.message}` }
  }
}

/**
 * Checks a node. A defect is only a warning: `chooseNode` has found a node without one for each place.
 * @param {V1Node} node
 * @param {number} minor version of the API server
 * @returns {Finding}
 */
function checkNode(node, minor) {
  const { capacity = {}, allocatable = {}, nodeInfo } = node.status ?? {}
  const text = [
    `node ${readNodeName(node)}: ${parseQuantity(capacity.cpu)} CPUs (${parseQuantity(allocatable.cpu)} allocatable), ${(parseQuantity(capacity.memory) / 2 ** 30).toFixed(1)} GiB`,
    `kubelet ${nodeInfo?.kubeletVersion}, ${nodeInfo?.containerRuntimeVersion}`,
  ].join(', ')
  const defect = findDefect(node)
  if (defect !== null) return createWarning(`${text}: ${defect}`)
  return minor >= NATIVE_SIDECARS_DEFAULT_SINCE && parseKubeletMinor(node) < NATIVE_SIDECARS_DEFAULT_SINCE
    ? createWarning(`${text}: it is older than native sidecars, which the API server knows: runs may not start there`)
    : createOkFinding(`${text}, ready`)
}

/**
 * Checks which nodes lack each image. The last warning says how to import images.
 * @param {V1Node[]} nodes
 * @param {{ name: string, image: string }[]} chosen the images of the run
 * @returns {Finding[]} one for each image
 */
function checkImages(nodes, chosen) {
  const findings = chosen.map(({ name, image }) => {
    const without = nodes.filter(node => !hasImage(node, image))
    const text = `image of ${name}: ${image}`
    const why = `because its tag is latest or none: give --image ${name}=… with a tag`
    if (isAlwaysPulled(image)) return createWarning(`${text} will be pulled at every start, ${why}`)
    if (without.length === 0) return createOkFinding(`${text}, on ${nodes.map(readNodeName).join(', ')}`)
    const isCut = without.some(({ status }) => (status?.images?.length ?? 0) >= LISTED_IMAGES)
    const cutNote = isCut ? ` (a node lists its ${LISTED_IMAGES} largest images only: it may be there)` : ''
    const nodeNames = `${without.map(readNodeName).join(', ')}${cutNote}`
    // The kit builds this image, so no registry has it.
    if (isBuilt(name) && image === formatImageName(name))
      return createWarning(`${text} is not on ${nodeNames}: ${renderCommand('images', `--${name} FILE`)} writes it`)
    return createWarning(`${text} will be pulled by ${nodeNames}`)
  })
  const lastWarning = findings.findLast(({ level }) => level === 'warning')
  if (lastWarning) lastWarning.more = [IMPORT]
  return findings
}

/**
 * Checks whether a node's kubelet enforces CPU limits.
 * @param {Api} api
 * @param {V1Node} node
 * @returns {Promise<Finding>} missing: cpuCFSQuota is off; warning: its configuration cannot be read, or the static
 *   CPU manager gives some pods exclusive CPUs
 */
async function checkCpuLimits(api, node) {
  const name = readNodeName(node)
  const what = `CPU caps on ${name}`
  /** @type {any} */
  let answer
  try {
    const ask = () => api.core.connectGetNodeProxyWithPath({ name, path: 'configz' })
    const options = { lostAfterSeconds: KUBELET_SECONDS }
    answer = await api.request(`read the kubelet's configuration of ${name}`, ask, options)
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    const isDenied = /** @type {any} */ (error).code === 403
    const why = isDenied ? 'you may not ask its kubelet (get nodes/proxy, which no run needs)' : error.message
    return createWarning(`${what}: ${why}; ${READ_BACK}`)
  }
  const { cpuCFSQuota, cpuCFSQuotaPeriod = '100ms', cpuManagerPolicy = 'none' } = answer.kubeletconfig
  if (cpuCFSQuota === false) {
    const advice = 'set it to true, or name another with --node'
    return { level: 'missing', text: `${what}: its kubelet enforces no CPU limits (cpuCFSQuota: false): ${advice}` }
  }
  const text = `${what}: quotas every ${cpuCFSQuotaPeriod}, CPU manager ${cpuManagerPolicy}`
  if (cpuManagerPolicy !== 'static') return createOkFinding(text)
  const quota = parseKubeletMinor(node) >= NO_QUOTA_SINCE ? ' and no quota' : ''
  return createWarning(`${text}: a Guaranteed pod that asks for whole CPUs has them for itself${quota}; ${READ_BACK}`)
}

/**
 * Creates a finding of something that is as needed.
 * @param {string} text
 * @returns {Finding}
 */
const createOkFinding = text => ({ level: 'ok', text })
/**
 * Creates a finding that does not prevent a run.
 * @param {string} text
 * @returns {Finding}
 */
const createWarning = text => ({ level: 'warning', text })
/** Reads the name of a node. @param {V1Node} node */
const readNodeName = ({ metadata }) => `${metadata?.name}`

/**
 * Parses the minor version of a node's kubelet.
 * @param {V1Node} node
 * @returns {number} NaN: it is unknown
 */
function parseKubeletMinor({ status }) {
  return Number(/^v\d+\.(\d+)/.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1])
}
