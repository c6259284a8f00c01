import os from 'node:os'
import path from 'node:path'
import { BenchError, UsageError } from '../../lib/errors.js'
import { ROOT } from '../../lib/paths.js'
import { renderMarks } from '../local/marks.js'
import { openLoadHost } from './host.js'
import { createLoadHostTarget } from './index.js'
import { rehearseLoad } from './rehearse.js'

/** @import { Ledger, LoadGenerator, Site } from '../../model/types.ts' */

/**
 * @typedef {object} LoadHostChoice
 * @property {Site} site this machine, whose target is closed on failure
 * @property {string} host as for ssh
 * @property {string | null} requestedAddress at which the entry listens; null: the one that the other machine sees
 * @property {LoadGenerator} load
 * @property {(line: string) => void} say
 * @property {AbortSignal} signal
 */

/**
 * Opens this machine for the services and another one for their load, and claims the address of the entry in the ledger. If it
 * fails, both are closed.
 * @param {LoadHostChoice} options
 * @returns {Promise<Site>}
 * @throws {BenchError} if no load can be made there, with the reason and advice; {UsageError} for an address that is not of this
 *   machine, or that another run has claimed; the signal's reason when it aborts
 */
export async function openLoadHostSite({ site, host, requestedAddress, load, say, signal }) {
  const { ledger } = site
  const { folder } = ledger
  const environment = renderMarks({ runId: site.runId })
  try {
    const loadHost = await openLoadHost({ host, folder, environment, signal, findHere: site.findTool, say })
    try {
      const address = chooseAddress({ requestedAddress, clientAddress: loadHost.clientAddress, host })
      const tool = await loadHost.findTool(load.tool)
      if ('missing' in tool) throw new BenchError(`no load can be made: ${tool.missing}`)
      claimAddress(ledger, address)
      const scripts = path.join(ROOT, load.scripts)
      const { machine, clock } = loadHost
      say(
        `the load comes from ${host} (${machine.cpus} CPUs, ${machine.cpuModel}) to ${address}, a round trip of ${clock.roundTripMs.toFixed(1)} ms`,
      )
      return {
        ...site,
        target: createLoadHostTarget({ target: site.target, loadHost, address, ledger }),
        machine: { ...site.machine, loadHost: { ...machine, address, ...clock } },
        loadHost: {
          cpus: machine.cpus,
          rehearse: ports => rehearseLoad({ loadHost, load, tool, scripts, address, ports, folder, signal }),
        },
        findTool: spec => (spec.name === load.tool.name ? loadHost.findTool(spec) : site.findTool(spec)),
      }
    } catch (error) {
      await loadHost.close()
      throw error
    }
  } catch (error) {
    await site.target.close()
    throw error
  }
}

/**
 * Chooses the address of this machine at which the load reaches the entry: that of --address, else the one that the
 * other machine sees.
 * @param {object} options
 * @param {string | null} options.requestedAddress of --address; null: not set
 * @param {string | null} options.clientAddress of this machine, as the other one sees it; null: unknown
 * @param {string} options.host for the error
 * @param {string[]} [options.localAddresses] of this machine
 * @returns {string}
 * @throws {UsageError} if this machine does not have the address
 */
export function chooseAddress({ requestedAddress, clientAddress, host, localAddresses = listLocalAddresses() }) {
  if (requestedAddress !== null) {
    if (localAddresses.includes(requestedAddress)) return requestedAddress
    throw new UsageError(
      `--address ${requestedAddress}: the entry listens at one address of this machine: ${localAddresses.join(', ')}`,
    )
  }
  if (clientAddress !== null && localAddresses.includes(clientAddress)) return clientAddress
  throw new UsageError(
    `${host} sees this machine as ${clientAddress ?? 'an unknown address'}, which is none of its addresses: give --address the one that ${host} can reach (${localAddresses.join(', ')})`,
  )
}

/**
 * Claims an address for this run, since its ports look free between trials.
 * @param {Ledger} ledger
 * @param {string} address
 * @throws {UsageError} if another run has claimed it
 */
export function claimAddress(ledger, address) {
  const holder = ledger.claim('addresses', address)
  if (holder === null) return
  throw new UsageError(
    `${holder} uses ${address} for its load: wait until it has ended, or name another address of this machine with --address`,
  )
}

/** Lists the IPv4 addresses of this machine, also of its loopback. @returns {string[]} */
function listLocalAddresses() {
  return Object.values(os.networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ family }) => family === 'IPv4')
    .map(({ address }) => address)
}
