import { isIP } from 'node:net'
import { UsageError } from '../lib/errors.js'

const PORT_MOST = 65_535

/**
 * An address to serve at.
 * @typedef {object} LiveAddress
 * @property {string} option that names it, such as `--live`
 * @property {string} text as the user wrote it
 * @property {string} host an IP address
 * @property {number} port 0: any free one
 */

/**
 * Parses the address of a server. `8080` and `:8080` mean 127.0.0.1; other addresses have an IP address, such as `0.0.0.0:8080`
 * and `[::1]:8080`.
 * @param {string} text
 * @param {string} option for the error, such as `--live`
 * @returns {LiveAddress}
 * @throws {UsageError} if it has no port up to PORT_MOST, its host is no IP address, such as a name, or an IPv6 address has no
 *   brackets
 */
export function parseAddress(text, option) {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]*)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? (plain || '127.0.0.1')
  const port = Number(digits)
  // Brackets keep the end of an IPv6 address from being read as a port.
  const isAddress = isIP(host) === (bracketed === undefined ? 4 : 6)
  if (digits === undefined || port > PORT_MOST || !isAddress)
    throw new UsageError(
      `${option} ${text}: not an address: write a port, such as ${option} :8080 for this machine alone, or ${option} 0.0.0.0:8080 for all`,
    )
  return { option, text, host, port }
}

/**
 * Renders an address with its port as in a URL: IPv6 in brackets.
 * @param {{ host: string, port: number }} address
 * @returns {string}
 */
export function joinAddress({ host, port }) {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
