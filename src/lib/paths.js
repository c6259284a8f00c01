import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the kit itself. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the folder of fetched tools: SIDECAR_BENCH_CACHE, else one in the user's cache folder; empty counts as unset. */
export function cacheFolder() {
  const { SIDECAR_BENCH_CACHE, XDG_CACHE_HOME } = process.env
  const home = os.homedir() || os.userInfo().homedir
  // A command that runs in another folder would write to another cache.
  return path.resolve(SIDECAR_BENCH_CACHE || path.join(XDG_CACHE_HOME || path.join(home, '.cache'), 'sidecar-bench'))
}
