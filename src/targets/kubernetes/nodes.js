import { BenchError, UsageError } from '../../lib/errors.js'
import { renderSuggestion } from '../../lib/nearest.js'
import { HOST_LABEL, parseNodeLabel } from './pod.js'

/** The nodes of a cluster: which of them accepts pods, what it is, and what it still has for pods. Pure. */
/**
 * @import { V1Container, V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node'
 * @import { NodeLimits } from '../../model/types.ts'
 * @import { NodePlace } from './pod.js'
 */

const PREFIXES = 'kMGTPE'

/**
 * Chooses the first node of a place that accepts pods.
 * @param {any[]} nodes of the cluster
 * @param {NodePlace} place null: any node
 * @param {string} option that gave the place, for errors
 * @returns {{ node: any, where: string }} where: the place for pods: `label=value` as requested, else the node's value of HOST_LABEL,
 *   else its name
 * @throws {UsageError} if the cluster has no such node; {BenchError} if none accepts pods
 */
export function chooseNode(nodes, place, option) {
  const candidates = place === null ? nodes : nodes.filter(node => isAtPlace(node, place))
  if (candidates.length === 0) {
    const names = nodes.map(n => n.metadata.name)
    throw new UsageError(`${option} ${place}: the cluster has no such node${renderSuggestion(`${place}`, names)}`)
  }
  const node = candidates.find(n => findNodeDefect(n) === null)
  if (!node) {
    const names = candidates.map(n => n.metadata.name).join(', ')
    throw new BenchError(`no node can take pods: ${names} not ready, cordoned or tainted; name one with ${option}`)
  }
  return {
    node,
    where: place?.includes('=') ? place : `${node.metadata.labels?.[HOST_LABEL] ?? node.metadata.name}`,
  }
}

/**
 * Says whether a node has the label or the name of a place.
 * @param {any} node
 * @param {string} place
 */
function isAtPlace({ metadata }, place) {
  const { label, value } = parseNodeLabel(place)
  return metadata.labels?.[label] === value || (label === HOST_LABEL && metadata.name === value)
}

/** Finds the reason why a node accepts no pods of a run. @param {V1Node} node @returns {string | null} null: it accepts them */
export function findNodeDefect({ spec, status }) {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status !== 'True') return `it is not ready: ${ready?.message ?? 'it does not say why'}`
  if (spec?.unschedulable) return 'it is cordoned: kubectl uncordon it, or name another with --node'
  const taint = spec?.taints?.find(({ effect }) => effect !== 'PreferNoSchedule')
  return taint ? `its taint ${taint.key}:${taint.effect} keeps pods away: name another with --node` : null
}

/**
 * Reads facts about a node, for the manifest of a run.
 * @param {any} node for which `assertNode` holds
 * @returns its name, boot, kernel, CPUs (`cpus` of the machine, `allocatableCpus` for pods) and memory in bytes
 */
export function readNodeFacts({ metadata, status }) {
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

/**
 * Computes what a node offers to pods and what its pods request, as its scheduler does. Pods that have ended do not
 * count.
 * @param {{ node: V1Node, pods: V1Pod[] }} options pods: of the whole cluster
 * @returns {NodeLimits} NaN: the node does not say what it offers
 */
export function computeNodeLimits({ node: { metadata, status }, pods }) {
  const name = `${metadata?.name}`
  const nodePods = pods.filter(
    ({ spec, status }) => spec?.nodeName === name && !/Succeeded|Failed/.test(`${status?.phase}`),
  )
  const readAllocatable = (/** @type {string} */ resource) => parseQuantity(status?.allocatable?.[resource] ?? '')
  const sumRequests = (/** @type {string} */ resource) =>
    nodePods.reduce((sum, { spec }) => sum + (spec ? computePodRequest(spec, resource) : 0), 0)
  return {
    node: name,
    pods: readAllocatable('pods'),
    podsUsed: nodePods.length,
    memoryBytes: readAllocatable('memory'),
    memoryRequestedBytes: sumRequests('memory'),
    cpus: readAllocatable('cpu'),
    cpusRequested: sumRequests('cpu'),
  }
}

/**
 * Computes what a pod requests of a resource, as the scheduler does (kubernetes.io, Sidecar Containers, "Resource sharing within
 * containers"): the larger of what its containers and native sidecars request together, and of what an init container requests beside the
 * sidecars before it; and the overhead of its runtime class. A request of the pod itself takes the place of its containers'.
 * @param {V1PodSpec} spec
 * @param {string} resource
 * @returns {number} a number that cannot be read counts as 0: if pods then do not fit, the scheduler refuses them, with a reason
 */
function computePodRequest({ containers, initContainers, overhead, resources }, resource) {
  const parseRequest = (/** @type {Record<string, string> | undefined} */ quantities) =>
    parseQuantity(quantities?.[resource] ?? '0') || 0
  const overheadRequest = parseRequest(overhead)
  if (resources?.requests?.[resource] !== undefined) return parseRequest(resources.requests) + overheadRequest
  let sidecarsRequest = 0
  let initRequest = 0
  for (const container of initContainers ?? []) {
    const request = parseRequest(container.resources?.requests)
    if (isNativeSidecar(container)) sidecarsRequest += request
    else initRequest = Math.max(initRequest, sidecarsRequest + request)
  }
  const containersRequest = (containers ?? []).reduce(
    (sum, { resources }) => sum + parseRequest(resources?.requests),
    0,
  )
  return Math.max(containersRequest + sidecarsRequest, initRequest) + overheadRequest
}

/**
 * Says whether an init container is a native sidecar, which keeps running.
 * @param {V1Container} container
 */
const isNativeSidecar = ({ restartPolicy }) => restartPolicy === 'Always'

/**
 * Parses a quantity of Kubernetes, such as `2`, `1930m`, `24684092Ki`, `129M` or `129e6`.
 * @param {string} text
 * @returns {number} NaN: the text is none
 */
export function parseQuantity(text) {
  const [, number, unit = '', binary] = /^(\d+(?:\.\d+)?(?:e\d+)?)(?:([mkKMGTPE])(i?))?$/.exec(text) ?? []
  if (unit === 'm') return Number(number) / 1000
  const power = PREFIXES.indexOf(unit === 'K' ? 'k' : unit) + 1
  return Number(number) * (binary ? 1024 : 1000) ** (unit === '' ? 0 : power)
}
