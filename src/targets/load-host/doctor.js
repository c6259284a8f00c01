import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { ROOT } from '../../lib/paths.js'
import { openLedger } from '../../node/ledger.js'
import { createFinding } from '../doctor-finding.js'
import { openLoadHost } from './host.js'
import { ENTRY_PORTS, rehearseLoad } from './rehearse.js'
import { chooseAddress, claimAddress } from './site.js'

/**
 * @import { LoadGenerator, Tool, ToolSpec } from '../../model/types.ts'
 * @import { DoctorFinding } from '../doctor-finding.js'
 * @import { LoadHost } from './host.js'
 */

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
 * Checks all that a run with its load on another machine needs. A failure is a finding, and ends the check unless it is of
 * one generator.
 * @param {LoadHostCheck} options
 * @returns {Promise<DoctorFinding[]>}
 * @throws {BenchError} if the ledger of the check cannot be written; as `createFailureFinding`
 */
export async function checkLoadHost({ host, requestedAddress, loads, findHere, say, signal }) {
  const ledger = openLedger({ runId: `doctor-${Date.now()}-${process.pid}` })
  const { folder } = ledger
  /** @type {DoctorFinding[]} */
  const findings = []
  let address = ''
  try {
    const loadHost = await openLoadHost({ host, folder, environment: {}, signal, findHere, say })
    try {
      findings.push(...createMachineFindings(loadHost))
      address = chooseAddress({ requestedAddress, clientAddress: loadHost.clientAddress, host })
      claimAddress(ledger, address)
      for (const [i, load] of loads.entries()) {
        // A run takes the first load if none is named, so only its defects are errors.
        const isDefault = i === 0
        findings.push(...(await checkRemoteGenerator(load, { loadHost, address, isDefault, folder, signal })))
      }
    } finally {
      await loadHost.close()
    }
  } catch (error) {
    findings.push(createFailureFinding(error, 'missing', signal))
  } finally {
    ledger.release('addresses', address)
    ledger.close()
  }
  return findings
}

/**
 * Creates the findings of what the other machine is, and how its clock differs.
 * @param {LoadHost} loadHost
 * @returns {DoctorFinding[]} two
 */
function createMachineFindings({ host, machine, clock }) {
  const lead = `${Math.abs(clock.aheadMs).toFixed(1)} ms ${clock.aheadMs < 0 ? 'behind' : 'ahead'}`
  const uncertainty = `(±${clock.uncertaintyMs.toFixed(1)})`
  const roundTrip = `a round trip takes ${clock.roundTripMs.toFixed(1)} ms`
  return [
    createFinding('ok', `${host}: ${machine.cpus} CPUs (${machine.cpuModel}), ${machine.kernel}`),
    createFinding('ok', `its clock is ${lead} ${uncertainty}, which is counted out; ${roundTrip}`),
  ]
}

/**
 * Checks whether a generator can be found on the other machine, and reaches this one: the default at every port at which a load
 * may enter, another at the first. A failure of another is only a warning.
 * @param {LoadGenerator} load
 * @param {object} options
 * @param {LoadHost} options.loadHost
 * @param {string} options.address of the entry
 * @param {boolean} options.isDefault
 * @param {string} options.folder of the generator's log
 * @param {AbortSignal} options.signal
 * @returns {Promise<DoctorFinding[]>} one if the program is missing or the check of it fails; else one for it, and one for its load
 * @throws as `createFailureFinding`
 */
async function checkRemoteGenerator(load, { loadHost, address, isDefault, folder, signal }) {
  const level = isDefault ? 'missing' : 'warning'
  const findings = []
  try {
    const tool = await loadHost.findTool(load.tool)
    if ('missing' in tool) return [createFinding(level, tool.missing)]
    findings.push(createFinding('ok', `${tool.name} ${tool.version}: ${tool.path} (${tool.source})`))
    const scripts = path.join(ROOT, load.scripts)
    const ports = isDefault ? ENTRY_PORTS : ENTRY_PORTS.slice(0, 1)
    await rehearseLoad({ loadHost, load, tool, scripts, address, ports, folder, signal })
    findings.push(createFinding('ok', `${load.name} on ${loadHost.host} reaches ${address}, at ${ports.join(', ')}`))
  } catch (error) {
    findings.push(createFailureFinding(error, level, signal))
  }
  return findings
}

/**
 * Creates the finding of an error that a person can act on.
 * @param {unknown} error
 * @param {DoctorFinding['level']} level
 * @param {AbortSignal} signal
 * @returns {DoctorFinding}
 * @throws the error, if it is no BenchError; the signal's reason if it has aborted
 */
function createFailureFinding(error, level, signal) {
  if (!(error instanceof BenchError)) throw error
  signal.throwIfAborted()
  return createFinding(level, error.message)
}
