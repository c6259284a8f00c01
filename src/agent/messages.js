import { callSafely } from '../lib/call-safely.js'

/** Messages to the agent and back: JSON, one a line. NaN stands for a failed reading, and JSON would make null of it. */

// The NUL keeps this apart from any text that a message holds.
const NAN_TEXT = '\u0000NaN'

/**
 * Encodes a message as a line, without the line end. NaN survives the round trip; an infinite number becomes null.
 * @param {unknown} message
 * @returns {string}
 */
export function encodeMessage(message) {
  return JSON.stringify(message, (_, value) => (Number.isNaN(value) ? NAN_TEXT : value))
}

/**
 * Decodes a line, with NaN restored.
 * @param {string} line
 * @returns {any} null: it is no JSON, or neither an object nor a list
 */
export function decodeMessage(line) {
  const message = callSafely(() => JSON.parse(line, (_, value) => (value === NAN_TEXT ? Number.NaN : value)), null)
  return typeof message === 'object' ? message : null
}
