import { readFileSync } from 'node:fs'
import { processStartTicks } from '../../lib/process-start.js'
import { listSafely, readCpuSet, readSafely } from './proc-files.js'
import { countConnections, listListeners, listSocketInodes } from './sockets.js'

/** @import { Endpoint, Probe } from '../../model/types.ts' */

/**
 * Makes the reader of a group of processes of this kernel.
 * @param {{ group: Pick<Probe, 'read' | 'readCapCores'> & { pids: () => number[] }, listens: Endpoint[] }} options
 * @returns {Probe}
 */
export function createProbe({ group, listens }) {
  return {
    read: group.read,
    readCapCores: group.readCapCores,
    readThreads: () => group.pids().flatMap(readThreads),
    readMemory: () => sumMemory(group.pids()),
    countListeners: () => countListeners(group.pids(), listens),
    countConnections: listEstablished => countConnections(group.pids(), listEstablished),
    identify: () => group.pids().map(pid => `${pid} since ${processStartTicks(pid)}`),
    readCpuSet: () => [...new Set(group.pids().map(readCpuSet))].join(' and '),
  }
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
    return [
      {
        id: Number(id),
        name: readSafely(`${folder}/comm`).trim(),
        cpuSeconds: Number(schedstat.split(' ', 1)[0]) / 1e9,
      },
    ]
  })
}

/** Counts sockets at the address with the fewest. @param {number[]} pids of a namespace @param {Endpoint[]} listens */
function countListeners(pids, listens) {
  if (pids.length === 0 || listens.length === 0) return 0
  const inodes = listSocketInodes(pids)
  const own = listListeners(pids[0]).filter(l => inodes.has(l.inode))
  const isAt = (/** @type {string} */ found, /** @type {string} */ wanted) =>
    found === (wanted === '0.0.0.0' ? '*' : wanted)
  return Math.min(...listens.map(e => own.filter(l => isAt(l.address, e.address) && l.port === e.port).length))
}

/** Reads resident and proportional set size from smaps_rollup; null when a process has ended. @param {number[]} pids */
function sumMemory(pids) {
  const sum = { rssBytes: 0, pssBytes: 0 }
  for (const pid of pids) {
    try {
      const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
      sum.rssBytes += Number(/^Rss:\s+(\d+)/m.exec(text)?.[1]) * 1024
      sum.pssBytes += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1]) * 1024
    } catch {
      return null
    }
  }
  return sum
}
