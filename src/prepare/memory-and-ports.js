import { BenchError } from '../lib/errors.js'
import { MIB } from '../lib/units.js'
import { MORE_PORTS, readPortRange } from '../node/kernel/sockets.js'
import { readAvailableBytes } from '../node/machine.js'

/** Checks the memory and the local ports that a run needs on this machine. */

/** Resident memory was measured during the equal-work check: docs/sizing.md, "On a small machine". */
const NEEDED_MIB = { 'the kit': 80, 'the parity corpus': 140, 'three sidecars': 60 }
const TOTAL_MIB = Object.values(NEEDED_MIB).reduce((a, b) => a + b)
// The corpus opens some hundred connections to one address, whose ports stay in use for a minute (TIME_WAIT).
const PORTS_LEAST = 1000
const CHURN_PORTS_LEAST = 10_000

/**
 * Checks whether this machine has the memory that the smallest run needs.
 * @param {number} [bytes] available; by default read from the machine
 * @returns {{ isEnough: boolean, text: string }} text: what there is, and what is needed
 */
export function checkMemory(bytes = readAvailableBytes()) {
  const parts = Object.entries(NEEDED_MIB).map(([name, mebibytes]) => `${name} ${mebibytes}`)
  const needed = `a run needs at least ${TOTAL_MIB} MiB (${parts.join(', ')})`
  return { isEnough: bytes >= TOTAL_MIB * MIB, text: `memory: ${Math.floor(bytes / MIB)} MiB can be had; ${needed}` }
}

/**
 * Checks whether this machine has enough local ports for the equal-work check, and for a load of new connections (churn).
 * @param {number} [ports] their number; by default read from the machine
 * @returns {{ isEnough: boolean, isEnoughForChurn: boolean, text: string }} text: what there is, and what is needed
 */
export function checkPorts(ports = countPorts()) {
  const needed = `a run needs at least ${PORTS_LEAST} (net.ipv4.ip_local_port_range), and one of new connections (churn) ${CHURN_PORTS_LEAST}`
  const isEnoughForChurn = ports >= CHURN_PORTS_LEAST
  return {
    isEnough: ports >= PORTS_LEAST,
    isEnoughForChurn,
    text: `local ports: ${ports}; ${needed}${isEnoughForChurn ? '' : `: ${MORE_PORTS}`}`,
  }
}

/**
 * Asserts that memory and local ports are enough for the smallest run.
 * @param {number} [availableBytes] by default read from the machine
 * @param {number} [portCount] by default read from the machine
 * @throws {BenchError} if either is not enough
 */
export function assertMemoryAndPorts(availableBytes, portCount) {
  const ports = checkPorts(portCount)
  if (!ports.isEnough) throw new BenchError(ports.text)
  const memory = checkMemory(availableBytes)
  if (!memory.isEnough)
    throw new BenchError(`${memory.text}: end other programs, or take a machine or a memory limit with more`)
}

/** Counts the ephemeral ports (net.ipv4.ip_local_port_range); if the range cannot be read, those of the kernel's default. */
function countPorts() {
  const { first, last } = readPortRange()
  return last - first + 1
}
