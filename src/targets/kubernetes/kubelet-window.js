import { BenchError } from '../../lib/errors.js'

/** Reads a window from counters that have stamps of their own. Pure. */
/** @import { Edge, HostCpu, Look, Reading, Sample, Window } from '../../model/types.ts' */

const LEAST_COVERED = 0.75
const TICKS_PER_SECOND = 100

/** CPU time so far, and when it was counted. @typedef {{ epochMs: number, cpuSeconds: number }} Counter */

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
 * Finds the edges of a window by a line from its first counter to the last, and on to its edges. Stamps are whole
 * seconds, so a rate is right within a second of the time between them.
 * @param {Poll[]} polls
 * @param {{ names: string[], cpus: number, window: Window, before: Look[], after: Look[] }} options
 *   names: of the containers, for errors; cpus: of the node; before, after: their identities at the edges
 * @returns {{ samples: Sample[], start: Edge, end: Edge }}
 * @throws {BenchError} when the counters of a container, or of the node, cover too little of it
 */
export function describeWindow(polls, { names, cpus, window, before, after }) {
  const lines = names.map((name, i) => fitLine({ name, counters: polls.map(p => p.containers[i]), window }))
  const host = fitLine({ name: 'the node', counters: polls.map(p => p.node), window })
  /** @type {(edge: 'start' | 'end', nearest: 'first' | 'last', looks: Look[]) => Edge} */
  const describeEdge = (edge, nearest, looks) => {
    const epochMs = window[`${edge}Ms`]
    const readings = lines.map(({ [nearest]: counter, first, cores }) => {
      const cpuSeconds = first.cpuSeconds + (cores * (epochMs - first.epochMs)) / 1000
      return toReading({ ...counter, epochMs, cpuSeconds })
    })
    return {
      sample: { epochMs, edge, readings },
      states: looks.map(({ identity }) => ({ threads: [], capCores: null, identity, cpuSet: '' })),
      host: countTicks({ cores: host.cores, cpus, seconds: (epochMs - window.startMs) / 1000 }),
      // The observer is not on the node.
      ownCpuSeconds: 0,
    }
  }
  const [start, end] = [describeEdge('start', 'first', before), describeEdge('end', 'last', after)]
  const samples = [...findSamples(polls), start.sample, end.sample].sort((a, b) => a.epochMs - b.epochMs)
  return { samples, start, end }
}

/** Picks the polls with a counter of every container, at least one of them new. @param {Poll[]} polls @returns {Sample[]} */
export function findSamples(polls) {
  const stampsOf = (/** @type {Poll} */ { containers }) => containers.map(c => c?.epochMs).join()
  return polls
    .filter(({ containers }) => !containers.includes(null))
    .filter((poll, i, whole) => i === 0 || stampsOf(poll) !== stampsOf(whole[i - 1]))
    .map(({ epochMs, containers }) => ({ epochMs, readings: containers.filter(c => c !== null).map(toReading) }))
}

/**
 * Finds the first and the last counter in the window, and the rate between them.
 * @template {Counter} T
 * @param {{ name: string, counters: (T | null)[], window: Window }} options counters: in the order they were read
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

/** @param {ContainerCounter} counter @returns {Reading} null: the kubelet does not count it */
function toReading({ epochMs, cpuSeconds, workingSetBytes, rssBytes }) {
  return {
    atSeconds: epochMs / 1000,
    cpuSeconds,
    workingSetBytes,
    anonBytes: rssBytes,
    periods: null,
    throttledPeriods: null,
    throttledSeconds: null,
    peakBytes: null,
    oomKills: null,
  }
}

/**
 * A node's ticks; the kubelet counts stolen time as idle.
 * @param {{ cores: number, cpus: number, seconds: number }} busy
 */
function countTicks({ cores, cpus, seconds }) {
  const total = TICKS_PER_SECOND * cpus * seconds
  const busy = Math.min(total, TICKS_PER_SECOND * cores * seconds)
  return { idle: total - busy, steal: 0, busy, total, cpus }
}
