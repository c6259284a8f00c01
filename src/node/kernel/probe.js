import { readFileSync } from 'node:fs'
import { processStartTicks } from '../../lib/process-start.js'
import { safely } from '../../lib/safely.js'
import { listSafely, readSafely, readStatus } from './proc-files.js'
import { countConnections, listListeners, listSocketInodes } from './sockets.js'

/** @import { Endpoint, Probe } from '../../model/types.ts' */

/**
 * Makes the reader of a group of processes of this kernel.
 * @param {{ group: Pick<Probe, 'read' | 'readCapCores'> & { pids: () => number[] }, listens: Endpoint[] }} options
 * @returns {Probe}
 */
export function createProbe({ group, listens }) {
  // The processes are in one network namespace.
  const listListening = () => {
    const pids = group.pids()
    if (pids.length === 0) return []
    const inodes = listSocketInodes(pids)
    return listListeners(pids[0]).flatMap(({ address, port, inode }) => (inodes.has(inode) ? [{ address, port }] : []))
  }
  return {
    read: group.read,
    readCapCores: group.readCapCores,
    readThreads: () => group.pids().flatMap(readThreads),

    /** Reads resident and proportional set size; null when a process has ended. */
    readMemory() {
      const pids = group.pids()
      return safely(() => {
        const texts = pids.map(pid => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
        const sum = (/** @type {RegExp} */ line) =>
          texts.reduce((total, text) => total + Number(line.exec(text)?.[1]) * 1024, 0)
        return { rssBytes: sum(/^Rss:\s+(\d+)/m), pssBytes: sum(/^Pss:\s+(\d+)/m) }
      }, null)
    },

    countListeners() {
      const listening = listListening()
      if (listening.length === 0 || listens.length === 0) return 0
      return Math.min(...listens.map(endpoint => listening.filter(socket => isAt(socket, endpoint)).length))
    },
    listListening,

    countConnections: listEstablished => countConnections(group.pids(), listEstablished),
    identify: () => group.pids().map(pid => `${pid} since ${processStartTicks(pid)}`),
    readCpuSet: () => [...new Set(group.pids().map(pid => readStatus(pid, 'Cpus_allowed_list')))].join(' and '),
  }
}

/** Says whether a listening socket is at an endpoint; the kernel's wildcard address is `*`. @param {Endpoint} socket @param {Endpoint} endpoint */
export function isAt(socket, { address, port }) {
  return socket.address === (address === '0.0.0.0' ? '*' : address) && socket.port === port
}

/**
 * Reads the threads of a process with their CPU time, from /proc/PID/task/TID/schedstat (Documentation/scheduler/
 * sched-stats.rst). Empty when the process has ended. @param {number} pid
 */
export function readThreads(pid) {
  return listSafely(`/proc/${pid}/task`).flatMap(id => {
    const folder = `/proc/${pid}/task/${id}`
    const schedstat = readSafely(`${folder}/schedstat`)
    if (!schedstat) return []
    const [nanoseconds] = schedstat.split(' ', 1)
    return { id: Number(id), name: readSafely(`${folder}/comm`).trim(), cpuSeconds: Number(nanoseconds) / 1e9 }
  })
}
