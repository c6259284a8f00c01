import { createConvergence, readNowMs } from './convergence.js'
import { readHostCpu } from './kernel/host-cpu.js'
import { createPerformer } from './perform.js'

/**
 * From where the sidecars of a rollout can be reached: what brings configurations to their control plane, and asks them
 * for it. In this program where the sidecars run on its machine, in a pod on a cluster.
 */
/** @import { Costs } from '../model/types.ts' */

/** @typedef {import('../model/types.ts').Asking} Asking */

/** @returns {Asking} */
export function createAsking() {
  const convergence = createConvergence()
  const performer = createPerformer()
  return {
    expectFirst: ({ startedMs }, expected) =>
      convergence.expect({ ...expected, isStarting: true, sinceMs: startedMs ?? readNowMs() }),
    expect: convergence.expect,
    countWaiting: convergence.countWaiting,
    giveUp: convergence.giveUp,
    perform: performer.perform,
    readCosts,
    close() {
      performer.close()
      convergence.close()
    },
  }
}

/** @returns {Costs} of this program */
export function readCosts() {
  const { user, system } = process.cpuUsage()
  return { nowMs: readNowMs(), host: readHostCpu(), ownCpuSeconds: (user + system) / 1e6 }
}
