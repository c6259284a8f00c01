import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { callSafely } from './call-safely.js'

/** The folder of the kit itself. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Finds the path of the kit's cache folder, which has fetched tools and passed equal-work checks: SIDECAR_BENCH_CACHE, else
 * `sidecar-bench` in XDG_CACHE_HOME, else in `.cache` of the user's home. An empty variable counts as unset. The folder may not exist.
 * @returns {string} an absolute path
 */
export function locateCacheFolder() {
  const { SIDECAR_BENCH_CACHE, XDG_CACHE_HOME } = process.env
  // A relative path would be another cache to a command that runs in another folder.
  return path.resolve(
    SIDECAR_BENCH_CACHE || path.join(XDG_CACHE_HOME || path.join(locateHomeFolder(), '.cache'), 'sidecar-bench'),
  )
}

/**
 * Finds the path of the user's home. For a user without an entry in passwd(5), as in a container, it is the folder of temporary
 * files.
 * @returns {string}
 */
export function locateHomeFolder() {
  return callSafely(() => os.homedir(), '') || callSafely(() => os.userInfo().homedir, '') || os.tmpdir()
}
