import fs from 'node:fs'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { listMissingFolders, makeFolder } from '../lib/folders.js'
import { DOCUMENT_BYTES_MOST, LINE_LIMITS, readBounded, readLines } from '../lib/read-file.js'
import { withOpenFile } from '../lib/with-open-file.js'

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
 * Reads a file as UTF-8.
 * @param {string} file
 * @param {number} [bytesMost] by default DOCUMENT_BYTES_MOST
 * @returns {string | null} null: it, or a folder on its path, is missing
 * @throws {BenchError} if it is unreadable, too large, or no regular file
 */
export function readText(file, bytesMost = DOCUMENT_BYTES_MOST) {
  try {
    return readBounded(file, bytesMost)
  } catch (error) {
    return ignoreMissingFile(file, error)
  }
}

/**
 * Reads a file line by line.
 * @param {string} file
 * @param {Partial<import('../lib/read-file.js').LineLimits>} [limits] that replace those of LINE_LIMITS
 * @returns {Generator<string>} empty if the file does not exist; the last line is empty if the file ends in a line end
 * @throws {BenchError} if it cannot be read, is no regular file, or is beyond a limit
 */
export function* readTextLines(file, limits = {}) {
  try {
    yield* readLines(file, { ...LINE_LIMITS, ...limits })
  } catch (error) {
    ignoreMissingFile(file, error)
  }
}

/**
 * Ignores the error of a missing file, and throws any other.
 * @param {string} file
 * @param {unknown} error of reading it
 * @returns {null} the file, or a folder on its path, is missing
 * @throws {BenchError} for any other error
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
 * @param {string} name of the file below the folder
 * @param {unknown} document
 * @returns {string} the path of the file
 * @throws {BenchError} if it cannot be written, or would be written through a link
 */
export function writeDocument(folder, name, document) {
  return writeAtomically(folder, name, `${JSON.stringify(document, null, 2)}\n`)
}

/**
 * Writes a document to a temporary file beside it and renames that file: a reader finds the whole document, or the previous
 * one. Missing folders are made.
 * @param {string} folder
 * @param {string} name of the file below the folder
 * @param {string | Uint8Array} text
 * @returns {string} the path of the file
 * @throws {BenchError} if it cannot be written, or would be written through a link
 */
export function writeAtomically(folder, name, text) {
  const file = path.join(folder, name)
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`)
  try {
    assertNoLinks(folder, name)
    makeFolder(path.dirname(file))
    // A killed process of the same id may have left the file.
    fs.rmSync(temporary, { force: true })
    withOpenFile(temporary, 'wx', descriptor => writeAndFlush(descriptor, text))
    fs.renameSync(temporary, file)
  } catch (error) {
    // An error of this removal must not hide the first one.
    callSafely(() => fs.rmSync(temporary, { force: true }), null)
    throw createWriteError(file, error)
  }
  return file
}

// Characters that quote, end a line, or name a variable in the configuration of some data plane.
const UNSAFE = /[\p{Cc}"'`\\$%{}(),;#<>|&*?]/u

/**
 * Asserts that the configurations of data planes can carry a path: the files of sidecars lie below it.
 * @param {string} folder
 * @throws {UsageError} if it has a character that some configuration quotes or interprets
 */
export function assertSafePath(folder) {
  const absolute = path.resolve(folder)
  const [character] = UNSAFE.exec(absolute) ?? []
  if (character !== undefined)
    throw new UsageError(
      `the results folder ${JSON.stringify(absolute)} has ${JSON.stringify(character)} in its path, which configurations of data planes take for something else: give --out another folder`,
    )
}

/**
 * Asserts that a results folder can be created and written to, and leaves nothing behind.
 * @param {string} out as the user wrote it
 * @throws {UsageError} if it cannot, or as `assertSafePath`
 */
export function assertWritableFolder(out) {
  assertSafePath(out)
  const folder = path.resolve(out)
  const missingFolders = listMissingFolders(folder)
  try {
    makeFolder(folder)
    fs.accessSync(folder, fs.constants.W_OK)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new UsageError(`--out ${out}: the results folder cannot be made there: ${message}`)
  } finally {
    for (const missingFolder of missingFolders.toReversed())
      if (fs.existsSync(missingFolder)) fs.rmdirSync(missingFolder)
  }
}

/**
 * Appends a line to a file, which is created if it is missing, and flushes it. The line begins on a line of its own, also after a
 * line that a full disk cut off. After an error the file is cut back to what it was, if it can be.
 * @param {string} folder
 * @param {string} name of the file below the folder
 * @param {string} line without a line end
 * @throws {BenchError} if it cannot be written, or would be written through a link
 */
export function appendLine(folder, name, line) {
  const file = path.join(folder, name)
  try {
    assertNoLinks(folder, name)
    withOpenFile(file, 'a+', descriptor => {
      const { size } = fs.fstatSync(descriptor)
      const lastByte = Buffer.alloc(1)
      const isWhole =
        size === 0 || (fs.readSync(descriptor, lastByte, 0, 1, size - 1) === 1 && lastByte[0] === LINE_END)
      try {
        writeAndFlush(descriptor, `${isWhole ? '' : '\n'}${line}\n`)
      } catch (error) {
        // Half a line would be taken for a damaged record. An error of its removal must not hide the first one.
        callSafely(() => fs.truncateSync(file, size), null)
        throw error
      }
    })
  } catch (error) {
    throw createWriteError(file, error)
  }
}

/**
 * Creates the error for a file that could not be written.
 * @param {string} file
 * @param {unknown} error of writing it
 * @returns {BenchError} `error` itself: it is a BenchError
 */
export function createWriteError(file, error) {
  if (error instanceof BenchError) return error
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  return new BenchError(`cannot write ${file}: ${REASONS[code ?? ''] ?? message}`, { cause: error })
}

/**
 * Asserts that no part of a path below a folder is a link: results may come from other users, and a link in them must not lead
 * to a file that is overwritten.
 * @param {string} folder
 * @param {string} name of the file below the folder
 * @throws {BenchError} if one is a link
 */
function assertNoLinks(folder, name) {
  let current = folder
  for (const part of name.split('/')) {
    current = path.join(current, part)
    if (!fs.lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink()) continue
    throw new BenchError(
      `cannot write ${path.join(folder, name)}: ${current} is a link to ${fs.readlinkSync(current)}, and nothing is written through links: remove it`,
    )
  }
}

/**
 * Writes a whole text, and flushes it to the disk.
 * @param {number} descriptor of an open file
 * @param {string | Uint8Array} text
 * @throws the system's error if it cannot be written
 */
function writeAndFlush(descriptor, text) {
  fs.writeFileSync(descriptor, text)
  fs.fsyncSync(descriptor)
}
