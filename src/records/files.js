import fs from 'node:fs'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { listMissingFolders, makeFolder } from '../lib/folders.js'
import { DOCUMENT_BYTES_MOST, LINE_LIMITS, readBounded, readLines } from '../lib/read-file.js'

/** The files of a run's folder: whole or not there, and never outside of it. */

/** The report as a page. It is written last: if it is there, all documents are. */
export const PAGE = 'report.html'

const LINE_END = '\n'.charCodeAt(0)
const REASONS = /** @type {Record<string, string | undefined>} */ ({
  ENOSPC: 'the disk is full; what was recorded before is kept',
  EDQUOT: 'the disk quota is used up; what was recorded before is kept',
  EFBIG: 'it is larger than this process may write (ulimit -f); what was recorded before is kept',
})

/**
 * Reads a file; null: there is none.
 * @param {string} file
 * @param {number} [bytesMost] by default 64 MiB
 * @throws {BenchError} when it is unreadable, too large, or no file
 */
export function readText(file, bytesMost = DOCUMENT_BYTES_MOST) {
  try {
    return readBounded(file, bytesMost)
  } catch (error) {
    return ignoreMissingFile(file, error)
  }
}

/**
 * Reads a file line by line; yields nothing if there is no file.
 * @param {string} file
 * @param {Partial<import('../lib/read-file.js').LineLimits>} [limits] that replace those of LINE_LIMITS
 * @returns {Generator<string>}
 * @throws {BenchError} when it is unreadable, no file, or beyond a limit
 */
export function* readTextLines(file, limits = {}) {
  try {
    yield* readLines(file, { ...LINE_LIMITS, ...limits })
  } catch (error) {
    ignoreMissingFile(file, error)
  }
}

/**
 * @param {string} file
 * @param {unknown} error
 * @returns {null} if the file is missing
 * @throws {BenchError} otherwise
 */
function ignoreMissingFile(file, error) {
  if (error instanceof BenchError) throw error
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return null
  throw new BenchError(`cannot read ${file}: ${message}`, { cause: error })
}

/**
 * Writes a document as indented JSON, as `writeAtomically` does.
 * @param {string} folder
 * @param {string} name
 * @param {unknown} document
 */
export function writeDocument(folder, name, document) {
  return writeAtomically(folder, name, `${JSON.stringify(document, null, 2)}\n`)
}

/**
 * Writes a document to a temporary file beside it and renames that: a reader finds the document whole, or the one before.
 * @param {string} folder
 * @param {string} name of the file below the folder
 * @param {string | Uint8Array} text
 * @returns {string} the file
 * @throws {BenchError} when it cannot be written, or would be written through a link
 */
export function writeAtomically(folder, name, text) {
  const file = path.join(folder, name)
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`)
  try {
    refuseLinks(folder, name)
    makeFolder(path.dirname(file))
    // A killed process of the same id may have left the file.
    fs.rmSync(beside, { force: true })
    writeAndFlush(fs.openSync(beside, 'wx'), text)
    fs.renameSync(beside, file)
  } catch (error) {
    // An error of this removal must not hide the first one.
    callSafely(() => fs.rmSync(beside, { force: true }), null)
    throw createWriteError(file, error)
  }
  return file
}

// Characters that quote, end a line, or name a variable in the configuration of some data plane.
const UNSAFE = /[\p{Cc}"'`\\$%{}(),;#<>|&*?]/u

/**
 * Refuses a path that the configurations of data planes cannot carry: the files of sidecars lie below it.
 * @param {string} folder
 * @throws {UsageError}
 */
export function assertSafePath(folder) {
  const whole = path.resolve(folder)
  const [sign] = UNSAFE.exec(whole) ?? []
  if (sign !== undefined)
    throw new UsageError(
      `the results folder ${JSON.stringify(whole)} has ${JSON.stringify(sign)} in its path, which configurations of data planes take for something else: give --out another folder`,
    )
}

/**
 * Checks that a results folder can be made and written to, and leaves nothing behind.
 * @param {string} out
 * @throws {UsageError} otherwise
 */
export function assertWritableFolder(out) {
  assertSafePath(out)
  const folder = path.resolve(out)
  const missing = listMissingFolders(folder)
  try {
    makeFolder(folder)
    if (!fs.statSync(folder).isDirectory()) throw new Error('it is a file')
    fs.accessSync(folder, fs.constants.W_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`--out ${out}: the results folder cannot be made there: ${message}`)
  } finally {
    for (const at of missing.toReversed()) if (fs.existsSync(at)) fs.rmdirSync(at)
  }
}

/**
 * Appends a line to a file and flushes it. It begins on a line of its own, also after one that a full disk cut off.
 * @param {string} folder
 * @param {string} name
 * @param {string} line
 * @throws {BenchError} when it cannot be written, or would be written through a link
 */
export function appendLine(folder, name, line) {
  const file = path.join(folder, name)
  try {
    refuseLinks(folder, name)
    const descriptor = fs.openSync(file, 'a+')
    const { size } = fs.fstatSync(descriptor)
    const last = Buffer.alloc(1)
    const isWhole = size === 0 || (fs.readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === LINE_END)
    try {
      writeAndFlush(descriptor, `${isWhole ? '' : '\n'}${line}\n`)
    } catch (error) {
      // Half a line would be taken for a damaged record.
      fs.truncateSync(file, size)
      throw error
    }
  } catch (error) {
    throw createWriteError(file, error)
  }
}

/**
 * Makes the error for a file that could not be written; a BenchError stays as it is.
 * @param {string} file
 * @param {unknown} error
 */
export function createWriteError(file, error) {
  if (error instanceof BenchError) return error
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  return new BenchError(`cannot write ${file}: ${REASONS[code ?? ''] ?? message}`, { cause: error })
}

/**
 * Results may come from others: a link in them must not name a file to overwrite.
 * @param {string} folder
 * @param {string} name
 * @throws {BenchError}
 */
function refuseLinks(folder, name) {
  let at = folder
  for (const part of name.split('/')) {
    at = path.join(at, part)
    if (!fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) continue
    throw new BenchError(
      `cannot write ${path.join(folder, name)}: ${at} is a link to ${fs.readlinkSync(at)}, and nothing is written through links: remove it`,
    )
  }
}

/**
 * Writes a whole text, flushes it to the disk, and closes the file, also after an error.
 * @param {number} descriptor
 * @param {string | Uint8Array} text
 */
function writeAndFlush(descriptor, text) {
  try {
    fs.writeFileSync(descriptor, text)
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}
