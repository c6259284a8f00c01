import { BenchError } from '../../lib/errors.js'
import { largestBindingCap } from '../../model/caps.js'
import { chooseImages, hasImage, isAlwaysPulled } from './images.js'
import { parseWhere } from './manifests.js'
import { chooseNode, findDefect, NATIVE_SIDECARS_SINCE, parseCpu } from './site.js'

/**
 * @import { V1Node } from '@kubernetes/client-node'
 * @import { ToolSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { Finding } from './doctor.js'
 * @import { Where } from './manifests.js'
 */

// With the CPU manager's static policy, a container with CPUs of its own has no quota (DisableCPUQuotaWithExclusiveCPUs).
const NO_QUOTA_SINCE = 33
const LISTED_IMAGES = 50
const KUBELET_SECONDS = 5
const IMPORT =
  'a node without a registry takes them from an archive: ctr -n k8s.io images import, k3s ctr images import, kind load'
const READ_BACK = 'every run reads its quotas back from the kernel anyway'
const BYTES = { '': 1, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }

/**
 * The nodes where pods of a run may be: those that the services' and the load's place match.
 * @param {Api} api
 * @param {{ node: Where, loadNode: Where }} choice loadNode null: with the services
 * @throws {BenchError} when there is no such node, or none that takes pods
 */
export async function findNodes(api, { node, loadNode }) {
  /** @type {V1Node[]} */
  const nodes = await api.list('v1', 'Node')
  const services = chooseNode(nodes, node, '--node')
  const load = loadNode === null ? services : chooseNode(nodes, loadNode, '--load-node')
  const groups = [services, load].map(({ where }) => {
    const { label, value } = parseWhere(where)
    return nodes.filter(({ metadata }) => metadata?.labels?.[label] === value)
  })
  return { main: /** @type {V1Node} */ (services.node), groups, used: [...new Set(groups.flat())] }
}

/**
 * What the nodes are, which images they have, and whether caps will hold there.
 * @param {Api} api
 * @param {Awaited<ReturnType<typeof findNodes>> & { images: Record<string, string>, specs: ToolSpec[], minor: number }} options
 * @returns {Promise<Finding[]>}
 */
export async function examineNodes(api, { main, groups, used, images, specs, minor }) {
  const cpus = Math.floor(parseCpu(`${main.status?.capacity?.cpu}`))
  return [
    ...used.map(node => {
      const own = groups.filter(group => group.includes(node))
      // A place with several nodes can do without one of them.
      const isNeeded = own.some(group => group.every(n => findDefect(n) !== null))
      return describeNode(node, { isNeeded, minor })
    }),
    ...describeImages(used, chooseImages({ specs, images })),
    ...(await Promise.all(used.map(node => examineCaps(api, node)))),
    ok(
      `largest cap at which two sidecars can bind on the ${cpus} CPUs of ${nameOf(main)}: ${largestBindingCap(cpus)} cores`,
    ),
  ]
}

/**
 * @param {V1Node} node
 * @param {{ isNeeded: boolean, minor: number }} options minor: of the API server
 * @returns {Finding}
 */
function describeNode(node, { isNeeded, minor }) {
  const { capacity = {}, allocatable = {}, nodeInfo } = node.status ?? {}
  const text = [
    `node ${nameOf(node)}: ${parseCpu(capacity.cpu)} CPUs (${parseCpu(allocatable.cpu)} allocatable)`,
    `${formatGib(capacity.memory)} GiB (${formatGib(allocatable.memory)} allocatable)`,
    `kubelet ${nodeInfo?.kubeletVersion}, ${nodeInfo?.containerRuntimeVersion}`,
  ].join(', ')
  const defect = findDefect(node)
  if (defect !== null) return { level: isNeeded ? 'missing' : 'warning', text: `${text}: ${defect}` }
  if (minor >= NATIVE_SIDECARS_SINCE && kubeletMinorOf(node) < NATIVE_SIDECARS_SINCE) {
    return warn(`${text}: it is older than native sidecars, which the API server knows: runs may not start there`)
  }
  return ok(`${text}, ready`)
}

/**
 * @param {V1Node[]} nodes
 * @param {{ name: string, image: string }[]} chosen
 * @returns {Finding[]}
 */
function describeImages(nodes, chosen) {
  const findings = chosen.map(({ name, image }) => {
    const without = nodes.filter(node => !hasImage(node, image))
    const text = `image of ${name}: ${image}`
    if (isAlwaysPulled(image)) {
      return warn(
        `${text} will be pulled at every start, because its tag is latest or none: give --image ${name}=… with a tag`,
      )
    }
    if (without.length === 0) return ok(`${text}, on ${nodes.map(nameOf).join(', ')}`)
    const isCut = without.some(({ status }) => (status?.images?.length ?? 0) >= LISTED_IMAGES)
    const cut = isCut ? ` (a node lists its ${LISTED_IMAGES} largest images only: it may be there)` : ''
    return warn(`${text} will be pulled by ${without.map(nameOf).join(', ')}${cut}`)
  })
  const last = findings.findLast(({ level }) => level === 'warning')
  if (last) last.more = [IMPORT]
  return findings
}

/**
 * Whether the kubelet of a node enforces CPU limits; what its own configuration says, where it may be asked.
 * @param {Api} api
 * @param {V1Node} node
 * @returns {Promise<Finding>}
 */
async function examineCaps(api, node) {
  const name = nameOf(node)
  const what = `CPU caps on ${name}`
  try {
    /** @type {any} */
    const answer = await api.request(
      `read the configuration of the kubelet of ${name}`,
      () => api.core.connectGetNodeProxyWithPath({ name, path: 'configz' }),
      { lostAfterSeconds: KUBELET_SECONDS },
    )
    return describeCaps(node, { what, ...answer.kubeletconfig })
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    const isDenied = /** @type {any} */ (error).code === 403
    const why = isDenied ? 'you may not ask its kubelet (get nodes/proxy, which no run needs)' : error.message
    return warn(`${what}: ${why}; ${READ_BACK}`)
  }
}

/**
 * @param {V1Node} node
 * @param {{ what: string, cpuCFSQuota?: boolean, cpuCFSQuotaPeriod?: string, cpuManagerPolicy?: string }} configuration
 * @returns {Finding}
 */
function describeCaps(node, { what, cpuCFSQuota, cpuCFSQuotaPeriod = '100ms', cpuManagerPolicy = 'none' }) {
  if (cpuCFSQuota === false) {
    return {
      level: 'missing',
      text: `${what}: its kubelet enforces no CPU limits (cpuCFSQuota: false): set it to true, or name another with --node`,
    }
  }
  const text = `${what}: quotas every ${cpuCFSQuotaPeriod}, CPU manager ${cpuManagerPolicy}`
  if (cpuManagerPolicy !== 'static') return ok(text)
  const quota = kubeletMinorOf(node) >= NO_QUOTA_SINCE ? ' and no quota' : ''
  return warn(`${text}: a pod that is Guaranteed and asks whole CPUs has them for itself${quota}; ${READ_BACK}`)
}

/**
 * @param {string} text
 * @returns {Finding}
 */
function ok(text) {
  return { level: 'ok', text }
}

/**
 * @param {string} text
 * @returns {Finding}
 */
function warn(text) {
  return { level: 'warning', text }
}

/** @param {V1Node} node */
function nameOf({ metadata }) {
  return `${metadata?.name}`
}

/** @param {V1Node} node */
function kubeletMinorOf({ status }) {
  return Number(/^v\d+\.(\d+)/.exec(status?.nodeInfo?.kubeletVersion ?? '')?.[1])
}

/** @param {string} quantity of memory, such as 24684092Ki */
function formatGib(quantity) {
  const [, number, unit] = /^(\d+)([A-Za-z]*)$/.exec(quantity) ?? []
  return ((Number(number) * (BYTES[/** @type {keyof typeof BYTES} */ (unit)] ?? Number.NaN)) / 2 ** 30).toFixed(1)
}
