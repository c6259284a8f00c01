import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { callSafely } from './call-safely.js'
import { BenchError } from './errors.js'
import { createPlaceKey, readProcessStartTicks } from './process-start.js'
import { runAtExit } from './run-at-exit.js'

/** Folders of this process alone. The name holds the id of the process, its start in clock ticks, and where the id is valid. */

const OWNED = /^sidecar-bench-[a-z]+-(\d+)-(\d+)-(\w+)-\w{6}$/

/**
 * Makes a new folder of this process in `parent`.
 * @param {string} parent
 * @param {string} name that its name begins with
 * @returns {string} its path
 * @throws the system's error if it cannot be made
 */
export function makeOwnedFolder(parent, name) {
  const { pid } = process
  return mkdtempSync(path.join(parent, `${name}-${pid}-${readProcessStartTicks(pid)}-${createPlaceKey()}-`))
}

/**
 * Says whether the process that owns a folder has ended.
 * @param {{ pid: string, ticks: string, place: string }} owner from the name of the folder
 * @returns {boolean | null} null: its id is not valid here, as in another container
 */
export function hasOwnerEnded({ pid, ticks, place }) {
  return place === createPlaceKey() ? readProcessStartTicks(Number(pid)) !== Number(ticks) : null
}

/**
 * Calls a function with a new folder. The folder is removed when the function ends or throws, or this process exits.
 * @template T
 * @param {string} name of the folder: sidecar-bench- and a word
 * @param {(folder: string) => T | Promise<T>} use
 * @returns the result of `use`
 * @throws {BenchError} if no folder can be made; an error of `use`
 */
export async function withTemporaryFolder(name, use) {
  const folder = makeTemporaryFolder(name)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const cancelExitAction = runAtExit(remove)
  try {
    return await use(folder)
  } finally {
    cancelExitAction()
    remove()
  }
}

/**
 * Makes a folder for temporary files, which the caller removes. After this process was killed, `cleanup` removes it.
 * @param {string} name sidecar-bench- and a word
 * @returns {string} its path
 * @throws {BenchError} if none can be made
 */
export function makeTemporaryFolder(name) {
  const parent = os.tmpdir()
  try {
    return makeOwnedFolder(parent, name)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new BenchError(
      `cannot make a temporary folder in ${parent}: ${message}; set TMPDIR to a folder that can be written`,
      { cause: error },
    )
  }
}

/**
 * Removes the folders that this user's killed processes left. Those whose owner cannot be looked up here stay.
 * @param {string} [parent] that of temporary folders by default
 * @returns {string[]} a phrase for each; []: there are none, or `parent` cannot be read
 * @throws the system's error if one cannot be removed
 */
export function removeStaleFolders(parent = os.tmpdir()) {
  const names = callSafely(() => readdirSync(parent), /** @type {string[]} */ ([]))
  return names.flatMap(name => {
    const [, pid, ticks, place] = OWNED.exec(name) ?? []
    const folder = path.join(parent, name)
    // Every user may write in /tmp: only this user's own folders are removed.
    const stats = pid === undefined ? undefined : lstatSync(folder, { throwIfNoEntry: false })
    if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) return []
    if (hasOwnerEnded({ pid, ticks, place }) !== true) return []
    rmSync(folder, { recursive: true, force: true })
    return [`temporary folder ${folder}`]
  })
}
