import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { ROOT } from '../../lib/paths.js'
import { openLedger } from '../../node/ledger.js'
import { openLoadHost } from './host.js'
import { ENTRY_PORTS, rehearseLoad } from './rehearse.js'
import { chooseAddress, claimAddress } from './site.js'

/** @import { LoadGenerator, Tool, ToolSpec } from '../../model/types.ts' */
/** @import { Finding } from '../kubernetes/doctor.js' */

/**
 * @typedef {object} LoadHostCheck
 * @property {string} host as for ssh
 * @property {string | null} requestedAddress at which the entry listens; null: the one that the other machine sees
 * @property {LoadGenerator[]} loads the default is first: only its lack is an error
 * @property {(line: string) => void} say
 * @property {AbortSignal} signal
 * @property {(spec: ToolSpec) => Promise<Tool | { missing: string }>} findHere looks for a program on this machine
 */

/**
 * Checks all that a run with its load on another machine needs. A failure is a finding.
 * @param {LoadHostCheck} options
 * @returns {Promise<Finding[]>}
 * @throws the signal's reason when it aborts
 */
export async function checkLoadHost({ host, requestedAddress, loads, findHere, say, signal }) {
  const ledger = openLedger({ runId: `doctor-${Date.now()}-${process.pid}` })
  const { folder } = ledger
  /** @type {Finding[]} */
  const findings = []
  const addOkFinding = (/** @type {string} */ text) => findings.push({ level: 'ok', text })
  const fail = (/** @type {unknown} */ error, /** @type {Finding['level']} */ level = 'missing') => {
    if (!(error instanceof BenchError)) throw error
    signal.throwIfAborted()
    findings.push({ level, text: error.message })
  }
  let address = ''
  try {
    const loadHost = await openLoadHost({ host, folder, environment: {}, signal, findHere, say })
    try {
      const { machine, clock } = loadHost
      addOkFinding(`${host}: ${machine.cpus} CPUs (${machine.cpuModel}), ${machine.kernel}`)
      addOkFinding(
        `its clock is ${Math.abs(clock.aheadMs).toFixed(1)} ms ${clock.aheadMs < 0 ? 'behind' : 'ahead'} (±${clock.uncertaintyMs.toFixed(1)}), which is counted out; a round trip takes ${clock.roundTripMs.toFixed(1)} ms`,
      )
      address = chooseAddress({ requestedAddress, clientAddress: loadHost.clientAddress, host })
      claimAddress(ledger, address)
      for (const [i, load] of loads.entries()) {
        // A run takes the first load if none is named, so only its defects are errors.
        const level = i === 0 ? 'missing' : 'warning'
        try {
          const tool = await loadHost.findTool(load.tool)
          if ('missing' in tool) {
            findings.push({ level, text: tool.missing })
            continue
          }
          addOkFinding(`${tool.name} ${tool.version}: ${tool.path} (${tool.source})`)
          const scripts = path.join(ROOT, load.scripts)
          const ports = i === 0 ? ENTRY_PORTS : ENTRY_PORTS.slice(0, 1)
          await rehearseLoad({ loadHost, load, tool, scripts, address, ports, folder, signal })
          addOkFinding(`${load.name} on ${host} reaches ${address}, at ${ports.join(', ')}`)
        } catch (error) {
          fail(error, level)
        }
      }
    } finally {
      await loadHost.close()
    }
  } catch (error) {
    fail(error)
  } finally {
    ledger.release('addresses', address)
    ledger.close()
  }
  return findings
}
