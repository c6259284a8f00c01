import { createConvergence, readNowMs } from './convergence.js'
import { readHostCpu } from './kernel/host-cpu.js'
import { createPerformer } from './perform.js'

/**
 * From where the sidecars of a rollout can be reached: what brings configurations to their control plane, and asks them
 * for it. In this program where the sidecars run on its machine, in a pod on a cluster.
 * @import { Handle, HostCpu, ReloadAction, Told } from '../model/types.ts'
 * @import { Expected } from './convergence.js'
 */

/** What asking has cost so far, by the clock that all its times are of. @typedef {{ nowMs: number, host: HostCpu, ownCpuSeconds: number }} Costs */

/**
 * @typedef {object} Asking
 * @property {(process: Handle, expected: Expected) => Promise<Told | null>} expectFirst asks from the start of the process
 *   on; null: its start was not seen before asking ended
 * @property {(expected: Expected) => Promise<Told>} expect asks from now on until it is answered, or asking ends
 * @property {() => number} countWaiting how many have not answered yet
 * @property {() => void | Promise<void>} giveUp gives up those that have not answered
 * @property {(actions: ReloadAction[], signal: AbortSignal) => Promise<void>} perform
 * @property {() => Costs | Promise<Costs>} readCosts
 * @property {() => void} close
 */

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
