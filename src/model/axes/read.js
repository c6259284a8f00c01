import { UsageError } from '../../lib/errors.js'
import { readBytes } from '../../lib/units.js'

/** Reads values of axes from the command line. Pure. */

/** @param {string} text @throws {UsageError} */
export function readCount(text) {
  if (!/^[1-9]\d*$/.test(text) || !Number.isFinite(Number(text)))
    throw new UsageError('a whole number above 0 is needed')
  return Number(text)
}

/** @param {string} text such as 64MiB @returns {number} bytes @throws {UsageError} */
export function readSize(text) {
  const bytes = readBytes(text)
  if (bytes !== null && /\.\d+\s*B?$/.test(text)) throw new UsageError('a whole number of bytes is needed')
  if (bytes !== null) return bytes
  throw new UsageError(
    /^[\d.]+\s*(?:[KMG]i?)?B?$/.test(text) ? 'a size above 0 is needed' : 'a size such as 64MiB is needed',
  )
}

/** @param {string} text @throws {UsageError} */
export function readCores(text) {
  const cores = Number(text)
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text) || !(cores > 0) || !Number.isFinite(cores))
    throw new UsageError('caps are positive numbers of cores such as 0.25,1, or the word none')
  return cores
}

/** Reads `none`, too. @template T @param {(text: string) => T} read @returns {(text: string) => T | null} */
export function orNone(read) {
  return text => (text === 'none' ? null : read(text))
}
