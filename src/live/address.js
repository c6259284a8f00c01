import { isIP } from 'node:net'
import { UsageError } from '../lib/errors.js'

// The page is served to this machine alone unless an option says otherwise.
const HOST = '127.0.0.1'

/**
 * The address of the page.
 * @typedef {object} LiveAddress
 * @property {string} option by which it was given
 * @property {string} text as it was given
 * @property {string} host an IP address
 * @property {number} port 0: any that is free
 */

/**
 * @param {string} text `:8080` or `8080`: this machine alone; `0.0.0.0:8080`, `[::1]:8080`
 * @param {string} option for the message, such as `--live`
 * @returns {LiveAddress}
 * @throws {UsageError}
 */
export function parseAddress(text, option) {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]*)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? (plain || HOST)
  const port = Number(digits)
  // An address of IPv6 without brackets could end in its port.
  const isAddress = isIP(host) === (bracketed === undefined ? 4 : 6)
  if (digits === undefined || port > 65535 || !isAddress) {
    throw new UsageError(
      `${option} ${text}: not an address: write a port, such as ${option} :8080 for this machine alone, or ${option} 0.0.0.0:8080 for all`,
    )
  }
  return { option, text, host, port }
}

/** The address with its port, as in a URL. @param {{ host: string, port: number }} address */
export function joinAddress({ host, port }) {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
