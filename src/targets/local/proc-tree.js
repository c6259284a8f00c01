import { killProcess } from '../../lib/kill-process.js'
import { waitForCondition } from '../../lib/wait.js'
import { NOT_OFFERED } from '../../node/kernel/cgroup.js'
import { readThreads } from '../../node/kernel/probe.js'
import { hasEnded, listProcEntries, readProcFile, sumStatusBytes } from '../../node/kernel/proc-files.js'
import { listMarkedProcesses } from './marks.js'

/** @import { CgroupTree, Group } from './cgroups.js' */

const REMOVE_SECONDS = 30

/**
 * Creates groups that read processes one by one in /proc, for a run that may not create cgroups (only under `--cpu none`). They
 * limit nothing, and counters that only a cgroup has are null. CPU time is the sum over live processes and threads: that of ended
 * ones is not counted. The peak is the sum of the peaks of single processes.
 * @param {{ runId: string }} options
 * @returns {CgroupTree} its `remove` does nothing: each group is removed by itself
 */
export function createProcTree({ runId }) {
  return { create: async name => createProcGroup(runId, name), async remove() {} }
}

/**
 * Creates a group of the processes of a start, which are known by their marks.
 * @param {string} runId
 * @param {string} name of the group: `start-service-role`
 * @returns {Group} its CPU time and memory are 0 while it has no process
 */
function createProcGroup(runId, name) {
  const listProcesses = () =>
    listMarkedProcesses().filter(marked => marked.runId === runId && `${marked.start}-${marked.name}` === name)
  /** The processes of the first search with their children since, less those that have ended. @type {number[]} */
  let pids = []
  const listPids = () => {
    const running = pids.filter(pid => listProcEntries(`/proc/${pid}/task`).length > 0)
    // A search reads the environment of every process of the machine: later ones look at the children of those that are known.
    pids = running.length > 0 ? listWithDescendants(running) : listProcesses().map(({ pid }) => pid)
    return pids
  }
  return {
    joinFiles: [],
    read() {
      const before = performance.now()
      const threads = listPids().flatMap(readThreads)
      const cpuSeconds = threads.reduce((sum, thread) => sum + thread.cpuSeconds, 0)
      const after = performance.now()
      return {
        ...NOT_OFFERED,
        atSeconds: (before + after) / 2000,
        cpuSeconds,
        anonBytes: sumStatusBytes(listPids(), 'RssAnon'),
        peakBytes: sumStatusBytes(listPids(), 'VmHWM'),
      }
    },
    readCpuLimitCores: () => null,
    pids: listPids,
    listOutside: () => [],
    close() {},

    /** Kills the processes, and waits until all have ended. @throws {TimeoutError} if they do not in REMOVE_SECONDS */
    async remove() {
      // A process that ends loses its environment, and so its mark, before its sockets: remember what was killed.
      /** @type {Set<number>} */
      const killed = new Set()
      // The search is repeated: a process may have started another in between, which outlives it.
      const tryKillAll = () => {
        const processes = listProcesses()
        for (const { pid } of processes) {
          killProcess(pid)
          killed.add(pid)
        }
        return processes.length === 0 && [...killed].every(hasEnded)
      }
      await waitForCondition(tryKillAll, {
        what: `the processes of ${name} to end`,
        deadlineSeconds: REMOVE_SECONDS,
        intervalMs: 5,
      })
    },
  }
}

/**
 * Lists processes with their children, and the children of these.
 * @param {number[]} pids
 * @returns {number[]} the same pids, and those of descendants; a process that has ended adds none, as do all on a kernel without
 *   CONFIG_PROC_CHILDREN
 */
function listWithDescendants(pids) {
  const all = new Set(pids)
  // A set passes on what is added to it meanwhile.
  for (const pid of all) {
    const children = listProcEntries(`/proc/${pid}/task`).flatMap(thread =>
      readProcFile(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean),
    )
    for (const child of children) all.add(Number(child))
  }
  return [...all]
}
