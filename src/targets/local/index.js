import os from 'node:os'
import { BenchError } from '../../lib/errors.js'
import { readPlace } from '../../lib/process-start.js'
import { runAtExit } from '../../lib/run-at-exit.js'
import { createPlace, GENERATOR, PROBER } from '../../model/sidecar-contract.js'
import { openLedger } from '../../node/ledger.js'
import { readCores, readLimits, readMachine } from '../../node/machine.js'
import { lookAtProbes, observeProbes } from '../../node/observer.js'
import { findOnPath } from '../../tools/find.js'
import { assertPortsFree, createAddresses, holdBlock } from './addresses.js'
import { createTree } from './cgroups.js'
import { killProcess, listMarkedProcesses } from './marks.js'
import { createNetworks } from './networks.js'
import { createLocalProber } from './prober.js'
import { BOUND_MS, LOG_MOST, startProcess } from './process.js'
import { createProcessAccounting } from './process-accounting.js'
import { findQuota } from './quota.js'
import { countReceivedConnections } from './received.js'

/** @import { Deployment, Ledger, Target, Site, Tool, ToolSpec } from '../../model/types.ts' */
/**
 * @import { CapWay, CgroupTree } from './cgroups.js'
 * @import { Networks } from './networks.js'
 */
/** @import { RunningProcess } from './process.js' */

// A rig mostly waits for timeouts, so several run at once; each leaves a hundred MiB behind, so they are few.
const RIGS_MOST = 3

/**
 * Opens this machine as a site.
 * @param {{ runId: string, way: CapWay, findTool: (spec: ToolSpec) => Promise<Tool | { missing: string }>, say?:
 *   (line: string) => void }} options say: prints a warning
 * @returns {Promise<Site>} closing its target closes its ledger
 * @throws {BenchError} if no addresses are free, or no cgroups can be created
 */
export async function openLocalSite({ runId, way, findTool, say }) {
  const hasTaskset = (await findOnPath('taskset', process.env.PATH ?? '')) !== null
  const ledger = openLedger({ runId })
  const networks = createNetworks({ ledger })
  /** @type {Record<string, unknown>} */
  const machine = { ...readMachine(), bootId: readPlace().bootId, cgroupVersion: way.version, capWay: way.how }
  if ('lacksMemory' in way) machine.lacksMemoryController = true
  return {
    target: await createLocalTarget({ ledger, way, networks, say }).catch(error => {
      ledger.close()
      throw error
    }),
    runId,
    ledger,
    cpus: os.availableParallelism(),
    machine,
    sampleSource: 'cgroup',
    limits: { ...readLimits(), quota: findQuota(way) },
    cores: hasTaskset ? readCores() : [],
    assertCpuSettings(conditions) {
      if (way.how !== 'none') return
      const hasRequests = conditions.some(c => (c.cpuRequestCores ?? c.neighbourCores) !== undefined)
      if (hasRequests) throw new BenchError(`no CPU request can be set here, as the weight of a cgroup: ${way.reason}`)
      const hasPods = conditions.some(({ podCpuCores }) => podCpuCores !== undefined)
      if (hasPods)
        throw new BenchError(`no CPU limit of a pod can be set here, as the quota of a cgroup: ${way.reason}`)
    },
    async assertInterception() {
      await networks.assertPossible()
      machine.iptables = await networks.readIptablesVersion()
    },
    findTool,
  }
}

/**
 * Creates the target that runs every process on this machine. Each process has a cgroup of its own; each service has
 * a loopback address that no earlier trial had, or a network namespace.
 * @param {{ ledger: Ledger, way: CapWay, networks?: Networks, say?: (line: string) => void }} options ledger: of the
 *   run; closing the target closes it; say: prints a warning
 * @returns {Promise<Target>}
 * @throws {BenchError} if no addresses are free, or no cgroups can be created
 */
export async function createLocalTarget({ ledger, way, networks = createNetworks({ ledger }), say = () => {} }) {
  const { runId } = ledger
  const isCapped = way.how === 'v1' || way.how === 'v2'
  const block = holdBlock(ledger)
  /** @type {CgroupTree} */
  let tree
  try {
    tree = isCapped ? await createTree({ way, ledger }) : createProcessAccounting({ runId })
  } catch (error) {
    ledger.release('addresses', block)
    throw error
  }
  const nextAddress = createAddresses(block)
  /** @type {Set<RunningProcess>} */
  const running = new Set()

  const killMarkedProcesses = () => {
    for (const marked of listMarkedProcesses()) if (marked.runId === runId) killProcess(marked.pid)
  }
  const leaveAll = runAtExit(killMarkedProcesses)
  const { call, close: closeProber } = createLocalProber({ runId, enter: networks.enterProber })
  const warnedNames = new Set()
  const limitProcessLog = async (/** @type {RunningProcess} */ { spec, boundLog }) => {
    const name = `${spec.service}'s ${spec.role}`
    if (!(await boundLog().catch(() => false)) || warnedNames.has(name)) return
    warnedNames.add(name)
    const consequence = spec.role === 'generator' ? 'it was ended' : 'what it logs costs CPU and disk'
    say(`the log of ${name} is over ${LOG_MOST}: only its end is kept, and ${consequence}`)
  }
  const bounding = setInterval(() => {
    for (const process of running) limitProcessLog(process)
  }, BOUND_MS).unref()

  return {
    name: 'local',

    locate: folder => folder,

    async placesFor(start, services, { hasNamespaces = false } = {}) {
      if (hasNamespaces) return networks.placesFor(start, services)
      return Object.fromEntries([...services, PROBER, GENERATOR].map(name => [name, createPlace(nextAddress())]))
    },

    rigsMost: RIGS_MOST,
    deploy: createDeploy({ runId, tree, networks, running, call }),
    call,
    look: async processes => lookAtProbes(listProbes(processes)),
    async observe(processes, options) {
      const counted = processes.map(process => {
        const { spec, pids, podNetworks } = /** @type {RunningProcess} */ (process)
        return spec.role === 'sidecar' ? { pids, podNetworks } : null
      })
      const count = countReceivedConnections(counted, options)
      let received = /** @type {ReturnType<typeof count> | null} */ (null)
      const onEnd = () => {
        received = count()
      }
      const observed = await observeProbes(listProbes(processes), { ...options, onEnd })
      const bytes = (await received) ?? processes.map(() => null)
      return {
        ...observed,
        received: bytes.map(counts => counts?.bytes ?? null),
        receivedByPod: bytes.map(counts => (counts && counts.byPod.length > 0 ? counts.byPod : null)),
        closedConnections: bytes.map(counts => counts?.closed ?? null),
        clockOffsetMs: 0,
      }
    },

    async close({ retain } = { retain: false }) {
      leaveAll()
      clearInterval(bounding)
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
      return [...running].map(({ spec }) => `${spec.service}'s ${spec.role}`)
    },
  }
}

/**
 * Creates `deploy` of the target.
 * @param {{ runId: string, tree: CgroupTree, networks: Networks, running: Set<RunningProcess>, call: Target['call']
 *   }} options running: the processes of all deployments, which this changes; call: calls a procedure of the prober
 * @returns {Target['deploy']}
 */
function createDeploy({ runId, tree, networks, running, call }) {
  return async (specs, { start, folder, pace, onStart }) => {
    const hasNamespaces = networks.has(start, specs)
    if (!hasNamespaces) assertPortsFree(specs)
    /** @type {RunningProcess[]} */
    const processes = []
    /** @type {Deployment} */
    const deployment = {
      processes,
      async remove() {
        await Promise.all(processes.map(p => p.stop()))
        for (const p of processes) running.delete(p)
        await networks.remove(start, specs)
      },
    }
    try {
      if (hasNamespaces) await networks.prepare(start, specs)
      for (const spec of specs) {
        await pace?.()
        const inside = hasNamespaces
          ? { enter: networks.enter(start, spec), podNetworks: networks.listPodNetworks(start, spec), call }
          : {}
        const process = await startProcess({ spec, folder, tree, start, runId, ...inside })
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
 * Lists the probes of processes of this target.
 * @param {import('../../model/types.ts').Handle[]} processes of this target
 */
function listProbes(processes) {
  return processes.map(p => /** @type {RunningProcess} */ (p).probe)
}
