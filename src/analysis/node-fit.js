import { UsageError } from '../lib/errors.js'
import { GIB } from '../lib/units.js'
import { recommendedBytes } from '../search/memory-floor.js'

/**
 * What the answer of a sizing means for a node. Pure.
 * @import { SizeResult } from '../model/types.ts'
 */

/**
 * @param {string} text such as 2c4g: cores and GiB
 * @returns {{ cores: number, bytes: number }}
 * @throws {UsageError}
 */
export function parseNode(text) {
  const [, cores, gigabytes] = /^(\d{1,6}(?:\.\d{1,6})?)c(\d{1,6}(?:\.\d{1,6})?)g$/.exec(text) ?? []
  if (!(Number(cores) > 0) || !(Number(gigabytes) > 0)) {
    throw new UsageError(`--node ${text}: write cores and GiB, such as 2c4g`)
  }
  return { cores: Number(cores), bytes: Number(gigabytes) * GIB }
}

/**
 * How many sidecars of a size a node holds, and what one takes of it.
 * @param {SizeResult} size
 * @param {{ cores: number, bytes: number }} node
 * @returns {{ count: number, limit: 'CPU' | 'memory', cpuShare: number, memoryShare: number } | null} null: no answer was found
 */
export function fitOnNode({ cpu, memory }, node) {
  if (cpu.held === null || !memory?.isFound || memory.held === null) return null
  const cpuShare = cpu.held / node.cores
  const memoryShare = recommendedBytes(memory) / node.bytes
  const limit = cpuShare >= memoryShare ? 'CPU' : 'memory'
  return { count: Math.floor(1 / Math.max(cpuShare, memoryShare)), limit, cpuShare, memoryShare }
}
