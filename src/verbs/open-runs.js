import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { atExit } from '../lib/at-exit.js'
import { BenchError } from '../lib/errors.js'
import { escapePattern } from '../lib/printable.js'
import { makeTemporaryFolder } from '../lib/temporary-folder.js'
import { unpackBundle } from '../records/bundle.js'

export const BUNDLE_ENDING = /\.(tar\.gz|tgz)$/

/**
 * Does something with runs: folders, or bundles, which are unpacked into a folder that is removed afterwards.
 * @template T @param {string[]} results
 * @param {(folders: string[], show: (text: string) => string) => T | Promise<T>} use show: names bundles as they were given
 */
export async function withRuns(results, use) {
  /** @type {Map<string, string>} */
  const bundles = new Map()
  // A folder of ours is named by its whole path, or from the current folder.
  const matchPath = (/** @type {string} */ folder) =>
    new RegExp([path.relative('', folder), folder].map(escapePattern).join('|'), 'g')
  const show = (/** @type {string} */ text) =>
    [...bundles].reduce((named, [folder, file]) => named.replace(matchPath(folder), () => file), text)
  const remove = () => {
    for (const folder of bundles.keys()) rmSync(folder, { recursive: true, force: true })
  }
  const takeBack = atExit(remove)
  try {
    const folders = []
    for (const name of results) {
      const folder = isBundle(name) ? makeTemporaryFolder('sidecar-bench-bundle') : name
      folders.push(folder)
      if (folder === name) continue
      bundles.set(folder, name)
      await unpackBundle(name, folder)
    }
    return await use(folders, show)
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    throw new BenchError(show(error.message), { exitStatus: error.exitStatus, cause: error })
  } finally {
    takeBack()
    remove()
  }
}

/** Tells whether a run is given as a file, and not as a folder. @param {string} name */
export function isBundle(name) {
  return existsSync(name) && statSync(name).isFile()
}
