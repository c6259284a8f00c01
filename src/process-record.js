import { hashText } from './lib/hash.js'

/**
 * @import { Handle, HostCpu, ProcessMemory, ProcessRecord, ThreadCpu } from './types.ts'
 * @import { Sample } from './sampler.js'
 */

/**
 * What is known of the processes at one edge of the window, in their order.
 * @typedef {object} Edge
 * @property {Sample} sample
 * @property {ThreadCpu[][]} threads
 * @property {(number | null)[]} capCores
 * @property {string[][]} identities
 * @property {string[]} cpuSets
 * @property {HostCpu} host
 * @property {number} ownCpuSeconds
 */

/**
 * What one process did between the edges.
 * @param {{ process: Handle, first: Edge, last: Edge, i: number, started: { memory: ProcessMemory | null, identity: string[] },
 *   memory: ProcessMemory | null, overflows: number | null }} options started: before any load; memory: under it
 * @returns {ProcessRecord}
 */
export function describeProcess({ process, first, last, i, started, memory, overflows }) {
  const { spec } = process
  const [a, b] = [first.sample.readings[i], last.sample.readings[i]]
  const seconds = b.atSeconds - a.atSeconds
  const threads = threadsBetween(first.threads[i], last.threads[i])
  const periods = difference(a.periods, b.periods)
  const throttled = difference(a.throttledPeriods, b.throttledPeriods)
  return {
    service: spec.service,
    role: spec.role,
    command: [spec.program, ...spec.argv],
    capCores: spec.cpuCores,
    capReadBackCores: first.capCores[i] === spec.cpuCores ? last.capCores[i] : first.capCores[i],
    askedWorkers: spec.workers,
    workers: process.countListeners(),
    cpuSet: last.cpuSets[i],
    isReplaced: last.identities[i].join() !== started.identity.join(),
    overflows,
    files: spec.files.map(({ name, content }) => ({ name, sha256: hashText(content) })),
    cpuSeconds: b.cpuSeconds - a.cpuSeconds,
    cpuCores: (b.cpuSeconds - a.cpuSeconds) / seconds,
    throttledFraction: periods === null || throttled === null ? null : periods > 0 ? throttled / periods : 0,
    throttledSeconds: difference(a.throttledSeconds, b.throttledSeconds),
    oomKills: b.oomKills,
    busiestThreadCores: Math.max(0, ...threads.map(t => t.cpuSeconds)) / seconds,
    threads,
    memory: {
      anonBytes: b.anonBytes,
      rssBytes: memory?.rssBytes ?? null,
      workingSetBytes: b.workingSetBytes,
      pssBytes: memory?.pssBytes ?? null,
      peakBytes: b.peakBytes,
      idleRssBytes: started.memory?.rssBytes ?? null,
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
