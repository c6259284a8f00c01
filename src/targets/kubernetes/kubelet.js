import { startClock } from '../../lib/clock.js'
import { BenchError } from '../../lib/errors.js'
import { sleep, withAbort } from '../../lib/wait.js'
import { NOT_OFFERED } from '../../node/kernel/cgroup.js'
import { readKubeletSummary } from './answers.js'

/** Reads what the kubelet counts, if no pod may see cgroups: CPU time and memory, every 10 to 20 s, with a stamp. */
/** @import { Look, Observation, Window, Edge, Reading, Sample } from '../../model/types.ts' */
/** @import { Api } from './api.js' */
/** @import { Watched } from './container.js'  */

// The kubelet is polled more often than it updates its counters, so that no counter near an edge is missed.
const POLL_MS = 5000
// The last answer is awaited this long after the window: the load continues for longer (TAIL_MS, run/generator.js).
const LAST_POLL_MS = 500

/** @typedef {{ watched: () => Pick<Watched, 'id' | 'namespace' | 'pod' | 'container' | 'restarts'> }} Container */

// Least fraction of the window between the first and the last counter in it: below it the CPU is not known.
const LEAST_COVERED = 0.75
// The unit of HostCpu is USER_HZ (proc(5)).
const TICKS_PER_SECOND = 100

/**
 * CPU time so far, and when it was counted.
 * @typedef {{ epochMs: number, cpuSeconds: number }} Counter
 */

/**
 * rssBytes is the kubelet's word: anonymous memory and swap cache, `total_rss` of a v1 cgroup and `anon` of a v2
 * (cAdvisor). The RSS of a process is more: it has mapped files.
 * @typedef {Counter & { workingSetBytes: number, rssBytes: number }} ContainerCounter
 */
/**
 * Counters of one answer of the kubelet.
 * @typedef {{ epochMs: number, node: Counter | null, containers: (ContainerCounter | null)[] }} Poll
 */

/**
 * @typedef {object} KubeletOptions
 * @property {() => Promise<any>} readSummary of the node
 * @property {Container[]} containers
 * @property {number} cpus of the node
 * @property {Window} window
 * @property {AbortSignal} signal ends it early, with what it has
 * @property {() => number} [now] returns epoch milliseconds
 * @property {(epochMs: number, signal?: AbortSignal) => Promise<void>} [wait]
 */

/**
 * Observes the CPU time and memory of a node's containers by the kubelet's counters, from now to the end of the
 * window.
 * @param {KubeletOptions} options
 * @returns {Promise<Observation>} after an abort, with null edges
 * @throws {import('../../lib/errors.js').BenchError} if counters cover too little of the window, or may not be read
 */
export async function observeByKubelet({ readSummary, containers, cpus, window, signal, ...clock }) {
  const steady = startClock()
  const { now = steady.now, wait = steady.waitUntil } = clock
  /** @type {Poll[]} */
  const polls = []
  const poll = async () => {
    const epochMs = now()
    const { node, pods } = await withAbort(readSummary(), signal)
    polls.push({ epochMs, node: parseCpu(node?.cpu), containers: containers.map(c => findCounter(pods, c.watched())) })
  }
  const pollUntil = async (/** @type {number} */ edgeMs) => {
    for (;;) {
      await poll()
      // Polls are counted back from the edge, so that none is under way when it comes.
      const left = Math.ceil((edgeMs - now()) / POLL_MS) - 1
      if (left <= 0) break
      await wait(edgeMs - left * POLL_MS, signal)
    }
    await wait(edgeMs, signal)
    steady.assertSteady()
  }
  try {
    signal.throwIfAborted()
    await pollUntil(window.startMs)
    const before = lookByKubelet(containers)
    await pollUntil(window.endMs)
    const after = lookByKubelet(containers)
    await Promise.race([poll(), sleep(LAST_POLL_MS, signal)])
    const names = containers.map(c => c.watched()).map(({ pod, container }) => `${container} of the pod ${pod}`)
    // CPU time at an edge is extrapolated along the line through the first and the last counter in the window. Stamps are
    // whole seconds, so the time between the two is a second off at most.
    const lines = names.map((name, i) => fitLine({ name, counters: polls.map(p => p.containers[i]), window }))
    const host = fitLine({ name: 'the node', counters: polls.map(p => p.node), window })
    /** @type {(edge: 'start' | 'end', nearest: 'first' | 'last', looks: Look[]) => Edge} */
    const createEdge = (edge, nearest, looks) => {
      const epochMs = window[`${edge}Ms`]
      const readings = lines.map(({ [nearest]: counter, first, cores }) => {
        const cpuSeconds = first.cpuSeconds + (cores * (epochMs - first.epochMs)) / 1000
        return toReading({ ...counter, epochMs, cpuSeconds })
      })
      const seconds = (epochMs - window.startMs) / 1000
      const total = TICKS_PER_SECOND * cpus * seconds
      const busy = Math.min(total, TICKS_PER_SECOND * host.cores * seconds)
      return {
        sample: { epochMs, edge, readings },
        states: looks.map(({ identity }) => ({ threads: [], cpuLimitCores: null, identity, cpuSet: '' })),
        // The kubelet counts stolen time as idle.
        host: { idle: total - busy, steal: 0, busy, total, cpus },
        // The observer is not on the node.
        ownCpuSeconds: 0,
      }
    }
    const [start, end] = [createEdge('start', 'first', before), createEdge('end', 'last', after)]
    const samples = [...pickSamples(polls), start.sample, end.sample].sort((a, b) => a.epochMs - b.epochMs)
    return { samples, start, end, after, clockOffsetMs: 0 }
  } catch (error) {
    if (!signal.aborted) throw error
    return { samples: pickSamples(polls), start: null, end: null, after: null, clockOffsetMs: 0 }
  }
}

/**
 * Creates the looks at containers, of which the kubelet shows only the identity.
 * @param {Container[]} containers
 * @returns {Look[]} memory, workers: null
 */
export function lookByKubelet(containers) {
  const watched = containers.map(c => c.watched())
  return watched.map(({ id, restarts }) => ({ memory: null, identity: [id, `${restarts} restarts`], workers: null }))
}

/**
 * Finds a container's counters in the kubelet's summary.
 * @param {any[] | undefined} pods of the summary
 * @param {Pick<Watched, 'namespace' | 'pod' | 'container'>} container
 * @returns {ContainerCounter | null} null: the summary lacks a counter, as in a container's first seconds
 */
export function findCounter(pods, { namespace, pod, container }) {
  const stats = pods
    ?.find(({ podRef }) => podRef.name === pod && podRef.namespace === namespace)
    ?.containers?.find((/** @type {any} */ { name }) => name === container)
  const counter = parseCpu(stats?.cpu)
  const { workingSetBytes, rssBytes } = stats?.memory ?? {}
  const isWhole = counter !== null && workingSetBytes !== undefined && rssBytes !== undefined
  return isWhole ? { ...counter, workingSetBytes, rssBytes } : null
}

/**
 * Parses the CPU time so far, and its timestamp.
 * @param {any} cpu of a container, or of the node, in the summary
 * @returns {Counter | null} null: there is none yet
 */
export function parseCpu(cpu) {
  if (cpu?.usageCoreNanoSeconds === undefined) return null
  return { epochMs: Date.parse(cpu.time), cpuSeconds: cpu.usageCoreNanoSeconds / 1e9 }
}

/**
 * Reads the counters of a node's kubelet, which requires `get` on `nodes/proxy`.
 * @param {Api} api
 * @param {string} node its name
 * @returns {Promise<any>} the kubelet's stats/summary
 * @throws {BenchError} if they may not be read, or lack a member
 */
export function readSummary(api, node) {
  return api.request(`read the kubelet's counters of ${node}`, async () =>
    readKubeletSummary(await api.core.connectGetNodeProxyWithPath({ name: node, path: 'stats/summary' })),
  )
}

/**
 * Picks the polls that have a counter of every container, with at least one new counter.
 * @param {Poll[]} polls
 * @returns {Sample[]}
 */
function pickSamples(polls) {
  const renderTimestamps = (/** @type {Poll} */ { containers }) => containers.map(c => c?.epochMs).join()
  return polls
    .filter(({ containers }) => !containers.includes(null))
    .filter((poll, i, whole) => i === 0 || renderTimestamps(poll) !== renderTimestamps(whole[i - 1]))
    .map(({ epochMs, containers }) => ({ epochMs, readings: containers.filter(c => c !== null).map(toReading) }))
}

/**
 * Fits a line through the first and the last counter in the window.
 * @template {Counter} T
 * @param {{ name: string, counters: (T | null)[], window: Window }} options name: for errors; counters: in the order
 *   of the polls; null: missing
 * @returns {{ first: T, last: T, cores: number }} first, last: the counters; cores: the mean CPU use between them
 * @throws {BenchError} if they cover too little of the window, or the CPU time fell
 */
function fitLine({ name, counters, window: { startMs, endMs } }) {
  const inside = counters.filter(c => c !== null).filter(c => c.epochMs >= startMs && c.epochMs <= endMs)
  const [first, last] = [inside[0], /** @type {T} */ (inside.at(-1))]
  const windowSeconds = (endMs - startMs) / 1000
  const seconds = inside.length > 0 ? (last.epochMs - first.epochMs) / 1000 : 0
  if (seconds < LEAST_COVERED * windowSeconds) {
    throw new BenchError(
      `the kubelet's counts of ${name} cover ${seconds} s of a window of ${windowSeconds} s (75 % at least): let windows last longer`,
    )
  }
  if (last.cpuSeconds < first.cpuSeconds) {
    throw new BenchError(
      `the CPU time of ${name} fell from ${first.cpuSeconds} to ${last.cpuSeconds} s in the window: it was started again`,
    )
  }
  return { first, last, cores: (last.cpuSeconds - first.cpuSeconds) / seconds }
}

/**
 * Converts a counter to a reading.
 * @param {ContainerCounter} counter
 * @returns {Reading} null: the kubelet does not count it
 */
function toReading({ epochMs, cpuSeconds, workingSetBytes, rssBytes }) {
  return { ...NOT_OFFERED, atSeconds: epochMs / 1000, cpuSeconds, workingSetBytes, anonBytes: rssBytes }
}
