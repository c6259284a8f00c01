import { accessSync, constants, existsSync, rmdirSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../lib/errors.js'
import { listMissing, makeFolder } from './files.js'

/**
 * Tries whether the results folder that was asked for can be made, before anything is looked for or started. It leaves
 * nothing behind.
 * @param {string} out @throws {UsageError} where it cannot be made, or not be written
 */
export function assertOut(out) {
  const folder = path.resolve(out)
  const missing = listMissing(folder)
  try {
    makeFolder(folder)
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`--out ${out}: the results folder cannot be made there: ${message}`)
  } finally {
    for (const at of missing.toReversed()) if (existsSync(at)) rmdirSync(at)
  }
}
