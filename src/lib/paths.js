import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the kit itself. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the folder of fetched tools: SIDECAR_BENCH_CACHE, else one in the user's cache folder. */
export function cacheFolder() {
  const { SIDECAR_BENCH_CACHE, XDG_CACHE_HOME } = process.env
  return SIDECAR_BENCH_CACHE ?? path.join(XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'sidecar-bench')
}
