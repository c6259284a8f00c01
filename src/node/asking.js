import http from 'node:http'
import { withAbort } from '../lib/wait.js'
import { createConvergence, readNowMs } from './convergence.js'
import { readHostCpu } from './kernel/proc-files.js'
import { performActions } from './perform.js'

/** Brings configurations to the sidecars of a rollout, and polls until they have them: in this program, or in a pod on a cluster. */

/** @import { Asking } from '../model/types.ts' */

/**
 * Creates the poller of sidecars in this process. `expectFirst` reads the start from the handle; without one, it is the present
 * time. Configurations are sent over kept connections, which `close` destroys.
 * @returns {Asking}
 */
export function createAsking() {
  const convergence = createConvergence()
  const agent = new http.Agent({ keepAlive: true })
  return {
    expectFirst: ({ startedMs }, expected) =>
      convergence.expect({ ...expected, isStarting: true, sinceMs: startedMs ?? readNowMs() }),
    expect: convergence.expect,
    countWaiting: convergence.countWaiting,
    giveUp: convergence.giveUp,
    // A request that listens to the signal itself takes nearly twice the CPU, on the machine that is measured.
    async perform(actions, signal) {
      signal.throwIfAborted()
      await withAbort(performActions(actions, agent), signal)
    },
    readCosts,
    close() {
      agent.destroy()
      convergence.close()
    },
  }
}

/**
 * Reads what asking has cost: the CPU time of this process since its start, and the CPU ticks of its machine since the boot.
 * @returns {import('../model/types.ts').Costs}
 */
export function readCosts() {
  const { user, system } = process.cpuUsage()
  return { nowMs: readNowMs(), host: readHostCpu(), ownCpuSeconds: (user + system) / 1e6 }
}
