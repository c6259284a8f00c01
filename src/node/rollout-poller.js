import http from 'node:http'
import { readNowMs } from '../lib/clock.js'
import { withAbort } from '../lib/wait.js'
import { createConvergencePoller } from './convergence.js'
import { readHostCpu } from './kernel/proc-files.js'
import { performActions } from './perform.js'

/** @import { RolloutPoller } from '../model/types.ts' */

/**
 * Creates the poller of a rollout's sidecars in this process: this program, or an agent in a pod. Without a start in the handle,
 * `expectFirst` counts from the present. Configurations are sent over kept connections, which `close` destroys.
 * @returns {RolloutPoller} the caller closes it; `expect` and `expectFirst` reject as `expect` of `createConvergencePoller`, `perform`
 *   as `performActions`, or with the signal's reason when it aborts: an action under way then continues
 */
export function createRolloutPoller() {
  const convergence = createConvergencePoller()
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
 * Reads the cost of polling: the CPU time of this process since its start, and the CPU ticks of its machine since the boot.
 * @returns {import('../model/types.ts').Costs}
 * @throws the system's error if /proc/stat cannot be read
 */
export function readCosts() {
  const { user, system } = process.cpuUsage()
  return { nowMs: readNowMs(), host: readHostCpu(), ownCpuSeconds: (user + system) / 1e6 }
}
