import { readFileSync } from 'node:fs'
import { callSafely } from '../../lib/call-safely.js'
import { readProcessStartTicks } from '../../lib/process-start.js'
import { listProcEntries, readProcFile, readStatus } from './proc-files.js'
import { countConnections, listListeners, listSocketInodes } from './sockets.js'

/** @import { Endpoint, Probe } from '../../model/types.ts' */

// USER_HZ, in which every kernel that the kit runs on counts for programs (proc(5)).
const TICKS_PER_SECOND = 100

/**
 * Creates the probe of a group of processes of this kernel, which share a network namespace.
 * @param {object} options
 * @param {Pick<Probe, 'read' | 'readCpuLimitCores'> & { pids: () => number[], listOutside?: (pids: number[]) => string[] }}
 *   options.group counters of the group; without `listOutside` none counts as outside
 * @param {Endpoint[]} options.listens the addresses of its spec
 * @param {typeof listListeners} [options.listSockets] lists the sockets that listen in a process's network namespace;
 *   `listListeners` by default
 * @returns {Probe} its functions throw as those of `group`
 */
export function createProbe({ group, listens, listSockets = listListeners }) {
  // The processes are in one network namespace, so the table of the first has the sockets of all.
  const listListeningSockets = () => {
    const pids = group.pids()
    if (pids.length === 0) return []
    const inodes = listSocketInodes(pids)
    if (inodes.size === 0) return []
    return listSockets(pids[0]).flatMap(({ address, port, inode }) => (inodes.has(inode) ? [{ address, port }] : []))
  }
  // The CPU time and threads of a process that was moved out of the group are still read, until it ends or its pid is reused.
  /** @type {Map<number, number | null>} */
  const startTicks = new Map()
  const listAlive = () => {
    for (const pid of group.pids()) if (pid > 0 && !startTicks.has(pid)) startTicks.set(pid, readProcessStartTicks(pid))
    for (const [pid, ticks] of startTicks)
      if (ticks === null || readProcessStartTicks(pid) !== ticks) startTicks.delete(pid)
    return [...startTicks.keys()]
  }
  return {
    read: group.read,
    readCpuLimitCores: group.readCpuLimitCores,
    readThreads: () => listAlive().flatMap(readThreads),
    readUsage: () => listAlive().flatMap(readUsage),
    listOutside: () => group.listOutside?.(listAlive()) ?? [],

    /**
     * Sums resident and proportional set size over the group.
     * @returns {{ rssBytes: number, pssBytes: number } | null} both 0: the group is empty; null: a process has ended, or its
     *   memory cannot be read
     */
    readMemory() {
      const pids = group.pids()
      return callSafely(() => {
        const texts = pids.map(pid => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
        const sum = (/** @type {RegExp} */ line) =>
          texts.reduce((total, text) => total + Number(line.exec(text)?.[1]) * 1024, 0)
        return { rssBytes: sum(/^Rss:\s+(\d+)/m), pssBytes: sum(/^Pss:\s+(\d+)/m) }
      }, null)
    },

    countListeners() {
      const listening = listListeningSockets()
      if (listening.length === 0 || listens.length === 0) return 0
      return Math.min(...listens.map(endpoint => listening.filter(socket => isListeningAt(socket, endpoint)).length))
    },
    listListening: listListeningSockets,

    countConnections: listEstablished => countConnections(group.pids(), listEstablished),
    identify: () => group.pids().map(pid => `${pid} since ${readProcessStartTicks(pid)}`),
    readCpuSet: () => [...new Set(group.pids().map(pid => readStatus(pid, 'Cpus_allowed_list')))].join(' and '),
  }
}

/**
 * Says whether a socket listens at an endpoint. A socket of all addresses (`*`) is only at 0.0.0.0, not at a single
 * address.
 * @param {Endpoint} socket
 * @param {Endpoint} endpoint
 * @returns {boolean}
 */
export function isListeningAt(socket, { address, port }) {
  return socket.address === (address === '0.0.0.0' ? '*' : address) && socket.port === port
}

/**
 * Reads the threads of a process with their CPU time and their waits for a CPU (Documentation/scheduler/sched-stats.rst).
 * Threads that end meanwhile are left out.
 * @param {number} pid
 * @returns {import('../../model/types.ts').ThreadCpu[]} waitSeconds: absent if it cannot be read; []: the process has ended, or
 *   the kernel keeps no such statistics
 */
export function readThreads(pid) {
  return listProcEntries(`/proc/${pid}/task`).flatMap(id => {
    const folder = `/proc/${pid}/task/${id}`
    const schedstat = readProcFile(`${folder}/schedstat`)
    if (!schedstat) return []
    const [ran, waited] = schedstat.split(' ').map(nanoseconds => Number(nanoseconds) / 1e9)
    const name = readProcFile(`${folder}/comm`).trim()
    return { id: Number(id), name, cpuSeconds: ran, ...(Number.isFinite(waited) && { waitSeconds: waited }) }
  })
}

/**
 * Reads the CPU time of a process, to a clock tick, including that of threads that have ended (proc(5), stat): its own, and
 * that of children that it has waited for.
 * @param {number} pid
 * @returns {import('../../model/types.ts').ProcessUsage[]} one; []: the process has ended
 */
export function readUsage(pid) {
  const [, rest] = /^\d+ \(.*\) (\S.*)$/s.exec(readProcFile(`/proc/${pid}/stat`)) ?? []
  if (rest === undefined) return []
  // Fields begin with the state, field 3 in proc(5).
  const [utime, stime, cutime, cstime] = rest.split(' ').slice(11, 15).map(Number)
  return [
    { pid, cpuSeconds: (utime + stime) / TICKS_PER_SECOND, childrenSeconds: (cutime + cstime) / TICKS_PER_SECOND },
  ]
}
