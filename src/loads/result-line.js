import { BenchError } from '../lib/errors.js'
import { findFault } from '../lib/say-issue.js'

/**
 * Reads a line of what a generator printed. @template T @param {number} number of the line @param {() => T} read
 * @throws {BenchError} with the line, where it is cut off, or has something else where a number belongs
 */
export function atLine(number, read) {
  try {
    return read()
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new BenchError(`line ${number}: the result of the load is damaged: ${message}`, { cause: error })
  }
}

/** @template T @param {import('zod').ZodType<T>} schema @param {unknown} value @returns {T} */
export function assertWhole(schema, value) {
  const fault = findFault(schema, value)
  if (fault !== null) throw new Error(fault)
  return /** @type {T} */ (value)
}
