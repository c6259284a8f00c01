import { waitForCondition } from '../../lib/wait.js'
import { NOT_OFFERED } from '../../node/kernel/cgroup.js'
import { readThreads } from '../../node/kernel/probe.js'
import { hasEnded, listProcEntries, sumStatusBytes } from '../../node/kernel/proc-files.js'
import { killProcess, listMarkedProcesses } from './marks.js'

/**
 * Creates groups that read processes one by one in /proc, for machines without cgroups (only under `--cpu none`).
 * They limit nothing, and counters that only a cgroup has are null.
 * @param {{ runId: string }} options
 * @returns {import('./cgroups.js').CgroupTree}
 */
export function createProcessAccounting({ runId }) {
  return {
    create: async name => {
      /** @type {number[]} */
      let known = []
      const find = () => listMarkedProcesses().filter(m => m.runId === runId && `${m.start}-${m.name}` === name)
      const listKnownPids = () =>
        (known =
          known.length > 0
            ? known.filter(pid => listProcEntries(`/proc/${pid}/task`).length > 0)
            : find().map(m => m.pid))
      return {
        joinFiles: [],
        read() {
          const before = performance.now()
          const cpuSeconds = listKnownPids()
            .flatMap(readThreads)
            .reduce((sum, thread) => sum + thread.cpuSeconds, 0)
          const after = performance.now()
          return {
            ...NOT_OFFERED,
            atSeconds: (before + after) / 2000,
            cpuSeconds,
            anonBytes: sumStatusBytes(listKnownPids(), 'RssAnon'),
            peakBytes: sumStatusBytes(listKnownPids(), 'VmHWM'),
          }
        },
        readCpuLimitCores: () => null,
        pids: listKnownPids,
        listOutside: () => [],
        close() {},
        // The search is repeated: a process may have started another in between, which outlives it.
        async remove() {
          /** @type {Set<number>} */
          const killed = new Set()
          // A process that ends loses its environment, and so its mark, before its sockets: remember what was killed.
          const isAllEnded = () => {
            const processes = find()
            for (const { pid } of processes) {
              killProcess(pid)
              killed.add(pid)
            }
            return processes.length === 0 && [...killed].every(hasEnded)
          }
          await waitForCondition(isAllEnded, {
            what: `the processes of ${name} to end`,
            deadlineSeconds: 30,
            intervalMs: 5,
          })
        },
      }
    },
    async remove() {},
  }
}
