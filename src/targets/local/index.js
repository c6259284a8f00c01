import { killProcess } from '../../lib/kill-process.js'
import { runAtExit } from '../../lib/run-at-exit.js'
import { createPlace, GENERATOR, PROBER } from '../../model/sidecar-contract.js'
import { lookAtProbes, observeProbes } from '../../node/observer.js'
import { assertPortsFree, createAddressAllocator, holdAddressBlock } from './addresses.js'
import { createCgroupTree } from './cgroups.js'
import { LOG_CHECK_MS, LOG_LIMIT } from './log-file.js'
import { listMarkedProcesses } from './marks.js'
import { createNetworks } from './networks.js'
import { createLocalProber } from './prober.js'
import { createProcTree } from './proc-tree.js'
import { startProcess } from './process.js'
import { startCountingReceivedBytes } from './received.js'

/**
 * @import { Deployment, Handle, Ledger, Target } from '../../model/types.ts'
 * @import { CapWay, CgroupTree } from './cgroups.js'
 * @import { Networks } from './networks.js'
 * @import { RunningProcess } from './process.js'
 */

// A rig mostly waits for timeouts, so several run at once; each leaves a hundred MiB behind, so they are few.
const RIGS_MOST = 3

/**
 * Creates the target that runs every process on this machine. Each process has a cgroup of its own; each service has
 * a loopback address that no earlier trial had, or a network namespace. If this process exits before the target is closed, all
 * processes of the run are killed.
 * @param {object} options
 * @param {Ledger} options.ledger of the run; closing the target closes it
 * @param {CapWay} options.way by which CPU is limited; unless it is v1 or v2, nothing is limited
 * @param {Networks} [options.networks] of the run
 * @param {(line: string) => void} [options.say] prints a warning
 * @returns {Promise<Target>}
 * @throws {BenchError} if no addresses are free, or the cgroup of the run exists already; the system's error if no cgroup can be
 *   created
 */
export async function createLocalTarget({ ledger, way, networks = createNetworks({ ledger }), say = () => {} }) {
  const { runId } = ledger
  const isCapped = way.how === 'v1' || way.how === 'v2'
  const block = holdAddressBlock(ledger)
  /** @type {CgroupTree} */
  let tree
  try {
    tree = isCapped ? await createCgroupTree({ way, ledger }) : createProcTree({ runId })
  } catch (error) {
    ledger.release('addresses', block)
    throw error
  }
  const allocateAddress = createAddressAllocator(block)
  /** @type {Set<RunningProcess>} */
  const running = new Set()

  const killMarkedProcesses = () => {
    for (const marked of listMarkedProcesses()) if (marked.runId === runId) killProcess(marked.pid)
  }
  const cancelKillAtExit = runAtExit(killMarkedProcesses)
  const createEnterArgv = networks.createProberEnterArgv
  const { call, close: closeProber } = createLocalProber({ runId, createEnterArgv })
  const warnedNames = new Set()
  const checkLog = async (/** @type {RunningProcess} */ process) => {
    const name = renderRunningProcess(process)
    const wasTooLarge = await process.enforceLogLimit().catch(() => false)
    if (!wasTooLarge || warnedNames.has(name)) return
    warnedNames.add(name)
    const consequence = process.spec.role === 'generator' ? 'it was ended' : 'what it logs costs CPU and disk'
    say(`the log of ${name} is over ${LOG_LIMIT}: only its end is kept, and ${consequence}`)
  }
  const logTimer = setInterval(() => {
    for (const process of running) checkLog(process)
  }, LOG_CHECK_MS).unref()

  return {
    name: 'local',

    locate: folder => folder,

    async placesFor(start, services, { hasNamespaces = false } = {}) {
      if (hasNamespaces) return networks.placesFor(start, services)
      return Object.fromEntries([...services, PROBER, GENERATOR].map(name => [name, createPlace(allocateAddress())]))
    },

    rigsMost: RIGS_MOST,
    deploy: createDeploy({ runId, tree, networks, running, call }),
    call,
    look: async processes => lookAtProbes(listProbes(processes)),
    async observe(processes, options) {
      const sidecars = castToRunning(processes).map(process => (process.spec.role === 'sidecar' ? process : null))
      const endCount = startCountingReceivedBytes(sidecars, options)
      let counting = /** @type {ReturnType<typeof endCount> | null} */ (null)
      const onEnd = () => {
        counting = endCount()
      }
      const observation = await observeProbes(listProbes(processes), { ...options, onEnd })
      const counts = (await counting) ?? processes.map(() => null)
      return {
        ...observation,
        received: counts.map(count => count?.bytes ?? null),
        receivedByPod: counts.map(count => (count && count.byPod.length > 0 ? count.byPod : null)),
        closedConnections: counts.map(count => count?.closed ?? null),
        clockOffsetMs: 0,
      }
    },

    async close({ retain } = { retain: false }) {
      cancelKillAtExit()
      clearInterval(logTimer)
      closeProber()
      if (!retain) {
        await tree.remove()
        // `cleanup` finds what is left by the ledger: kill all before it is closed.
        killMarkedProcesses()
        await networks.close()
        ledger.release('addresses', block)
        ledger.close()
        return []
      }
      ledger.close({ retain })
      for (const process of running) process.unref()
      return [...running].map(renderRunningProcess)
    },
  }
}

/**
 * Creates `deploy` of the target.
 * @param {object} options
 * @param {string} options.runId
 * @param {CgroupTree} options.tree
 * @param {Networks} options.networks
 * @param {Set<RunningProcess>} options.running the processes of all deployments, which this changes
 * @param {Target['call']} options.call calls a procedure of the prober
 * @returns {Target['deploy']} it throws a BenchError if a port is in use, a limit cannot be set, or an awaited process does not
 *   become ready, after it has removed all
 */
function createDeploy({ runId, tree, networks, running, call }) {
  return async (specs, { start, folder, pace, onStart }) => {
    const hasNamespaces = networks.hasNamespaces(start, specs)
    if (!hasNamespaces) assertPortsFree(specs)
    /** @type {RunningProcess[]} */
    const processes = []
    /** @type {Deployment} */
    const deployment = {
      processes,
      async remove() {
        await Promise.all(processes.map(p => p.stop()))
        for (const p of processes) running.delete(p)
        await networks.removeNamespaces(start, specs)
      },
    }
    try {
      if (hasNamespaces) await networks.createNamespaces(start, specs)
      for (const spec of specs) {
        await pace?.()
        const inNamespace = hasNamespaces && {
          enterArgv: networks.createEnterArgv(start, spec),
          podNetworks: networks.listPodNetworks(start, spec),
          call,
        }
        const process = await startProcess({ spec, folder, tree, start, runId, ...inNamespace })
        processes.push(process)
        running.add(process)
        onStart?.(process)
        if (spec.isAwaited) await process.waitUntilReady(new AbortController().signal)
      }
      return deployment
    } catch (error) {
      await deployment.remove()
      throw error
    }
  }
}

/**
 * Casts handles of this target to their own type.
 * @param {Handle[]} processes
 */
function castToRunning(processes) {
  return /** @type {RunningProcess[]} */ (processes)
}

/** Lists the probes of processes of this target. @param {Handle[]} processes */
function listProbes(processes) {
  return castToRunning(processes).map(({ probe }) => probe)
}

/** Renders a process in words, such as `gateway's sidecar`. @param {RunningProcess} process */
function renderRunningProcess({ spec }) {
  return `${spec.service}'s ${spec.role}`
}
