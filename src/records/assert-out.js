import { accessSync, constants, existsSync, mkdirSync, rmdirSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../lib/errors.js'

/**
 * Tries whether the results folder that was asked for can be made, before anything is looked for or started. It leaves
 * nothing behind.
 * @param {string} out
 * @throws {UsageError} where it cannot be made, or not be written
 */
export function assertOut(out) {
  const folder = path.resolve(out)
  const missing = []
  for (let at = folder; !existsSync(at); at = path.dirname(at)) missing.unshift(at)
  const made = []
  try {
    // One by one: below /proc, Node 20 never returns from making them all.
    for (const at of missing) {
      mkdirSync(at)
      made.unshift(at)
    }
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`--out ${out}: the results folder cannot be made there: ${message}`)
  } finally {
    for (const at of made) rmdirSync(at)
  }
}
