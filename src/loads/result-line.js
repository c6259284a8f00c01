import { BenchError } from '../lib/errors.js'
import { findFault } from '../lib/schema-issue.js'

/**
 * Reads the value of a line of a generator's log.
 * @template T
 * @param {number} number of the line, from 1
 * @param {() => T} read parses the line
 * @returns {T} the result of `read`
 * @throws {BenchError} with that number if `read` throws, as for a truncated line
 */
export function readResultLine(number, read) {
  try {
    return read()
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new BenchError(`line ${number}: the result of the load is damaged: ${message}`, { cause: error })
  }
}

/**
 * Asserts that a value fits a schema, without converting it.
 * @template T
 * @param {import('zod').ZodType<T>} schema
 * @param {unknown} value
 * @returns {T} the same value
 * @throws {Error} with the first fault
 */
export function assertResultShape(schema, value) {
  const fault = findFault(schema, value)
  if (fault !== null) throw new Error(fault)
  return /** @type {T} */ (value)
}
