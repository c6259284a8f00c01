import { BenchError } from '../lib/errors.js'
import { MIB } from '../lib/units.js'
import { readRoomBytes } from '../node/machine.js'

/** The least resident MiB, as measured while planes are checked: docs/sizing.md, "On a small machine". */
const NEEDED = { 'the kit': 80, 'the parity corpus': 140, 'three sidecars': 60 }
const NEEDED_MIB = Object.values(NEEDED).reduce((a, b) => a + b)

/** Says whether this machine has the memory that the smallest run needs. @param {number} [bytes] that can be had */
export function describeRoom(bytes = readRoomBytes()) {
  const parts = Object.entries(NEEDED).map(([name, mebibytes]) => `${name} ${mebibytes}`)
  const needed = `a run needs at least ${NEEDED_MIB} MiB (${parts.join(', ')})`
  return { isEnough: bytes >= NEEDED_MIB * MIB, text: `memory: ${Math.floor(bytes / MIB)} MiB can be had; ${needed}` }
}

/** @param {number} [bytes] that can be had @throws {BenchError} where it is too little for any run */
export function assertRoom(bytes) {
  const { isEnough, text } = describeRoom(bytes)
  if (!isEnough) throw new BenchError(`${text}: end other programs, or take a machine or a memory limit with more`)
}
