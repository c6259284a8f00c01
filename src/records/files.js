import { readFileSync } from 'node:fs'
import { BenchError } from '../lib/errors.js'

/**
 * @param {string} file
 * @returns {string | null} null: there is no such file
 * @throws {BenchError} when it is there and cannot be read
 */
export function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new BenchError(`cannot read ${file}: ${message}`, { cause: error })
  }
}

/**
 * @param {string} file
 * @param {unknown} error
 */
export function cannotWrite(file, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  const why = code === 'ENOSPC' ? 'the disk is full; what was recorded before is kept' : message
  return new BenchError(`cannot write ${file}: ${why}`, { cause: error })
}
