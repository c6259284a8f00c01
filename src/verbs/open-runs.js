import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { escapePattern } from '../lib/printable.js'
import { runAtExit } from '../lib/run-at-exit.js'
import { makeTemporaryFolder } from '../lib/temporary-folder.js'
import { unpackBundle } from '../records/bundle.js'

/** The endings of a bundle's file name. */
export const BUNDLE_ENDING = /\.(tar\.gz|tgz)$/

/**
 * Calls `use` with the folders of runs. A bundle is unpacked into a temporary folder, which is removed afterwards.
 * @template T
 * @param {string[]} results folders or bundles
 * @param {(folders: string[], restoreNames: (text: string) => string) => T | Promise<T>} use restoreNames: replaces
 *   the temporary folder in a text by the bundle's name
 * @returns {Promise<T>} the result of `use`
 * @throws {BenchError} if a bundle cannot be unpacked; an error of `use`, with the names restored
 */
export async function withRuns(results, use) {
  /** @type {Map<string, string>} */
  const bundles = new Map()
  // A text may have the temporary folder as a whole path, or relative to the current folder.
  const matchPath = (/** @type {string} */ folder) =>
    new RegExp([path.relative('', folder), folder].map(escapePattern).join('|'), 'g')
  const restoreNames = (/** @type {string} */ text) =>
    [...bundles].reduce((named, [folder, file]) => named.replace(matchPath(folder), () => file), text)
  const remove = () => {
    for (const folder of bundles.keys()) rmSync(folder, { recursive: true, force: true })
  }
  const takeBack = runAtExit(remove)
  try {
    const folders = []
    for (const name of results) {
      const folder = isBundle(name) ? makeTemporaryFolder('sidecar-bench-bundle') : name
      folders.push(folder)
      if (folder === name) continue
      bundles.set(folder, name)
      await unpackBundle(name, folder)
    }
    return await use(folders, restoreNames)
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    throw new BenchError(restoreNames(error.message), { exitStatus: error.exitStatus, cause: error })
  } finally {
    takeBack()
    remove()
  }
}

/**
 * Says whether a run is a file, and no folder.
 * @param {string} name its path
 * @returns {boolean} false also: it does not exist
 */
export function isBundle(name) {
  return existsSync(name) && statSync(name).isFile()
}
