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
 * @property {Tool} tool the generator's program there
 * @property {string} scripts of the load: their folder here
 * @property {string} address of the entry
 * @property {string} folder of the generator's log, here
 * @property {AbortSignal} signal
 */

/**
 * Lets the generator send a short load from the other machine to an echo server at the entry's address, port by port.
 * This finds what would fail every trial.
 * @param {Rehearsal & { ports: number[] }} options ports: of the entry; []: nothing is sent
 * @throws {BenchError} if no request reaches one of the ports, with the reason and advice; {SiteLostError} if the connection is
 *   lost; the signal's reason when it aborts
 */
export async function rehearseLoad({ ports, ...rehearsal }) {
  for (const port of ports) await rehearsePort(rehearsal, port)
}

/**
 * Rehearses the load at one port.
 * @param {Rehearsal} rehearsal
 * @param {number} port
 * @throws as `rehearseLoad`
 */
async function rehearsePort({ loadHost, load, tool, scripts, address, folder, signal }, port) {
  const { host } = loadHost
  const endpoint = `${address}:${port}`
  const server = await startEchoServer({ address, port, host })
  try {
    const spec = load.createGenerator({
      tool,
      scripts: loadHost.locate(scripts),
      urls: [`http://${endpoint}/`],
      certificate: null,
      host: '',
      admin: null,
      load: LOAD,
      tailMs: 0,
      cpus: 1,
      folder,
    })
    const process = await loadHost.start(spec, folder)
    try {
      const ending = await withTimeout(process.exited, { seconds: END_SECONDS, late: () => 'late', signal })
      const result = ending === 'status 0' ? load.parseResult(await process.readLog()) : null
      if (result !== null && result.verified > 0) return
      if (ending !== 'late' && result === null)
        throw new BenchError(await process.renderFailure(`${load.name} ended with ${ending}`))
      if (server.isReached())
        throw new BenchError(await process.renderFailure(`no request of ${load.name} at ${endpoint} came back`))
    } finally {
      await process.stop()
    }
    throw new BenchError(
      `${host} cannot reach ${endpoint}: let it through the firewall of this machine (ports ${ENTRY_PORTS.join(', ')}), or name another address of this machine with --address`,
    )
  } finally {
    server.close()
  }
}

/**
 * Starts a server that answers each request with its body.
 * @param {{ address: string, port: number, host: string }} options host: the other machine, for the error
 * @returns isReached: says whether a connection was accepted; close: ends the server and its connections
 * @throws {BenchError} if it cannot listen there
 */
async function startEchoServer({ address, port, host }) {
  let isReached = false
  const server = http.createServer((request, response) => void request.pipe(response))
  server.on('connection', () => {
    isReached = true
  })
  server.listen(port, address)
  await once(server, 'listening').catch(error => {
    const message = `nothing can listen at ${address}:${port} for ${host}: ${error.message}; end what does`
    throw new BenchError(message, { cause: error })
  })
  return {
    isReached: () => isReached,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
