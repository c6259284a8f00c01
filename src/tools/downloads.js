import { statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder } from '../lib/folders.js'
import { locateCacheFolder } from '../lib/paths.js'
import { hasOwnerEnded, makeOwnedFolder } from '../lib/temporary-folder.js'

/** The folders of downloads. A name says which process made the folder, when that started, and in which boot and pid namespace. */

const OWNED = /^\.[a-z0-9]+-(\d+)-(\d+)-(\w+)-\w{6}$/
// Earlier versions of the kit named folders so, without the process that made them.
const OWNERLESS = /^\.(?:pipy|envoy|k6)-\w{6}$/
// A folder whose process cannot be checked from here is kept this long; no download takes a day.
const FOREIGN_MS = 24 * 3600 * 1000

/**
 * Makes a folder for a download, which the caller removes. Its name says that it belongs to this process: if this process is
 * killed, `removeStaleDownloads` removes the folder.
 * @param {string} cache the folder of all tools, which is made if it is missing
 * @param {string} name of the program
 * @returns {string} its path
 * @throws {Error} if a file is in the way of the folder; the system's error if it cannot be made
 */
export function makeDownloadFolder(cache, name) {
  makeFolder(cache)
  return makeOwnedFolder(cache, `.${name}`)
}

/**
 * Removes the folders of downloads whose process has ended. Those whose process cannot be looked up here, or is not in the name,
 * are removed after FOREIGN_MS.
 * @param {string} [cache] the folder of all tools
 * @returns a phrase for each that was removed; []: none was, or the cache is missing or cannot be listed
 * @throws the system's error if one cannot be removed
 */
export async function removeStaleDownloads(cache = locateCacheFolder()) {
  const phrases = []
  for (const name of await readdir(cache).catch(() => [])) {
    const folder = path.join(cache, name)
    const [, pid, ticks, place] = OWNED.exec(name) ?? []
    if (pid === undefined && !OWNERLESS.test(name)) continue
    // Another run may have removed the folder since it was listed: it then counts as new.
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    const isStale = hasOwnerEnded({ pid, ticks, place }) ?? Date.now() - mtimeMs > FOREIGN_MS
    if (!isStale) continue
    await rm(folder, { recursive: true, force: true })
    phrases.push(`interrupted download ${folder}`)
  }
  return phrases
}
