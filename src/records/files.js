import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { BenchError, UsageError } from '../lib/errors.js'

/** The files of a run's folder: whole or not there, and never outside of it. */

/** The report as a page. It is written last, so where it is, all documents are. */
export const PAGE = 'report.html'

const LINE_END = '\n'.charCodeAt(0)
const REASONS = /** @type {Record<string, string | undefined>} */ ({
  ENOSPC: 'the disk is full; what was recorded before is kept',
  EDQUOT: 'the disk quota is used up; what was recorded before is kept',
  EFBIG: 'it is larger than this process may write (ulimit -f); what was recorded before is kept',
})

/**
 * @param {string} file @returns {string | null} null: there is no such file
 * @throws {BenchError} when it is there and cannot be read, or is not a file: reading a pipe would wait for its writer
 */
export function readText(file) {
  try {
    if (statSync(file).isFile()) return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new BenchError(`cannot read ${file}: ${message}`, { cause: error })
  }
  throw new BenchError(`cannot read ${file}: it is a directory, a pipe or a device, and not a file`)
}

/**
 * Writes a document beside its place and renames it: a reader finds it whole, or the one before.
 * @param {string} folder @param {string} name of the file below the folder @param {string} text
 * @returns {string} the file @throws {BenchError} when it cannot be written, or would be written through a link
 */
export function writeWhole(folder, name, text) {
  const file = path.join(folder, name)
  const beside = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`)
  try {
    refuseLinks(folder, name)
    makeFolder(path.dirname(file))
    // Of a process that was killed and had the same id.
    rmSync(beside, { force: true })
    writeFlushed(openSync(beside, 'wx'), text)
    renameSync(beside, file)
  } catch (error) {
    try {
      rmSync(beside, { force: true })
    } catch {
      // The error is that the file could not be written.
    }
    throw cannotWrite(file, error)
  }
  return file
}

/**
 * Tries whether the results folder that was asked for can be made, and leaves nothing behind.
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

/** A folder with those above it, one by one: below /proc, Node 20 never returns from making them all. @param {string} folder */
export function makeFolder(folder) {
  for (const at of listMissing(folder)) mkdirSync(at)
}

/** What is missing of a folder and those above it, the uppermost first. @param {string} folder */
export function listMissing(folder) {
  const missing = []
  for (let at = path.resolve(folder); !existsSync(at); at = path.dirname(at)) missing.unshift(at)
  return missing
}

/**
 * Appends a line to a file and flushes it. It begins on a line of its own, also after one that a full disk cut off.
 * @param {string} folder @param {string} name @param {string} line
 * @throws {BenchError} when it cannot be written, or would be written through a link
 */
export function appendLine(folder, name, line) {
  const file = path.join(folder, name)
  try {
    refuseLinks(folder, name)
    const descriptor = openSync(file, 'a+')
    const { size } = fstatSync(descriptor)
    try {
      writeFlushed(descriptor, `${endsInLine(descriptor) ? '' : '\n'}${line}\n`)
    } catch (error) {
      // Half a line would be taken for a damaged record.
      truncateSync(file, size)
      throw error
    }
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/** @param {string} file @param {unknown} error */
export function cannotWrite(file, error) {
  if (error instanceof BenchError) return error
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  return new BenchError(`cannot write ${file}: ${REASONS[code ?? ''] ?? message}`, { cause: error })
}

/**
 * Results come from other people: a link among them must not name another file to overwrite.
 * @param {string} folder may be a link itself @param {string} name
 */
function refuseLinks(folder, name) {
  let at = folder
  for (const part of name.split('/')) {
    at = path.join(at, part)
    if (!lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) continue
    throw new BenchError(
      `cannot write ${path.join(folder, name)}: ${at} is a link to ${readlinkSync(at)}, and nothing is written through links: remove it`,
    )
  }
}

/** Writes all of a text, to the disk, and closes the file. @param {number} descriptor @param {string} text */
function writeFlushed(descriptor, text) {
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** @param {number} descriptor */
function endsInLine(descriptor) {
  const { size } = fstatSync(descriptor)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === LINE_END)
}
