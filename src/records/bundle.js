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
import { mib } from '../lib/units.js'
import { cannotWrite, readText, writeWhole } from './files.js'

/** A run as one file: an archive of the records, and of the raw files that `verify` reads. */

// A bundle has no keys, configurations or logs of services. A name never leads out of the folder.
const RAW = String.raw`raw/(?!\.)[^/\0]+/(?!\.)(?:[^/\0]+\.json|samples\.jsonl|[^/\0]+-generator\.log)`
const CARRIED = new RegExp(`^(?:manifest\\.json|summary\\.json|trials\\.jsonl|${RAW})$`)
const FILES_MOST = 50_000
const NAME_SHOWN = 200
const HEADER_BYTES = 512
// Long names and their like, in tar(5): they are read into memory.
const NAMES_BYTES_MOST = 64 * 1024
const isNames = (/** @type {number} */ type) => 'xgLK'.includes(String.fromCharCode(type))
// The same run gives the same bytes.
const NO_TIME = new Date(0)

/** Reads the files of a run that a bundle carries. @param {string} folder @returns {Record<string, string>} by their names */
export function readCarried(folder) {
  // A link may name any file of this machine.
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter(name => CARRIED.test(name))
  return Object.fromEntries(
    names.sort().map(name => [name, readText(path.join(folder, name), LINE_LIMITS.bytes) ?? '']),
  )
}

/** Writes a bundle. @param {string} file @param {Record<string, string>} files @returns {Promise<number>} its bytes */
export async function writeBundle(file, files) {
  const archive = pack()
  for (const [name, text] of Object.entries(files)) archive.entry({ name, mtime: NO_TIME, mode: 0o644 }, text)
  archive.finalize()
  const bytes = gzipSync(await buffer(archive), { level: 9 })
  writeWhole(path.dirname(file), path.basename(file), bytes)
  return bytes.length
}

/**
 * Unpacks a bundle, which may come from anybody. @param {string} file @param {string} folder that is empty
 * @throws {BenchError} where it is cut off or no bundle, or has an entry that no bundle has, such as a link or ../x
 */
export async function unpackBundle(file, folder) {
  const refuse = (/** @type {string} */ why, /** @type {unknown} */ cause = undefined) => {
    throw new BenchError(`${file} is no whole bundle of a run: ${why}; get it again from where it was made`, { cause })
  }
  const entries = extract()
  const names = new Set()
  try {
    if (statSync(file).size > LINE_LIMITS.bytes) refuse(`it has more than ${mib(LINE_LIMITS.bytes)} MiB`)
    const unpacked = pipeline(createReadStream(file), createGunzip(), boundArchive(refuse), entries)
    // The same error comes out of the entries.
    unpacked.catch(() => {})
    for await (const entry of entries) {
      const { name, type } = entry.header
      // A name may be as long as a file.
      const quoted = JSON.stringify(name.slice(0, NAME_SHOWN))
      if (type !== 'file') refuse(`${quoted} in it is a ${type}, and no file`)
      if (!CARRIED.test(name)) refuse(`${quoted} in it is none of the files of a run`)
      if (names.has(name)) refuse(`${quoted} stands in it twice`)
      names.add(name)
      if (names.size > FILES_MOST) refuse(`it has more than ${FILES_MOST} files`)
      const at = path.join(folder, name)
      makeFolder(path.dirname(at))
      await writeEntry(entry, at)
    }
    await unpacked
  } catch (error) {
    if (error instanceof BenchError) throw error
    refuse(/** @type {Error} */ (error).message, error)
  }
  if (!names.has('manifest.json')) refuse('manifest.json is missing in it')
  makeFolder(path.join(folder, 'raw'))
}

/**
 * Writes an entry. An archive that ends within it may do so before its file is open: the file would be there after the caller
 * has deleted its folder. @param {import('tar-stream').Entry} entry @param {string} at @throws when nothing is written any more
 */
async function writeEntry(entry, at) {
  const file = createWriteStream(at, { flags: 'wx' })
  try {
    await pipeline(entry, file)
  } catch (cause) {
    if (!file.closed) await once(file, 'close')
    const error = /** @type {NodeJS.ErrnoException} */ (cause)
    throw error.syscall === undefined ? error : cannotWrite(at, error)
  }
}

/**
 * Passes an archive on, up to a size: a few hundred bytes can unpack to any number. Headers are looked at on the way, since
 * a reader of archives keeps long names in memory. @param {(why: string) => void} refuse throws
 */
function boundArchive(refuse) {
  return async function* bound(/** @type {AsyncIterable<Buffer>} */ chunks) {
    let total = 0
    // Bytes of the current file that are still to come, and the header that is being gathered.
    let left = 0
    let header = Buffer.alloc(0)
    /** @type {string | null} */
    let names = null
    for await (const chunk of chunks) {
      total += chunk.length
      if (total > LINE_LIMITS.bytes) refuse(`unpacked it has more than ${mib(LINE_LIMITS.bytes)} MiB`)
      for (let at = 0; at < chunk.length; ) {
        if (left > 0) {
          const skipped = Math.min(left, chunk.length - at)
          if (names !== null) names += chunk.toString('latin1', at, at + skipped)
          left -= skipped
          at += skipped
          // A size that stands beside the header would hide the next one from here.
          if (left === 0 && names !== null && /\bsize=/.test(names)) refuse('a file in it has two sizes')
          continue
        }
        const part = chunk.subarray(at, at + HEADER_BYTES - header.length)
        header = Buffer.concat([header, part])
        at += part.length
        if (header.length < HEADER_BYTES) continue
        const size = Number.parseInt(header.toString('latin1', 124, 136), 8) || 0
        // Eight octal digits are enough for what a bundle holds; larger sizes are written otherwise.
        if (header[124] & 0x80) refuse('a file in it has more than 8 GiB')
        names = isNames(header[156]) ? '' : null
        if (names !== null && size > NAMES_BYTES_MOST) refuse(`a name in it has ${size} bytes`)
        left = Math.ceil(size / HEADER_BYTES) * HEADER_BYTES
        header = Buffer.alloc(0)
      }
      yield chunk
    }
  }
}
