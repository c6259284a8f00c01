import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { BenchError } from '../lib/errors.js'
import { makeFolder } from '../lib/folders.js'
import { readText, writeWhole } from './files.js'

/** A run as one file: an archive of the records, and of the raw files that `verify` reads. */

// A bundle has no keys, configurations or logs of services. A name never leads out of the folder.
const RAW = String.raw`raw/(?!\.)[^/\0]+/(?!\.)(?:[^/\0]+\.json|samples\.jsonl|[^/\0]+-generator\.log)`
const CARRIED = new RegExp(`^(?:manifest\\.json|summary\\.json|trials\\.jsonl|${RAW})$`)
const BYTES_MOST = 512 * 2 ** 20
// The same run gives the same bytes.
const NO_TIME = new Date(0)

/** Reads the files of a run that a bundle carries. @param {string} folder @returns {Record<string, string>} by their names */
export function readCarried(folder) {
  // A link may name any file of this machine.
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter(name => CARRIED.test(name))
  return Object.fromEntries(names.sort().map(name => [name, readText(path.join(folder, name)) ?? '']))
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
  const seen = new Set()
  try {
    if (statSync(file).size > BYTES_MOST) refuse(`it has more than ${BYTES_MOST} bytes`)
    entries.end(gunzipSync(readFileSync(file), { maxOutputLength: BYTES_MOST }))
    for await (const entry of entries) {
      const { name, type } = entry.header
      if (type !== 'file') refuse(`"${name}" in it is a ${type}, and no file`)
      if (!CARRIED.test(name)) refuse(`"${name}" in it is none of the files of a run`)
      if (seen.has(name)) refuse(`"${name}" stands in it twice`)
      seen.add(name)
      writeWhole(folder, name, await buffer(entry))
    }
  } catch (error) {
    if (error instanceof BenchError) throw error
    refuse(/** @type {Error} */ (error).message, error)
  }
  if (!seen.has('manifest.json')) refuse('manifest.json is missing in it')
  makeFolder(path.join(folder, 'raw'))
}
