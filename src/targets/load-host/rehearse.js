import { once } from 'node:events'
import http from 'node:http'
import { BenchError } from '../../lib/errors.js'
import { withTimeout } from '../../lib/wait.js'
import { PORTS } from '../../model/sidecar-contract.js'

/**
 * @import { Load, LoadGenerator, Tool } from '../../model/types.ts'
 * @import { LoadHost } from './host.js'
 */

const END_SECONDS = 15

/** Ports at which a load may enter. */
export const ENTRY_PORTS = [PORTS.inbound, PORTS.outbound, PORTS.application]

/** @type {Load} */
const LOAD = {
  kind: 'closed',
  users: 1,
  payloadBytes: 100,
  warmupSeconds: 0.1,
  windowSeconds: 0.2,
  connections: 'kept',
  hasCertificate: false,
  burst: null,
}

/**
 * @typedef {object} Rehearsal
 * @property {LoadHost} loadHost
 * @property {LoadGenerator} load
 * @property {Tool} tool
 * @property {string} scripts of the load, here
 * @property {string} address of the entry
 * @property {number[]} ports
 * @property {string} folder of the generator's log
 * @property {AbortSignal} signal
 */

/**
 * Lets the generator send a short load from the other machine to an echo server at the entry's address, port by port.
 * This finds what would fail every trial.
 * @param {Rehearsal} options
 * @throws {BenchError} if no request reaches one of the ports, with the reason and advice; the signal's reason when
 *   it aborts
 */
export async function rehearseLoad({ loadHost, load, tool, scripts, address, ports, folder, signal }) {
  const { host } = loadHost
  for (const port of ports) {
    const where = `${address}:${port}`
    let isReached = false
    const server = http.createServer((request, response) => void request.pipe(response))
    server.on('connection', () => {
      isReached = true
    })
    server.listen(port, address)
    await once(server, 'listening').catch(error => {
      const message = `nothing can listen at ${where} for ${host}: ${error.message}; end what does`
      throw new BenchError(message, { cause: error })
    })
    const spec = load.createGenerator({
      tool,
      scripts: loadHost.locate(scripts),
      urls: [`http://${where}/`],
      certificate: null,
      host: '',
      admin: null,
      load: LOAD,
      tailMs: 0,
      cpus: 1,
      folder,
    })
    try {
      const process = await loadHost.start(spec, folder)
      try {
        const ending = await withTimeout(process.exited, { seconds: END_SECONDS, late: () => 'late', signal })
        const result = ending === 'status 0' ? load.parseResult(await process.readLog()) : null
        if (result !== null && result.verified > 0) continue
        if (ending !== 'late' && result === null)
          throw new BenchError(await process.renderFailure(`${load.name} ended with ${ending}`))
        if (isReached)
          throw new BenchError(await process.renderFailure(`no request of ${load.name} at ${where} came back`))
      } finally {
        await process.stop()
      }
      throw new BenchError(
        `${host} cannot reach ${where}: let it through the firewall of this machine (ports ${ENTRY_PORTS.join(', ')}), or name another address of this machine with --address`,
      )
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
}
