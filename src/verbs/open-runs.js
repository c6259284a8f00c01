import { existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { escapePattern } from '../lib/escape-pattern.js'
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
 * @throws {BenchError} if a bundle cannot be unpacked, or no temporary folder can be made; an error of `use`: one of a subclass of
 *   BenchError as a plain BenchError with its exit status; their messages have the names restored
 */
export async function withRuns(results, use) {
  /** The files of bundles, by their temporary folders. @type {Map<string, string>} */
  const bundles = new Map()
  const restoreNames = (/** @type {string} */ text) =>
    [...bundles].reduce((restored, [folder, bundle]) => restored.replace(createPathPattern(folder), () => bundle), text)
  const removeFolders = () => {
    for (const folder of bundles.keys()) rmSync(folder, { recursive: true, force: true })
  }
  const cancelAtExit = runAtExit(removeFolders)
  try {
    const folders = []
    for (const name of results) {
      const folder = isBundle(name) ? makeTemporaryFolder('sidecar-bench-bundle') : name
      folders.push(folder)
      if (folder === name) continue
      // Set before it is unpacked: a part of a damaged bundle must be removed, too.
      bundles.set(folder, name)
      await unpackBundle(name, folder)
    }
    return await use(folders, restoreNames)
  } catch (error) {
    if (!(error instanceof BenchError)) throw error
    throw new BenchError(restoreNames(error.message), { exitStatus: error.exitStatus, cause: error })
  } finally {
    cancelAtExit()
    removeFolders()
  }
}

/**
 * Creates a pattern of a folder's path, since a text may have it absolute, or relative to the current folder.
 * @param {string} folder absolute
 * @returns {RegExp}
 */
function createPathPattern(folder) {
  return new RegExp([path.relative('', folder), folder].map(escapePattern).join('|'), 'g')
}

/**
 * Says whether the path of a run is that of a file, and so a bundle. Its content is not checked.
 * @param {string} name
 * @returns {boolean} false also: there is none
 */
export function isBundle(name) {
  return existsSync(name) && statSync(name).isFile()
}
