import { BenchError } from '../lib/errors.js'
import { findFault } from '../lib/schema-issue.js'

/**
 * Calls `parse` for one line of a generator's log, and names the line in its error.
 * @template T
 * @param {number} number of the line, from 1
 * @param {() => T} parse parses the line
 * @returns {T} the result of `parse`
 * @throws {BenchError} with that number if `parse` throws, as for a truncated line
 */
export function parseResultLine(number, parse) {
  try {
    return parse()
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
