import { once } from 'node:events'
import { createReadStream, createWriteStream, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, gzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { BenchError } from '../lib/errors.js'
import { makeFolder } from '../lib/folders.js'
import { LINE_LIMITS } from '../lib/read-file.js'
import { renderMebibytes } from '../lib/units.js'
import { createWriteError, readText, writeAtomically } from './files.js'

/** A run as one file: an archive of the records, and of the raw files that `verify` reads. */

// A bundle carries no keys, configurations or logs of services, and no name that leads out of the folder.
const RAW = String.raw`raw/(?!\.)[^/\0]+/(?!\.)(?:[^/\0]+\.json|samples\.jsonl|[^/\0]+-generator\.log)`
const BUNDLE_FILE = new RegExp(`^(?:manifest\\.json|summary\\.json|trials\\.jsonl|${RAW})$`)
const FILES_MOST = 50_000
const NAME_SHOWN = 200
const HEADER_BYTES = 512
// tar-stream reads the long names and attributes of an entry into memory.
const NAMES_BYTES_MOST = 64 * 1024
// All entries have one time, so that the same run gives the same bytes.
const NO_TIME = new Date(0)

/**
 * Reads the files of a run that a bundle carries.
 * @param {string} folder
 * @returns {Record<string, string>} text by path within the folder; {}: it has none of them
 * @throws {BenchError} if one is unreadable, was removed since it was listed, or is larger than any file of a run; the system's
 *   error if the folder cannot be listed
 */
export function readFilesToBundle(folder) {
  // Links are left out: one may name any file of this machine.
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter(name => BUNDLE_FILE.test(name))
  return Object.fromEntries(
    names.sort().map(name => {
      const text = readText(path.join(folder, name), LINE_LIMITS.bytes)
      if (text === null) throw new BenchError(`${path.join(folder, name)} was removed while it was read: try again`)
      return [name, text]
    }),
  )
}

/**
 * Writes a bundle, a gzipped tar archive: the same files give the same bytes. An older file is replaced.
 * @param {string} file
 * @param {Record<string, string>} files text by name
 * @returns {Promise<number>} its size in bytes
 * @throws {BenchError} if it cannot be written, or would be written through a link
 */
export async function writeBundle(file, files) {
  const archive = pack()
  for (const [name, text] of Object.entries(files)) archive.entry({ name, mtime: NO_TIME, mode: 0o644 }, text)
  archive.finalize()
  const bytes = gzipSync(await buffer(archive), { level: 9 })
  writeAtomically(path.dirname(file), path.basename(file), bytes)
  return bytes.length
}

/**
 * Unpacks an untrusted bundle, and creates `raw/` if it has none. If it throws, files that were already written stay: the caller
 * removes the folder.
 * @param {string} file
 * @param {string} folder empty
 * @throws {BenchError} if it is missing, truncated, too large or no bundle, has an entry that no bundle has, such as a link or ../x,
 *   or a file of it cannot be written; the system's error if `raw/` cannot be created
 */
export async function unpackBundle(file, folder) {
  /** @type {Refuse} */
  const refuse = (why, cause = undefined) => {
    throw new BenchError(`${file} is not a complete bundle of a run: ${why}; get it again from where it was made`, {
      cause,
    })
  }
  const entries = extract()
  const names = new Set()
  try {
    if (statSync(file).size > LINE_LIMITS.bytes) refuse(`it has more than ${renderMebibytes(LINE_LIMITS.bytes)} MiB`)
    const unpacked = pipeline(createReadStream(file), createGunzip(), createArchiveGuard(refuse), entries)
    // The loop over the entries throws the same error.
    unpacked.catch(() => {})
    for await (const entry of entries) {
      const { name } = entry.header
      assertBundleEntry(entry.header, { names, refuse })
      names.add(name)
      const target = path.join(folder, name)
      makeFolder(path.dirname(target))
      await extractEntry(entry, target)
    }
    await unpacked
  } catch (error) {
    if (error instanceof BenchError) throw error
    refuse(/** @type {Error} */ (error).message, error)
  }
  if (!names.has('manifest.json')) refuse('manifest.json is missing in it')
  makeFolder(path.join(folder, 'raw'))
}

/** Throws a BenchError that says why a bundle is refused. @typedef {(why: string, cause?: unknown) => never} Refuse */

/**
 * Asserts that an entry is a file that a bundle may have, and that it is the first of its name.
 * @param {import('tar-stream').Entry['header']} header
 * @param {{ names: Set<string>, refuse: Refuse }} options names: those of the entries before
 * @throws {BenchError} by `refuse`
 */
function assertBundleEntry({ name, type }, { names, refuse }) {
  // A name may be very long: an error quotes its beginning.
  const quoted = JSON.stringify(name.slice(0, NAME_SHOWN))
  if (type !== 'file') refuse(`${quoted} in it is a ${type}, and not a file`)
  if (!BUNDLE_FILE.test(name)) refuse(`${quoted} in it is none of the files of a run`)
  if (names.has(name)) refuse(`${quoted} is in it twice`)
  if (names.size >= FILES_MOST) refuse(`it has more than ${FILES_MOST} files`)
}

/**
 * Writes an entry. It throws only after the file is closed: a truncated archive may end before the file is even open, and the
 * file would then appear after the caller has deleted the folder.
 * @param {import('tar-stream').Entry} entry
 * @param {string} target the path of the file
 * @throws {BenchError} if the file cannot be written; the error of the archive
 */
async function extractEntry(entry, target) {
  const file = createWriteStream(target, { flags: 'wx' })
  try {
    await pipeline(entry, file)
  } catch (cause) {
    if (!file.closed) await once(file, 'close')
    const error = /** @type {NodeJS.ErrnoException} */ (cause)
    throw error.syscall === undefined ? error : createWriteError(target, error)
  }
}

/**
 * Creates a stream stage that passes an archive on up to a size, since a few hundred bytes can unpack to any number. It checks
 * the headers on the way.
 * @param {Refuse} refuse
 * @returns {(chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>} throws what `refuse` throws
 */
function createArchiveGuard(refuse) {
  return async function* passChunks(/** @type {AsyncIterable<Buffer>} */ chunks) {
    const checkHeaders = createHeaderCheck(refuse)
    let total = 0
    for await (const chunk of chunks) {
      total += chunk.length
      if (total > LINE_LIMITS.bytes) refuse(`unpacked it has more than ${renderMebibytes(LINE_LIMITS.bytes)} MiB`)
      checkHeaders(chunk)
      yield chunk
    }
  }
}

/**
 * Creates a check of the headers of an archive (tar(5)) that comes in chunks: no file is larger than its header can say in
 * octal, no name is too long to be kept in memory, and no file has a second size.
 * @param {Refuse} refuse called for the first fault
 * @returns {(chunk: Buffer) => void} checks the next chunk
 */
function createHeaderCheck(refuse) {
  // The bytes of the current entry that have not arrived, with its padding.
  let remainingBytes = 0
  // The part of the next header that has arrived.
  let header = Buffer.alloc(0)
  /** The content so far of the current entry, if that has names or attributes of the next one; null: it is a file. @type {string | null} */
  let names = null
  const skipContent = (/** @type {Buffer} */ rest) => {
    const content = rest.subarray(0, remainingBytes)
    if (names !== null) names += content.toString('latin1')
    remainingBytes -= content.length
    // Attributes (pax) can give the next file another size than its header: this check would miss the header after it.
    if (remainingBytes === 0 && names !== null && /\bsize=/.test(names)) refuse('a file in it has two sizes')
    return content.length
  }
  const readHeader = () => {
    // The size is octal, at 124. A size of 8 GiB or more is binary, and has the highest bit set.
    const size = Number.parseInt(header.toString('latin1', 124, 136), 8) || 0
    if (header[124] & 0x80) refuse('a file in it has more than 8 GiB')
    names = isNameEntry(header[156]) ? '' : null
    if (names !== null && size > NAMES_BYTES_MOST) refuse(`a name in it has ${size} bytes`)
    remainingBytes = Math.ceil(size / HEADER_BYTES) * HEADER_BYTES
    header = Buffer.alloc(0)
  }
  return chunk => {
    for (let offset = 0; offset < chunk.length; ) {
      if (remainingBytes > 0) {
        offset += skipContent(chunk.subarray(offset))
        continue
      }
      const headerPart = chunk.subarray(offset, offset + HEADER_BYTES - header.length)
      header = Buffer.concat([header, headerPart])
      offset += headerPart.length
      if (header.length === HEADER_BYTES) readHeader()
    }
  }
}

/**
 * Says whether an entry holds long names or attributes of the next entry (tar(5)), and no file.
 * @param {number} type its type flag, a character code
 * @returns {boolean}
 */
function isNameEntry(type) {
  return 'xgLK'.includes(String.fromCharCode(type))
}
