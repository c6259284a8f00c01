import { BenchError } from '../../lib/errors.js'
import { largestBindingCap } from '../../model/caps.js'
import { chooseImages, hasImage, isAlwaysPulled } from './images.js'
import { chooseNode, findDefect, parseQuantity } from './nodes.js'
import { parseWhere } from './pod.js'
import { NATIVE_SIDECARS_SINCE } from './site.js'

/** @import { V1Node } from '@kubernetes/client-node' @import { ToolSpec } from '../../model/types.ts' */
/** @import { Api } from './api.js' @import { Finding } from './doctor.js' @import { Where } from './pod.js' */

// The CPU manager's static policy sets no quota on a container with its own CPUs (DisableCPUQuotaWithExclusiveCPUs).
const NO_QUOTA_SINCE = 33
const LISTED_IMAGES = 50
const KUBELET_SECONDS = 5
const IMPORT =
  'a node without a registry takes them from an archive: ctr -n k8s.io images import, k3s ctr images import, kind load'
const READ_BACK = 'every run reads its quotas back from the kernel anyway'

/**
 * Examines the nodes of a run: their images, and whether caps will hold there.
 * @param {Api} api @param {{ node: Where, loadNode: Where, images: Record<string, string>, specs: ToolSpec[],
 *   minor: number }} options as for a run; minor: of the API server
 * @throws {BenchError} when there is no such node, or none that takes pods
 */
export async function examineNodes(api, { node, loadNode, images, specs, minor }) {
  /** @type {V1Node[]} */
  const all = await api.list('v1', 'Node')
  const services = chooseNode(all, node, '--node')
  const load = loadNode === null ? services : chooseNode(all, loadNode, '--load-node')
  const places = [services, load].map(({ where }) => parseWhere(where))
  const used = all.filter(({ metadata }) => places.some(({ label, value }) => metadata?.labels?.[label] === value))
  const cpus = Math.floor(parseQuantity(services.node.status.capacity.cpu))
  return [
    ...used.map(own => describeNode(own, minor)),
    ...describeImages(used, chooseImages({ specs, images })),
    ...(await Promise.all(used.map(own => examineCaps(api, own)))),
    ok(
      `largest cap at which two sidecars can bind on the ${cpus} CPUs of ${nameOf(services.node)}: ${largestBindingCap(cpus)} cores`,
    ),
  ]
}

/** A node without pods is only warned about: each place has another. @param {V1Node} node @param {number} minor */
function describeNode(node, minor) {
  const { capacity = {}, allocatable = {}, nodeInfo } = node.status ?? {}
  const text = [
    `node ${nameOf(node)}: ${parseQuantity(capacity.cpu)} CPUs (${parseQuantity(allocatable.cpu)} allocatable), ${(parseQuantity(capacity.memory) / 2 ** 30).toFixed(1)} GiB`,
    `kubelet ${nodeInfo?.kubeletVersion}, ${nodeInfo?.containerRuntimeVersion}`,
  ].join(', ')
  const defect = findDefect(node)
  if (defect !== null) return warn(`${text}: ${defect}`)
  return minor >= NATIVE_SIDECARS_SINCE && kubeletMinorOf(node) < NATIVE_SIDECARS_SINCE
    ? warn(`${text}: it is older than native sidecars, which the API server knows: runs may not start there`)
    : ok(`${text}, ready`)
}

/** @param {V1Node[]} nodes @param {{ name: string, image: string }[]} chosen @returns {Finding[]} */
function describeImages(nodes, chosen) {
  const findings = chosen.map(({ name, image }) => {
    const without = nodes.filter(node => !hasImage(node, image))
    const text = `image of ${name}: ${image}`
    const why = `because its tag is latest or none: give --image ${name}=… with a tag`
    if (isAlwaysPulled(image)) return warn(`${text} will be pulled at every start, ${why}`)
    if (without.length === 0) return ok(`${text}, on ${nodes.map(nameOf).join(', ')}`)
    const isCut = without.some(({ status }) => (status?.images?.length ?? 0) >= LISTED_IMAGES)
    const cut = isCut ? ` (a node lists its ${LISTED_IMAGES} largest images only: it may be there)` : ''
    return warn(`${text} will be pulled by ${without.map(nameOf).join(', ')}${cut}`)
  })
  const last = findings.findLast(({ level }) => level === 'warning')
  if (last) last.more = [IMPORT]
  return findings
}

/** Finds whether a node's kubelet enforces CPU limits. @param {Api} api @param {V1Node} node @returns {Promise<Finding>} */
async function examineCaps(api, node) {
  const name = nameOf(node)
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
    return warn(`${what}: ${why}; ${READ_BACK}`)
  }
  const { cpuCFSQuota, cpuCFSQuotaPeriod = '100ms', cpuManagerPolicy = 'none' } = answer.kubeletconfig
  if (cpuCFSQuota === false) {
    const advice = 'set it to true, or name another with --node'
    return { level: 'missing', text: `${what}: its kubelet enforces no CPU limits (cpuCFSQuota: false): ${advice}` }
  }
  const text = `${what}: quotas every ${cpuCFSQuotaPeriod}, CPU manager ${cpuManagerPolicy}`
  if (cpuManagerPolicy !== 'static') return ok(text)
  const quota = kubeletMinorOf(node) >= NO_QUOTA_SINCE ? ' and no quota' : ''
  return warn(`${text}: a Guaranteed pod that asks for whole CPUs has them for itself${quota}; ${READ_BACK}`)
}

/** @param {string} text @returns {Finding} */
const ok = text => ({ level: 'ok', text })
/** @param {string} text @returns {Finding} */
const warn = text => ({ level: 'warning', text })
const nameOf = (/** @type {V1Node} */ { metadata }) => `${metadata?.name}`

/** @param {V1Node} node */
function kubeletMinorOf({ status }) {
  return Number(/^v\d+\.(\d+)/.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1])
}
