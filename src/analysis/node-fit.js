import { MIB } from '../lib/units.js'

/** The meaning of a sizing's answer for a node. Pure. @import { Limits } from '../model/container-limits.js' */

/**
 * Counts how many times limits fit into what is left of a node; byCpu, byMemory: by that alone.
 * @param {Limits} limits of one sidecar, or of several together @param {{ cores: number, bytes: number }} left
 * @returns {{ count: number, limit: 'CPU' | 'memory', byCpu: number, byMemory: number }}
 */
export function fitOnNode({ millicores, mebibytes }, left) {
  const byCpu = (1000 * left.cores) / millicores
  const byMemory = left.bytes / MIB / mebibytes
  // 3.3 × 1000 / 300 is less than 11 by a rounding error.
  const count = Math.floor(Math.min(byCpu, byMemory) + 1e-9)
  return { count, limit: byCpu <= byMemory ? 'CPU' : 'memory', byCpu, byMemory }
}
