import { BenchError, UsageError } from '../lib/errors.js'
import { readBounded } from '../lib/read-file.js'

/**
 * Reads a file that an option names.
 * @param {string} option for the error
 * @param {string} file its path
 * @returns {string}
 * @throws {UsageError} if it cannot be read, is no regular file, or is too large (`readBounded`)
 */
export function readOptionFile(option, file) {
  try {
    return readBounded(file)
  } catch (error) {
    if (error instanceof BenchError) throw new UsageError(`${option}: ${error.message}`)
    throw new UsageError(`${option} ${file} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
}
