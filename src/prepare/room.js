import { BenchError } from '../lib/errors.js'
import { MIB } from '../lib/units.js'
import { MORE_PORTS, readPortRange } from '../node/kernel/sockets.js'
import { readAvailableBytes } from '../node/machine.js'

/** The resident memory that a run needs, in MiB, as measured during the equal-work check: docs/sizing.md, "On a small machine". */
const NEEDED = { 'the kit': 80, 'the parity corpus': 140, 'three sidecars': 60 }
// The corpus opens some hundred connections to one address, whose ports stay in use for a minute (TIME_WAIT).
const PORTS_LEAST = 1000
const PORTS_OF_CHURN = 10_000
const NEEDED_MIB = Object.values(NEEDED).reduce((a, b) => a + b)

/**
 * Checks whether this machine has the memory that the smallest run needs.
 * @param {number} [bytes] available; by default read from the machine
 * @returns {{ isEnough: boolean, text: string }} text: the finding
 */
export function checkRoom(bytes = readAvailableBytes()) {
  const parts = Object.entries(NEEDED).map(([name, mebibytes]) => `${name} ${mebibytes}`)
  const needed = `a run needs at least ${NEEDED_MIB} MiB (${parts.join(', ')})`
  return { isEnough: bytes >= NEEDED_MIB * MIB, text: `memory: ${Math.floor(bytes / MIB)} MiB can be had; ${needed}` }
}

/**
 * Checks whether this machine has enough local ports for the equal-work check, and for a load of new connections.
 * @param {number} [ports] their number; by default read from the machine
 * @returns {{ isEnough: boolean, isEnoughForChurn: boolean, text: string }} isEnoughForChurn: for new connections;
 *   text: the finding
 */
export function checkPorts(ports = countPorts()) {
  const needed = `a run needs at least ${PORTS_LEAST} (net.ipv4.ip_local_port_range), and one of new connections (churn) ${PORTS_OF_CHURN}`
  return {
    isEnough: ports >= PORTS_LEAST,
    isEnoughForChurn: ports >= PORTS_OF_CHURN,
    text: `local ports: ${ports}; ${needed}${ports < PORTS_OF_CHURN ? `: ${MORE_PORTS}` : ''}`,
  }
}

/**
 * Asserts that memory and local ports are enough for the smallest run.
 * @param {number} [bytes] available; by default read from the machine
 * @param {number} [ports] their number; by default read from the machine
 * @throws {BenchError} if either is not enough
 */
export function assertRoom(bytes, ports) {
  const local = checkPorts(ports)
  if (!local.isEnough) throw new BenchError(local.text)

  const { isEnough, text } = checkRoom(bytes)
  if (!isEnough) throw new BenchError(`${text}: end other programs, or take a machine or a memory limit with more`)
}

/** Counts the local ports for connections. @returns {number} */
function countPorts() {
  const { first, last } = readPortRange()
  return last - first + 1
}
