import { BenchError } from '../../lib/errors.js'
import { renderCommand } from '../../lib/render-command.js'
import { findLargestBindingCpuLimit } from '../../model/cpu-limits.js'
import { renderImageName } from '../../tools/image.js'
import { nodeTool } from '../../tools/node.js'
import { isBuiltByKit } from '../../tools/sources.js'
import { createFinding } from '../doctor-finding.js'
import { listDeniedAccess } from './access.js'
import { chooseImages, hasImage, isAlwaysPulled } from './images.js'
import { renderNamespace, renderReader } from './manifests.js'
import { chooseNode, findNodeDefect, parseQuantity } from './nodes.js'
import { parseNodeLabel } from './pod.js'
import { NATIVE_SIDECARS_DEFAULT_SINCE, readServerVersion } from './site.js'

/**
 * @import { V1Node } from '@kubernetes/client-node'
 * @import { ToolSpec } from '../../model/types.ts'
 * @import { DoctorFinding } from '../doctor-finding.js'
 * @import { Access } from './access.js'
 * @import { Api } from './api.js'
 * @import { NodePlace } from './pod.js'
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
 * @typedef {object} ClusterCheck
 * @property {Api} api
 * @property {NodePlace} node for the services
 * @property {NodePlace} loadNode null: that of the services
 * @property {Record<string, string>} images by the tool's name, instead of its default
 * @property {ToolSpec[]} specs of the programs of a run
 */

/**
 * Checks all that a default run needs on a cluster, and creates nothing there. A refusal is a finding; what needs a
 * denied request is not checked.
 * @param {ClusterCheck} options
 * @returns {Promise<DoctorFinding[]>} the last one may be an error that ended the check
 * @throws an error that is no BenchError
 */
export async function checkCluster({ api, node, loadNode, images, specs }) {
  /** @type {DoctorFinding[]} */
  const findings = []
  try {
    const { minor, gitVersion } = await readServerVersion(api)
    const text = `API server: Kubernetes ${gitVersion} at ${api.server} (context ${api.readContext()})`
    const oldNote = `: sidecars are ordinary containers; native ones came with 1.${NATIVE_SIDECARS_DEFAULT_SINCE}`
    const isOld = minor < NATIVE_SIDECARS_DEFAULT_SINCE
    findings.push(isOld ? createFinding('warning', `${text}${oldNote}`) : createFinding('ok', text))
    const denied = await listDeniedAccess(api).catch(error => {
      if (!(error instanceof BenchError)) throw error
      findings.push(createFinding('warning', `access: ${error.message}`))
      return null
    })
    if (denied !== null) findings.push(...renderDeniedAccess(denied))
    // A request that is denied would only fail, so what needs it is not checked. If the access is not known, everything is.
    const isPermitted = (/** @type {string} */ resource) => !denied?.some(access => access.resource === resource)
    if (isPermitted('namespaces') && isPermitted('daemonsets'))
      findings.push(await checkReader(api, images.node ?? nodeTool.image))
    if (isPermitted('nodes')) findings.push(...(await checkNodes({ api, node, loadNode, images, specs }, minor)))
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    findings.push(createFinding('missing', error.message))
  }
  return findings
}

/**
 * Renders the access that the user lacks. The last finding says how to get it.
 * @param {Access[]} denied
 * @returns {DoctorFinding[]} one for each resource; if nothing is denied, one that says so
 */
function renderDeniedAccess(denied) {
  if (denied.length === 0) return [createFinding('ok', 'access: all that a run asks is allowed')]
  const last = denied.at(-1)?.resource
  return denied.map(({ group, resource, verbs, why }) => {
    const text = `access: you may not ${verbs.join(', ')} ${resource}${group && `.${group}`} (${why})`
    return { ...createFinding('missing', text), more: resource === last ? [RBAC] : [] }
  })
}

/**
 * Checks the nodes of services and load, their images and their CPU limits.
 * @param {ClusterCheck} options
 * @param {number} minor version of the API server
 * @returns {Promise<DoctorFinding[]>}
 * @throws {UsageError} if the cluster has no such node; {BenchError} if none accepts pods, or the nodes cannot be listed
 */
async function checkNodes({ api, node, loadNode, images, specs }, minor) {
  /** @type {V1Node[]} */
  const allNodes = await api.list('v1', 'Node')
  const services = chooseNode(allNodes, node, '--node')
  const load = loadNode === null ? services : chooseNode(allNodes, loadNode, '--load-node')
  const labels = [services, load].map(({ where }) => parseNodeLabel(where))
  const usedNodes = allNodes.filter(({ metadata }) =>
    labels.some(({ label, value }) => metadata?.labels?.[label] === value),
  )
  const cpus = Math.floor(parseQuantity(services.node.status.capacity.cpu))
  const largest = `largest cap at which two sidecars can bind on the ${cpus} CPUs of ${readNodeName(services.node)}`
  return [
    ...usedNodes.map(usedNode => checkNode(usedNode, minor)),
    ...checkImages(usedNodes, chooseImages({ specs, images })),
    ...(await Promise.all(usedNodes.map(usedNode => checkNodeCpuLimits(api, usedNode)))),
    createFinding('ok', `${largest}: ${findLargestBindingCpuLimit(cpus)} cores`),
  ]
}

/**
 * Checks, in a dry run, whether the API server would admit the reader and its namespace.
 * @param {Api} api
 * @param {string} image of Node
 * @returns {Promise<DoctorFinding>} ok: it would; missing: it refuses; warning: a webhook cannot be asked in a dry run
 * @throws an error that is no BenchError
 */
async function checkReader(api, image) {
  const reader = renderReader({
    name: TRIED_NAME,
    // A dry run needs a namespace that is there.
    namespace: 'default',
    labels: {},
    image,
    folder: { path: '/bench/kit', configMap: 'kit', names: [] },
    nodePlaces: [],
    hasRecursiveReadOnly: false,
  })
  let noun = 'privileged namespace'
  try {
    const body = renderNamespace({ name: TRIED_NAME, runId: 'doctor', level: 'privileged' })
    await api.request('create its namespace', () => api.core.createNamespace({ body, dryRun: 'All' }))
    noun = 'DaemonSet'
    await api.tryApply(reader)
    return createFinding('ok', 'reader: its privileged namespace and its DaemonSet would be admitted')
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    const level = UNTRIED.test(error.message) ? 'warning' : 'missing'
    return createFinding(level, `reader: its ${noun} is refused: ${error.message}`)
  }
}

/**
 * Checks a node. A defect is only a warning: `chooseNode` has found a node without one for each place.
 * @param {V1Node} node
 * @param {number} minor version of the API server
 * @returns {DoctorFinding}
 */
function checkNode(node, minor) {
  const { capacity = {}, allocatable = {}, nodeInfo } = node.status ?? {}
  const cpus = `${parseQuantity(capacity.cpu)} CPUs (${parseQuantity(allocatable.cpu)} allocatable)`
  const memory = `${(parseQuantity(capacity.memory) / 2 ** 30).toFixed(1)} GiB`
  const versions = `kubelet ${nodeInfo?.kubeletVersion}, ${nodeInfo?.containerRuntimeVersion}`
  const text = `node ${readNodeName(node)}: ${cpus}, ${memory}, ${versions}`
  const defect = findNodeDefect(node)
  if (defect !== null) return createFinding('warning', `${text}: ${defect}`)
  const isOlder = minor >= NATIVE_SIDECARS_DEFAULT_SINCE && parseKubeletMinor(node) < NATIVE_SIDECARS_DEFAULT_SINCE
  if (!isOlder) return createFinding('ok', `${text}, ready`)
  const oldNote = 'it is older than native sidecars, which the API server knows: runs may not start there'
  return createFinding('warning', `${text}: ${oldNote}`)
}

/**
 * Checks which nodes lack each image. The last warning says how to import images.
 * @param {V1Node[]} nodes
 * @param {{ name: string, image: string }[]} choices the images of the run, by the tool's name
 * @returns {DoctorFinding[]} one for each image
 */
function checkImages(nodes, choices) {
  const findings = choices.map(({ name, image }) => {
    const lackingNodes = nodes.filter(node => !hasImage(node, image))
    const text = `image of ${name}: ${image}`
    const pullReason = `because its tag is latest or none: give --image ${name}=… with a tag`
    if (isAlwaysPulled(image)) return createFinding('warning', `${text} will be pulled at every start, ${pullReason}`)
    if (lackingNodes.length === 0) return createFinding('ok', `${text}, on ${nodes.map(readNodeName).join(', ')}`)
    const isCut = lackingNodes.some(({ status }) => (status?.images?.length ?? 0) >= LISTED_IMAGES)
    const cutNote = isCut ? ` (a node lists its ${LISTED_IMAGES} largest images only: it may be there)` : ''
    const nodeNames = `${lackingNodes.map(readNodeName).join(', ')}${cutNote}`
    // The kit builds this image, so no registry has it.
    if (isBuiltByKit(name) && image === renderImageName(name)) {
      const command = renderCommand('images', `--${name} FILE`)
      return createFinding('warning', `${text} is not on ${nodeNames}: ${command} writes it`)
    }
    return createFinding('warning', `${text} will be pulled by ${nodeNames}`)
  })
  const lastWarning = findings.findLast(({ level }) => level === 'warning')
  if (lastWarning) lastWarning.more = [IMPORT]
  return findings
}

/**
 * Checks whether a node's kubelet enforces CPU limits.
 * @param {Api} api
 * @param {V1Node} node
 * @returns {Promise<DoctorFinding>} missing: cpuCFSQuota is off; warning: its configuration cannot be read, or the static
 *   CPU manager gives some pods exclusive CPUs; else ok
 * @throws an error that is no BenchError
 */
async function checkNodeCpuLimits(api, node) {
  const name = readNodeName(node)
  const noun = `CPU caps on ${name}`
  /** @type {any} */
  let answer
  try {
    const send = () => api.core.connectGetNodeProxyWithPath({ name, path: 'configz' })
    const options = { lostAfterSeconds: KUBELET_SECONDS }
    answer = await api.request(`read the kubelet's configuration of ${name}`, send, options)
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    const isDenied = /** @type {any} */ (error).code === 403
    const why = isDenied ? 'you may not ask its kubelet (get nodes/proxy, which no run needs)' : error.message
    return createFinding('warning', `${noun}: ${why}; ${READ_BACK}`)
  }
  const { cpuCFSQuota, cpuCFSQuotaPeriod = '100ms', cpuManagerPolicy = 'none' } = answer.kubeletconfig
  if (cpuCFSQuota === false) {
    const advice = 'set it to true, or name another with --node'
    return createFinding('missing', `${noun}: its kubelet enforces no CPU limits (cpuCFSQuota: false): ${advice}`)
  }
  const text = `${noun}: quotas every ${cpuCFSQuotaPeriod}, CPU manager ${cpuManagerPolicy}`
  if (cpuManagerPolicy !== 'static') return createFinding('ok', text)
  const quotaNote = parseKubeletMinor(node) >= NO_QUOTA_SINCE ? ' and no quota' : ''
  const exclusiveNote = `a Guaranteed pod that asks for whole CPUs has them for itself${quotaNote}`
  return createFinding('warning', `${text}: ${exclusiveNote}; ${READ_BACK}`)
}

/** @param {V1Node} node */
const readNodeName = ({ metadata }) => `${metadata?.name}`

/**
 * Parses the minor version of a node's kubelet.
 * @param {V1Node} node
 * @returns {number} NaN: it is unknown
 */
function parseKubeletMinor({ status }) {
  return Number(/^v\d+\.(\d+)/.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1])
}
