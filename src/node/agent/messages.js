/**
 * Messages to the kit's pods and back are JSON, one a line. JSON has no NaN; NaN (a reading failed) must not become
 * null (nothing reads it here).
 */

const MISSING = '\u0000NaN'

/** @param {unknown} message */
export function encode(message) {
  return JSON.stringify(message, (_, value) => (Number.isNaN(value) ? MISSING : value))
}

/**
 * @param {string} line
 * @returns {any}
 */
export function decode(line) {
  return JSON.parse(line, (_, value) => (value === MISSING ? Number.NaN : value))
}
