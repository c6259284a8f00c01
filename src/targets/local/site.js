import os from 'node:os'
import { BenchError } from '../../lib/errors.js'
import { readPlace } from '../../lib/process-start.js'
import { openLedger } from '../../node/ledger.js'
import { readCores, readLimits, readMachine } from '../../node/machine.js'
import { findOnPath } from '../../tools/find.js'
import { createLocalTarget } from './index.js'
import { createNetworks } from './networks.js'
import { findSmallestQuota } from './quota.js'

/**
 * @import { Site } from '../../model/types.ts'
 * @import { CapWay } from './cgroups.js'
 */

/**
 * Opens this machine as a site.
 * @param {object} options
 * @param {string} options.runId
 * @param {CapWay} options.way
 * @param {Site['findTool']} options.findTool
 * @param {(line: string) => void} [options.say] prints a warning
 * @returns {Promise<Site>} closing its target closes its ledger
 * @throws {BenchError} if the ledger cannot be written, no addresses are free, or the cgroup of the run exists already; the
 *   system's error if no cgroup can be created
 */
export async function openLocalSite({ runId, way, findTool, say }) {
  const hasTaskset = findOnPath('taskset', process.env.PATH ?? '') !== null
  const limits = { ...readLimits(), quota: findSmallestQuota(way) }
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
    limits,
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
