import { hashText } from '../lib/hash.js'

/**
 * @import { Edge, Handle, Look, ProcessRecord, ThreadCpu } from '../model/types.ts'
 */

/**
 * What one process did between the edges.
 * @param {{ process: Handle, start: Edge, end: Edge, i: number, before: Look, after: Look, overflows: number | null }} options
 *   i: its place in the edges; before: any load; after: the window
 * @returns {ProcessRecord}
 */
export function describeProcess({ process, start, end, i, before, after, overflows }) {
  const { spec } = process
  const [a, b] = [start.sample.readings[i], end.sample.readings[i]]
  const [first, last] = [start.states[i], end.states[i]]
  const seconds = b.atSeconds - a.atSeconds
  const threads = threadsBetween(first.threads, last.threads)
  const periods = difference(a.periods, b.periods)
  const throttled = difference(a.throttledPeriods, b.throttledPeriods)
  return {
    service: spec.service,
    copyOf: spec.copyOf ?? null,
    role: spec.role,
    command: [spec.program, ...spec.argv],
    capCores: spec.cpuCores,
    capReadBackCores: first.capCores === spec.cpuCores ? last.capCores : first.capCores,
    askedWorkers: spec.workers,
    workers: after.workers,
    cpuSet: last.cpuSet,
    isReplaced: last.identity.join() !== before.identity.join(),
    overflows,
    files: spec.files.map(({ name, content }) => ({ name, sha256: hashText(content) })),
    cpuSeconds: b.cpuSeconds - a.cpuSeconds,
    cpuCores: (b.cpuSeconds - a.cpuSeconds) / seconds,
    throttledFraction: periods === null || throttled === null ? null : periods > 0 ? throttled / periods : 0,
    throttledSeconds: difference(a.throttledSeconds, b.throttledSeconds),
    oomKills: b.oomKills,
    busiestThreadCores: threads.length > 0 ? Math.max(0, ...threads.map(t => t.cpuSeconds)) / seconds : null,
    threads,
    memory: {
      anonBytes: b.anonBytes,
      rssBytes: after.memory?.rssBytes ?? null,
      workingSetBytes: b.workingSetBytes,
      pssBytes: after.memory?.pssBytes ?? null,
      peakBytes: b.peakBytes,
      idleRssBytes: before.memory?.rssBytes ?? null,
    },
  }
}

/**
 * @param {number | null} from
 * @param {number | null} to
 */
function difference(from, to) {
  return from === null || to === null ? null : to - from
}

/**
 * @param {ThreadCpu[]} before
 * @param {ThreadCpu[]} after
 * @returns {ThreadCpu[]}
 */
function threadsBetween(before, after) {
  return after.map(thread => ({
    ...thread,
    cpuSeconds: thread.cpuSeconds - (before.find(t => t.id === thread.id)?.cpuSeconds ?? 0),
  }))
}
