import os from 'node:os'
import { readBootId } from '../../lib/process-start.js'
import { openLedger } from '../../node/ledger.js'
import { readCores, readLimits, readMachine } from '../../node/machine.js'
import { findOnPath } from '../../tools/find.js'
import { createLocalTarget } from './index.js'
import { createNetworks } from './networks.js'

/** @import { Site, Tool, ToolSpec } from '../../model/types.ts' @import { CapWay } from './cgroups.js' */

/**
 * This machine.
 * @param {{ runId: string, way: CapWay, findTool: (spec: ToolSpec) => Promise<Tool | { missing: string }>,
 *   say?: (line: string) => void }} options
 * @returns {Promise<Site>}
 */
export async function openLocalSite({ runId, way, findTool, say }) {
  const hasTaskset = (await findOnPath('taskset', process.env.PATH ?? '')) !== null
  const ledger = openLedger({ runId })
  const networks = createNetworks({ ledger })
  /** @type {Record<string, unknown>} */
  const machine = { ...readMachine(), bootId: readBootId(), cgroupVersion: way.version, capWay: way.how }
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
    limits: readLimits(),
    cores: hasTaskset ? readCores() : [],
    async assertInterception() {
      await networks.assertPossible()
      machine.iptables = await networks.describeRules()
    },
    findTool,
  }
}
