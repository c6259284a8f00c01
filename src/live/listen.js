import { once } from 'node:events'
import { isIP } from 'node:net'
import os from 'node:os'
import { BenchError } from '../lib/errors.js'
import { joinAddress } from './address.js'

/**
 * @import { RequestListener, Server } from 'node:http'
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
    throw explainFailure(address, /** @type {NodeJS.ErrnoException} */ (error))
  }
  // A client that cannot be served, for want of file descriptors, must not end the run.
  server.on('error', () => {})
  const { port } = /** @type {AddressInfo} */ (server.address())
  return `http://${joinAddress({ host: isEverywhere(address) ? os.hostname() : address.host, port })}/`
}

/**
 * Answers only requests to a name of this machine: a page of another site can have its own name lead here (DNS
 * rebinding), and would read what is served.
 * @param {LiveAddress} address
 * @param {RequestListener} answer
 * @returns {RequestListener}
 */
export function onlyOwnHosts(address, answer) {
  return (request, response) => {
    if (isOwnHost(request.headers.host, address)) return answer(request, response)
    response
      .writeHead(421, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
      .end(`nothing is served under this name: use localhost, ${address.host}, or the URL that the run printed\n`)
  }
}

/**
 * @param {string | undefined} header Host, with or without a port, which a tunnel may have changed
 * @param {LiveAddress} address
 */
function isOwnHost(header, address) {
  if (!header || !URL.canParse(`http://${header}`)) return false
  const name = new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, '')
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1' || name === address.host) return true
  if (isIP(name) === 4 && name.startsWith('127.')) return true
  // Every address is bound then; and no site of others has an address for its name.
  return isEverywhere(address) && (isIP(name) > 0 || name === os.hostname().toLowerCase())
}

/** @param {LiveAddress} address */
function isEverywhere({ host }) {
  return host === '0.0.0.0' || host === '::'
}

/** @param {LiveAddress} address @param {NodeJS.ErrnoException} error */
function explainFailure({ option, text, host, port }, error) {
  const what = {
    EADDRINUSE: `port ${port} of ${host} is in use by something else: give another`,
    EACCES: `there is no permission to listen on port ${port} of ${host}: give one above 1023`,
    EADDRNOTAVAIL: `this machine has no address ${host}: give one that it has, or a port alone`,
  }[error.code ?? '']
  const said = what ?? `nothing can be served on port ${port} of ${host} (${error.message}): give another address`
  return new BenchError(`${option} ${text}: ${said}`, { cause: error })
}
