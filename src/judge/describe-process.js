/** @import { Edge, Look, ObservedProcess, ProcessRecord, Reading, ThreadCpu } from '../model/types.ts' */

/** A process at one edge of the window. @typedef {{ reading: Reading, state: Edge['states'][number], look: Look }} AtEdge */

/**
 * Makes the record of a process between the edges. Pure.
 * @param {{ facts: Omit<ObservedProcess, 'name'>, start: AtEdge, end: AtEdge, overflows: number | null, received: number | null }} options
 *   the looks are from before any load and from after the window
 * @returns {ProcessRecord}
 */
export function describeProcess({ facts, start, end, overflows, received }) {
  const [a, b] = [start.reading, end.reading]
  const seconds = b.atSeconds - a.atSeconds
  const threads = threadsBetween(start.state.threads, end.state.threads)
  const periods = subtract(b.periods, a.periods)
  const throttled = subtract(b.throttledPeriods, a.throttledPeriods)
  return {
    ...facts,
    capReadBackCores: start.state.capCores === facts.capCores ? end.state.capCores : start.state.capCores,
    workers: end.look.workers,
    connections: end.look.connections,
    ...(received === null ? {} : { receivedBytes: received }),
    cpuSet: end.state.cpuSet,
    isReplaced: end.state.identity.join() !== start.look.identity.join(),
    overflows: finiteOrNull(overflows),
    cpuSeconds: b.cpuSeconds - a.cpuSeconds,
    cpuCores: (b.cpuSeconds - a.cpuSeconds) / seconds,
    throttledFraction: periods === null || throttled === null ? null : periods > 0 ? throttled / periods : 0,
    throttledSeconds: subtract(b.throttledSeconds, a.throttledSeconds),
    oomKills: finiteOrNull(b.oomKills),
    busiestThreadCores: threads.length > 0 ? Math.max(0, ...threads.map(t => t.cpuSeconds)) / seconds : null,
    threads,
    memory: {
      anonBytes: finiteOrNull(b.anonBytes),
      rssBytes: finiteOrNull(end.look.memory?.rssBytes),
      workingSetBytes: finiteOrNull(b.workingSetBytes),
      pssBytes: finiteOrNull(end.look.memory?.pssBytes),
      peakBytes: finiteOrNull(b.peakBytes),
      idleRssBytes: finiteOrNull(start.look.memory?.rssBytes),
    },
  }
}

/** A number that could be read, else null: a reading may be NaN. @param {number | null | undefined} value */
export function finiteOrNull(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The rise of a counter, null where it was not read. @param {(number | null | undefined)[]} ends later, earlier */
export function subtract(...ends) {
  const [later, earlier] = ends.map(finiteOrNull)
  return later === null || earlier === null ? null : later - earlier
}

/** @param {ThreadCpu[]} before @param {ThreadCpu[]} after */
function threadsBetween(before, after) {
  return after.map(thread => ({
    ...thread,
    cpuSeconds: thread.cpuSeconds - (before.find(t => t.id === thread.id)?.cpuSeconds ?? 0),
  }))
}
