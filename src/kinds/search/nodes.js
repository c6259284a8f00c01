import { UsageError } from '../../lib/errors.js'
import { renderSuggestion } from '../../lib/nearest.js'
import { GIB, MIB } from '../../lib/units.js'

/**
 * Known nodes, `2c4g` as a node, and how many sidecars fit one. Pure.
 * @import { ContainerLimits } from '../../model/container-limits.js'
 */
/** @typedef {{ name: string, cores: number, bytes: number, cpu: string | null }} Node cpu: null: not known */

/**
 * Nodes as their makers publish them: https://www.raspberrypi.com/documentation/computers/raspberry-pi.html and
 * https://aws.amazon.com/ec2/instance-types/t3/ and /t4/, read in 2025.
 * @type {Record<string, { cores: number, gibibytes: number, cpu: string }>}
 */
const KNOWN = {
  pizero2: { cores: 4, gibibytes: 0.5, cpu: 'Cortex-A53, 1.0 GHz, arm64' },
  pi3: { cores: 4, gibibytes: 1, cpu: 'Cortex-A53, 1.2 to 1.4 GHz, arm64' },
  pi4: { cores: 4, gibibytes: 4, cpu: 'Cortex-A72, 1.5 to 1.8 GHz, arm64' },
  pi5: { cores: 4, gibibytes: 8, cpu: 'Cortex-A76, 2.4 GHz, arm64' },
  't4g.micro': { cores: 2, gibibytes: 1, cpu: 'Graviton2, arm64; on average 10 % of each core' },
  't4g.small': { cores: 2, gibibytes: 2, cpu: 'Graviton2, arm64; on average 20 % of each core' },
  't3.micro': { cores: 2, gibibytes: 1, cpu: 'threads of a Xeon, x86-64; on average 10 % of each' },
  't3.small': { cores: 2, gibibytes: 2, cpu: 'threads of a Xeon, x86-64; on average 20 % of each' },
}

const NUMBER = String.raw`\d{1,6}(?:\.\d{1,6})?`
const SIZE = new RegExp(`^(${NUMBER})c(${NUMBER})g$`)
const CORES = new RegExp(`^(${NUMBER})c$`)
const MEMORY = new RegExp(`^(${NUMBER})([mg])$`)

/** Renders a line for each known node, with its cores, memory and CPU. @returns {string[]} */
export function renderKnownNodes() {
  return Object.entries(KNOWN).map(
    ([name, { cores, gibibytes, cpu }]) => `  ${name.padEnd(10)} ${cores} cores, ${gibibytes} GiB (${cpu})`,
  )
}

/**
 * Parses --node.
 * @param {string} text the name of a known node, or cores and GiB such as 2c4g
 * @returns {Node}
 * @throws {UsageError} if it is neither, or a number is 0
 */
export function parseNode(text) {
  if (Object.hasOwn(KNOWN, text)) {
    const { cores, gibibytes, cpu } = KNOWN[text]
    return { name: text, cores, bytes: gibibytes * GIB, cpu }
  }
  const [, cores, gibibytes] = SIZE.exec(text) ?? []
  if (Number(cores) > 0 && Number(gibibytes) > 0)
    return { name: text, cores: Number(cores), bytes: Number(gibibytes) * GIB, cpu: null }
  const known = Object.keys(KNOWN)
  throw new UsageError(
    `--node ${text}: write cores and GiB, such as 2c4g, or the name of a known node${renderSuggestion(text, known)}`,
  )
}

/**
 * Parses --reserve: the cores, the memory, or both, that are not for sidecars, such as 0.5c,512m.
 * @param {string} text
 * @returns {{ cores: number, bytes: number }} 0: the text does not name this resource
 * @throws {UsageError} if a part has another form, is 0, or occurs twice
 */
export function parseReserve(text) {
  const reserve = { cores: 0, bytes: 0 }
  for (const part of text.split(',')) {
    const [, cores] = CORES.exec(part) ?? []
    const [, amount, unit] = MEMORY.exec(part) ?? []
    if (Number(cores) > 0 && reserve.cores === 0) reserve.cores = Number(cores)
    else if (Number(amount) > 0 && reserve.bytes === 0) reserve.bytes = Number(amount) * (unit === 'g' ? GIB : MIB)
    else
      throw new UsageError(
        `--reserve ${text}: write cores, memory in m (MiB) or g (GiB), or each once, such as 0.5c,512m`,
      )
  }
  return reserve
}

/**
 * Parses --node and --reserve, and computes what is left of the node.
 * @param {string} text of --node
 * @param {string | null} reserved text of --reserve; null: nothing is reserved
 * @returns {Node & { left: { cores: number, bytes: number } }} left: the cores and bytes that are not reserved
 * @throws {UsageError} if a text has another form, or no cores or no memory are left
 */
export function parseNodeOptions(text, reserved) {
  const node = parseNode(text)
  const reserve = reserved === null ? { cores: 0, bytes: 0 } : parseReserve(reserved)
  const left = { cores: Number((node.cores - reserve.cores).toFixed(6)), bytes: node.bytes - reserve.bytes }
  if (left.cores > 0 && left.bytes > 0) return { ...node, left }
  throw new UsageError(
    `--reserve ${reserved}: nothing is left of ${text}, which has ${node.cores} cores and ${node.bytes / MIB} MiB: reserve less`,
  )
}

/**
 * Computes how many times limits fit into what is left of a node.
 * @param {ContainerLimits} limits of one sidecar, or of several together
 * @param {{ cores: number, bytes: number }} left cores and bytes of the node
 * @returns {{ count: number, limit: 'CPU' | 'memory', byCpu: number, byMemory: number }} count: a whole number;
 *   limit: the resource that bounds it (CPU if both do); byCpu, byMemory: the count by that resource alone, not
 *   rounded
 */
export function computeNodeFit({ millicores, mebibytes }, left) {
  const byCpu = (1000 * left.cores) / millicores
  const byMemory = left.bytes / MIB / mebibytes
  // 3.3 × 1000 / 300 is less than 11 by a rounding error.
  const count = Math.floor(Math.min(byCpu, byMemory) + 1e-9)
  return { count, limit: byCpu <= byMemory ? 'CPU' : 'memory', byCpu, byMemory }
}
