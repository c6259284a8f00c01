import { once } from 'node:events'
import os from 'node:os'
import { BenchError } from '../lib/errors.js'
import { joinAddress } from './address.js'

/**
 * @import { Server } from 'node:http'
 * @import { AddressInfo } from 'node:net'
 * @import { LiveAddress } from './address.js'
 */

/**
 * Has a server listen where it was asked for.
 * @param {Server} server
 * @param {LiveAddress} address
 * @returns {Promise<string>} its URL
 * @throws {BenchError} when nothing can be served there
 */
export async function listen(server, address) {
  try {
    await once(server.listen({ host: address.host, port: address.port }), 'listening')
  } catch (error) {
    throw describeFailure(address, /** @type {NodeJS.ErrnoException} */ (error))
  }
  // Who cannot be served, for want of file descriptors, is no reason to end a run.
  server.on('error', () => {})
  const { port } = /** @type {AddressInfo} */ (server.address())
  const isEverywhere = address.host === '0.0.0.0' || address.host === '::'
  return `http://${joinAddress({ host: isEverywhere ? os.hostname() : address.host, port })}/`
}

/**
 * @param {LiveAddress} address
 * @param {NodeJS.ErrnoException} error
 */
function describeFailure({ option, text, host, port }, error) {
  const what = {
    EADDRINUSE: `port ${port} of ${host} is in use by something else: give another`,
    EACCES: `there is no permission to listen on port ${port} of ${host}: give one above 1023`,
    EADDRNOTAVAIL: `this machine has no address ${host}: give one that it has, or a port alone`,
  }[error.code ?? '']
  const said = what ?? `nothing can be served on port ${port} of ${host} (${error.message}): give another address`
  return new BenchError(`${option} ${text}: ${said}`, { cause: error })
}
