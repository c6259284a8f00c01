import { startClock } from '../../lib/clock.js'
import { BenchError } from '../../lib/errors.js'
import { sleep, withAbort } from '../../lib/wait.js'
import { NOT_OFFERED } from '../../node/kernel/cgroup.js'
import { assertKubeletSummary } from './answers.js'

/** The kubelet counts CPU time and memory every 10 to 20 s, with a timestamp. A run reads these if no pod may see cgroups. */
/**
 * @import { Edge, Look, Observation, Reading, Sample, Window } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { ContainerLocation } from './container.js'
 */

// The kubelet is polled more often than it updates its counters, so that no counter near an edge is missed.
const POLL_MS = 5000
// The last answer is awaited this long after the window: the load continues for longer (TAIL_MS, run/generator.js).
const LAST_POLL_MS = 500
// The CPU use is not known if the first and the last counter in the window are less than this fraction of it apart.
const LEAST_COVERED = 0.75
// The unit of HostCpu is USER_HZ (proc(5)).
const TICKS_PER_SECOND = 100

/**
 * @typedef {{ locateContainer: () => Pick<ContainerLocation, 'id' | 'namespace' | 'pod' | 'container' | 'restarts'> }}
 *   ObservedContainer
 */

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
 * The counters of one answer of the kubelet; null: it has none yet.
 * @typedef {{ epochMs: number, node: Counter | null, containers: (ContainerCounter | null)[] }} Poll
 */

/**
 * @typedef {object} KubeletOptions
 * @property {() => Promise<any>} readSummary reads the stats/summary of the node
 * @property {ObservedContainer[]} containers
 * @property {number} cpus of the node
 * @property {Window} window
 * @property {AbortSignal} signal ends it early, with what it has
 * @property {() => number} [now] returns epoch milliseconds; by default those of a steady clock
 * @property {(epochMs: number, signal?: AbortSignal) => Promise<void>} [wait] waits until a moment of that clock
 */

/**
 * Observes the CPU time and memory of a node's containers by the kubelet's counters, from now to the end of the
 * window.
 * @param {KubeletOptions} options
 * @returns {Promise<Observation>} after an abort, start, end and after are null
 * @throws {BenchError} if counters cover too little of the window, or may not be read; if a container does not exist or was
 *   restarted; if the machine's clock is set meanwhile
 */
export async function observeByKubelet({ readSummary, containers, cpus, window, signal, ...clock }) {
  const steadyClock = startClock()
  const { now = steadyClock.now, wait = steadyClock.waitUntil } = clock
  /** @type {Poll[]} */
  const polls = []
  const poll = async () => {
    const epochMs = now()
    const { node, pods } = await withAbort(readSummary(), signal)
    const counters = containers.map(container => findContainerCounter(pods, container.locateContainer()))
    polls.push({ epochMs, node: parseCpuCounter(node?.cpu), containers: counters })
  }
  const pollUntil = async (/** @type {number} */ edgeMs) => {
    for (;;) {
      await poll()
      // Polls are counted back from the edge, so that none is under way when it comes.
      const pollsLeft = Math.ceil((edgeMs - now()) / POLL_MS) - 1
      if (pollsLeft <= 0) break
      await wait(edgeMs - pollsLeft * POLL_MS, signal)
    }
    await wait(edgeMs, signal)
    steadyClock.assertSteady()
  }
  try {
    signal.throwIfAborted()
    await pollUntil(window.startMs)
    const before = lookByKubelet(containers)
    await pollUntil(window.endMs)
    const after = lookByKubelet(containers)
    await Promise.race([poll(), sleep(LAST_POLL_MS, signal)])
    const locations = containers.map(container => container.locateContainer())
    const names = locations.map(({ pod, container }) => `${container} of the pod ${pod}`)
    const { start, end } = computeEdges({ polls, names, before, after, cpus, window })
    const samples = [...pickSamples(polls), start.sample, end.sample].sort((a, b) => a.epochMs - b.epochMs)
    return { samples, start, end, after, clockOffsetMs: 0 }
  } catch (error) {
    if (!signal.aborted) throw error
    return { samples: pickSamples(polls), start: null, end: null, after: null, clockOffsetMs: 0 }
  }
}

/**
 * Computes both edges of the window. CPU time at an edge is extrapolated along the line through the first and the last counter in
 * the window. Timestamps are whole seconds, so the time between the two is a second off at most.
 * @param {object} options
 * @param {Poll[]} options.polls
 * @param {string[]} options.names of the containers, for errors
 * @param {Look[]} options.before at the start of the window
 * @param {Look[]} options.after at its end
 * @param {number} options.cpus of the node
 * @param {Window} options.window
 * @returns {{ start: Edge, end: Edge }}
 * @throws {BenchError} as `computeCpuLine`
 */
function computeEdges({ polls, names, before, after, cpus, window }) {
  const lines = names.map((name, i) => computeCpuLine({ name, counters: polls.map(p => p.containers[i]), window }))
  const nodeLine = computeCpuLine({ name: 'the node', counters: polls.map(p => p.node), window })
  /** @type {(edge: 'start' | 'end', counters: ContainerCounter[], looks: Look[]) => Edge} */
  const createEdge = (edge, counters, looks) => {
    const epochMs = window[`${edge}Ms`]
    const readings = lines.map(({ first, cores }, i) => {
      const cpuSeconds = first.cpuSeconds + (cores * (epochMs - first.epochMs)) / 1000
      return createReading({ ...counters[i], epochMs, cpuSeconds })
    })
    const seconds = (epochMs - window.startMs) / 1000
    const total = TICKS_PER_SECOND * cpus * seconds
    const busy = Math.min(total, TICKS_PER_SECOND * nodeLine.cores * seconds)
    return {
      sample: { epochMs, edge, readings },
      states: looks.map(({ identity }) => ({ threads: [], cpuLimitCores: null, identity, cpuSet: '' })),
      // The kubelet counts stolen time as idle.
      host: { idle: total - busy, steal: 0, busy, total, cpus },
      // The observer is not on the node.
      ownCpuSeconds: 0,
    }
  }
  const firstCounters = lines.map(({ first }) => first)
  const lastCounters = lines.map(({ last }) => last)
  return { start: createEdge('start', firstCounters, before), end: createEdge('end', lastCounters, after) }
}

/**
 * Creates the looks at containers, of which the kubelet shows only the identity.
 * @param {ObservedContainer[]} containers
 * @returns {Look[]} memory, workers: null
 * @throws {BenchError} if a container does not exist
 */
export function lookByKubelet(containers) {
  const locations = containers.map(container => container.locateContainer())
  return locations.map(({ id, restarts }) => ({ memory: null, identity: [id, `${restarts} restarts`], workers: null }))
}

/**
 * Finds a container's counters in the kubelet's summary.
 * @param {any[] | undefined} pods of the summary
 * @param {Pick<ContainerLocation, 'namespace' | 'pod' | 'container'>} location
 * @returns {ContainerCounter | null} null: the summary lacks the container, or a counter of it, as in its first seconds
 */
export function findContainerCounter(pods, { namespace, pod, container }) {
  const podStats = pods?.find(({ podRef }) => podRef.name === pod && podRef.namespace === namespace)
  const stats = podStats?.containers?.find((/** @type {any} */ { name }) => name === container)
  const counter = parseCpuCounter(stats?.cpu)
  const { workingSetBytes, rssBytes } = stats?.memory ?? {}
  const isWhole = counter !== null && workingSetBytes !== undefined && rssBytes !== undefined
  return isWhole ? { ...counter, workingSetBytes, rssBytes } : null
}

/**
 * Parses the CPU time so far, and its timestamp.
 * @param {any} cpu of a container, or of the node, in the summary
 * @returns {Counter | null} null: there is none yet
 */
export function parseCpuCounter(cpu) {
  if (cpu?.usageCoreNanoSeconds === undefined) return null
  return { epochMs: Date.parse(cpu.time), cpuSeconds: cpu.usageCoreNanoSeconds / 1e9 }
}

/**
 * Reads the counters of a node's kubelet, which requires `get` on `nodes/proxy`.
 * @param {Api} api
 * @param {string} node its name
 * @returns {Promise<any>} the kubelet's stats/summary
 * @throws {BenchError} if they may not be read, or a member is not as the kit knows it; {SiteLostError} if the API server does not
 *   answer
 */
export function readKubeletSummary(api, node) {
  return api.request(`read the kubelet's counters of ${node}`, async () =>
    assertKubeletSummary(await api.core.connectGetNodeProxyWithPath({ name: node, path: 'stats/summary' })),
  )
}

/**
 * Picks the polls that have a counter of every container, with at least one new counter.
 * @param {Poll[]} polls
 * @returns {Sample[]} []: there are none
 */
function pickSamples(polls) {
  const renderTimestamps = (/** @type {Poll} */ { containers }) => containers.map(c => c?.epochMs).join()
  const wholePolls = polls.filter(({ containers }) => !containers.includes(null))
  return wholePolls
    .filter((poll, i) => i === 0 || renderTimestamps(poll) !== renderTimestamps(wholePolls[i - 1]))
    .map(({ epochMs, containers }) => ({ epochMs, readings: containers.filter(c => c !== null).map(createReading) }))
}

/**
 * Computes the line of CPU time through the first and the last counter in the window.
 * @template {Counter} T
 * @param {{ name: string, counters: (T | null)[], window: Window }} options name: for errors; counters: in the order of the polls, one
 *   may be repeated; null: the poll has none
 * @returns {{ first: T, last: T, cores: number }} first, last: the counters; cores: the mean CPU use between them
 * @throws {BenchError} if the two cover less than LEAST_COVERED of the window, or the CPU time fell
 */
function computeCpuLine({ name, counters, window: { startMs, endMs } }) {
  const inWindow = counters.filter(c => c !== null).filter(c => c.epochMs >= startMs && c.epochMs <= endMs)
  const [first, last] = [inWindow[0], /** @type {T} */ (inWindow.at(-1))]
  const windowSeconds = (endMs - startMs) / 1000
  const seconds = inWindow.length > 0 ? (last.epochMs - first.epochMs) / 1000 : 0
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
 * Creates the reading of a container. What the kubelet does not count is null.
 * @param {ContainerCounter} counter
 * @returns {Reading}
 */
function createReading({ epochMs, cpuSeconds, workingSetBytes, rssBytes }) {
  return { ...NOT_OFFERED, atSeconds: epochMs / 1000, cpuSeconds, workingSetBytes, anonBytes: rssBytes }
}
