import { isIP } from 'node:net'
import { UsageError } from '../lib/errors.js'

/** @typedef {{ option: string, text: string, host: string, port: number }} LiveAddress text: as written; host: an IP address; port: 0: any free one */

/**
 * Parses the address of a server: `8080` and `:8080` are of 127.0.0.1; else an IP address, such as `0.0.0.0:8080` or `[::1]:8080`.
 * @param {string} text @param {string} option such as `--live` @returns {LiveAddress} @throws {UsageError} if it is none, such as a host name
 */
export function parseAddress(text, option) {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]*)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? (plain || '127.0.0.1')
  const port = Number(digits)
  // Brackets keep the end of an IPv6 address from being read as a port.
  const isAddress = isIP(host) === (bracketed === undefined ? 4 : 6)
  if (digits === undefined || port > 65535 || !isAddress)
    throw new UsageError(
      `${option} ${text}: not an address: write a port, such as ${option} :8080 for this machine alone, or ${option} 0.0.0.0:8080 for all`,
    )
  return { option, text, host, port }
}

/** Writes an address with its port as in a URL: IPv6 in brackets. @param {{ host: string, port: number }} address */
export function joinAddress({ host, port }) {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
