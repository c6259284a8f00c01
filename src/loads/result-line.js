import { BenchError } from '../lib/errors.js'
import { findFault } from '../lib/schema-issue.js'

/**
 * Reads a line of a generator's log, and returns what `read` does. @template T @param {number} number of the line, from 1 @param {() => T} read
 * @throws {BenchError} with that number if `read` throws: the line is cut off, or no result
 */
export function readResultLine(number, read) {
  try {
    return read()
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new BenchError(`line ${number}: the result of the load is damaged: ${message}`, { cause: error })
  }
}

/** @template T @param {import('zod').ZodType<T>} schema @param {unknown} value @returns {T} the value @throws {Error} that names its first fault */
export function assertResultShape(schema, value) {
  const fault = findFault(schema, value)
  if (fault !== null) throw new Error(fault)
  return /** @type {T} */ (value)
}
