import { statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder } from '../lib/folders.js'
import { cacheFolder } from '../lib/paths.js'
import { hasOwnerEnded, makeOwnedFolder } from '../lib/temporary-folder.js'

/** The folders of downloads. Each says in its name which process made it, when that started, and where its id counts. */

const OWNED = /^\.[a-z0-9]+-(\d+)-(\d+)-(\w+)-\w{6}$/
// Names given by earlier kits.
const NAMELESS = /^\.(?:pipy|envoy|k6)-\w{6}$/
// A folder of an unknown maker is left this long: no download takes as much.
const FOREIGN_MS = 24 * 3600 * 1000

/** Makes a folder for a download. @param {string} cache the folder of all tools @param {string} name of the program */
export async function openDownload(cache, name) {
  makeFolder(cache)
  return makeOwnedFolder(cache, `.${name}`)
}

/** Removes what downloads left whose process has ended, and names it. @param {string} [cache] the folder of all tools */
export async function removeStaleDownloads(cache = cacheFolder()) {
  const removed = []
  for (const name of await readdir(cache).catch(() => [])) {
    const folder = path.join(cache, name)
    const [, pid, ticks, place] = OWNED.exec(name) ?? []
    if (pid === undefined && !NAMELESS.test(name)) continue
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (!(hasOwnerEnded({ pid, ticks, place }) ?? Date.now() - mtimeMs > FOREIGN_MS)) continue
    await rm(folder, { recursive: true, force: true })
    removed.push(`interrupted download ${folder}`)
  }
  return removed
}
