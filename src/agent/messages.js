import { safely } from '../lib/safely.js'

/** Messages to the kit's pods and back: JSON, one a line, in which NaN (a reading failed) does not become null. */

const MISSING = '\u0000NaN'

/** @param {unknown} message */
export function encode(message) {
  return JSON.stringify(message, (_, value) => (Number.isNaN(value) ? MISSING : value))
}

/** @param {string} line @returns {any} null: it is no message */
export function decode(line) {
  const message = safely(() => JSON.parse(line, (_, value) => (value === MISSING ? Number.NaN : value)), null)
  return typeof message === 'object' ? message : null
}
