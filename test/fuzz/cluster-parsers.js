import { readFileSync } from 'node:fs'
import { decodeMessage, encodeMessage } from '../../src/agent/messages.js'
import { parseJson } from '../../src/lib/json.js'
import { assertKubeletSummary, assertNode, assertPod } from '../../src/targets/kubernetes/answers.js'
import { findContainerCounter, parseCpuCounter } from '../../src/targets/kubernetes/kubelet.js'
import { findNodeDefect, readNodeFacts } from '../../src/targets/kubernetes/nodes.js'
import { findContainerId, findEnding, findObstacle, isReady } from '../../src/targets/kubernetes/pod-status.js'
import { findInfinite } from './harness.js'
import { mutateJson, pick } from './mutate.js'

/** Parsers of what a cluster answers. @import { Parser } from './harness.js' */

const terminated = { exitCode: 137, reason: 'OOMKilled', signal: 9, message: 'x', startedAt: '2026-01-01T00:00:00Z' }
const containerStatus = {
  name: 'sidecar',
  image: 'envoyproxy/envoy',
  containerID: 'containerd://0f1e2d',
  restartCount: 1,
}
const POD = {
  metadata: { name: 'ratings-1', namespace: 'bench', uid: '1', labels: { app: 'ratings' } },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'PodScheduled', status: 'False', message: 'no node fits' },
    ],
    initContainerStatuses: [
      { ...containerStatus, name: 'init', state: { waiting: { reason: 'ErrImagePull', message: 'x' } } },
    ],
    containerStatuses: [{ ...containerStatus, state: { terminated }, lastState: { terminated } }],
  },
}
const NODE = {
  metadata: { name: 'node1', labels: { 'kubernetes.io/hostname': 'node1' } },
  spec: { unschedulable: false, taints: [{ key: 'a', effect: 'NoSchedule' }] },
  status: {
    nodeInfo: {
      ...{ bootID: '1', kernelVersion: '6.1', architecture: 'amd64', osImage: 'Debian' },
      ...{ kubeletVersion: 'v1.34.3', containerRuntimeVersion: 'containerd://2' },
    },
    allocatable: { cpu: '1930m', memory: '24581692Ki', pods: '110' },
    capacity: { cpu: '2', memory: '24684092Ki' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
}
const SUMMARY = JSON.parse(readFileSync('test/fixtures/kubelet-1.34.3-stats-summary.json', 'utf8'))
const MESSAGE = { id: 1, result: { samples: [{ epochMs: 1, readings: [{ cpuSeconds: Number.NaN }] }] }, error: 'x' }

/** What the API server sends is JSON: a text that is none never comes to the kit's code. @param {string} text */
const readJson = text => parseJson(text) ?? null

/** @type {Parser[]} */
export const CLUSTER_PARSERS = [
  {
    name: 'pod',
    make: random => mutateJson(POD, random),
    parse: text => {
      const pod = assertPod(readJson(text))
      const container = pick(['sidecar', 'init'], () => (text.length % 2) / 2)
      return [findEnding(pod, container), findObstacle(pod)?.why, isReady(pod), findContainerId(pod, container)]
    },
    findFault: parts =>
      parts.every(
        (/** @type {unknown} */ part) => ['string', 'boolean'].includes(typeof part) || (part ?? null) === null,
      )
        ? null
        : 'a part is a text or a yes',
  },
  {
    name: 'node',
    make: random => mutateJson(NODE, random),
    parse: text => {
      const node = assertNode(readJson(text))
      return { ...readNodeFacts(node), defect: findNodeDefect(node) }
    },
    findFault: findInfinite,
  },
  {
    name: "kubelet's counters",
    make: random => mutateJson(SUMMARY, random),
    parse: text => {
      const { node, pods } = assertKubeletSummary(readJson(text))
      const container = { namespace: 'kubelet-counters', pod: 'gateway-1-abc', container: 'sidecar' }
      return { node: parseCpuCounter(node?.cpu), container: findContainerCounter(pods, container) }
    },
    findFault: findInfinite,
  },
  {
    name: "agent's messages",
    make: random => mutateJson(JSON.parse(encodeMessage(MESSAGE)), random),
    parse: decodeMessage,
    findFault: value => (typeof value === 'object' ? null : 'a message is an object or null'),
  },
]
