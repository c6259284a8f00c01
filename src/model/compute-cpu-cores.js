/** @import { Look } from './types.ts' */

/**
 * Computes the mean CPU cores that a process used between two looks.
 * @param {Look['cpu']} before
 * @param {Look['cpu']} after
 * @returns {number | null} 0 also: the CPU time went down; null: a look has no CPU time, or no time passed
 */
export function computeCpuCores(before, after) {
  if (before === undefined || after === undefined) return null
  const cores = (after.cpuSeconds - before.cpuSeconds) / (after.atSeconds - before.atSeconds)
  return Number.isFinite(cores) ? Math.max(0, cores) : null
}
