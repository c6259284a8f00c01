import { randomInt } from 'node:crypto'
import { BenchError } from '../../lib/errors.js'
import { findSocketOwner, listListeners } from '../../node/kernel/sockets.js'

/**
 * A run has a /16 block of 127.0.0.0/8, and in it each service of each start has an address, so that every service has the same
 * ports as in a pod.
 * @import { Ledger, ProcessSpec } from '../../model/types.ts'
 */

// Other programs take addresses in 127.0 and 127.1.
const BLOCKS = Array.from({ length: 253 }, (_, i) => `127.${i + 2}`)
// The last two bytes of the last address: all ones would be the broadcast address of a /16.
const LAST = 0xfffe

/**
 * Creates a function that allocates the addresses of a /16 block in order. After LAST, as after 130 starts of 500 services, it
 * begins again: by then, connections of the first have ended.
 * @param {string} block its first two bytes, such as 127.7
 * @returns {() => string} it returns the next address
 */
export function createAddressAllocator(block) {
  let last = 0
  return () => {
    last = (last % LAST) + 1
    return `${block}.${last >> 8}.${last & 0xff}`
  }
}

/**
 * Chooses a free block of addresses, and enters it in the ledger. Nothing listens in a free block, and no other run
 * holds it.
 * @param {Ledger} ledger
 * @returns {string} its first two bytes, such as 127.7
 * @throws {BenchError} if none is free; the system's error if the ledger cannot be written
 */
export function holdAddressBlock(ledger) {
  const listeningBlocks = listListeners().map(({ address }) => address.split('.').slice(0, 2).join('.'))
  const listOtherHoldings = () => ledger.others().flatMap(({ holdings }) => holdings.map(({ name }) => name))
  const taken = new Set([...listeningBlocks, ...listOtherHoldings()])
  const free = BLOCKS.filter(block => !taken.has(block))
  while (free.length > 0) {
    const [block] = free.splice(randomInt(free.length), 1)
    // Enter first, then look: of two runs that choose the same block at once, at least one sees the other, and chooses again.
    ledger.hold('addresses', block)
    if (!listOtherHoldings().includes(block)) return block
    ledger.release('addresses', block)
  }
  throw new BenchError(
    'no free block of loopback addresses 127.x.0.0/16: something listens in each, or another run holds it',
  )
}

/**
 * Asserts that nothing listens at the endpoints of processes, or at their ports on the wildcard address.
 * @param {ProcessSpec[]} specs
 * @param {ReturnType<typeof listListeners>} [listeners] of this machine
 * @throws {BenchError} for the first port that is in use, with its owner
 */
export function assertPortsFree(specs, listeners = listListeners()) {
  const taken = new Map(listeners.map(listener => [`${listener.address}:${listener.port}`, listener]))
  const endpoints = specs.flatMap(({ listens, admin }) => (admin ? [...listens, admin] : listens))
  for (const { address, port } of endpoints) {
    const conflict = taken.get(`${address}:${port}`) ?? taken.get(`*:${port}`)
    if (!conflict) continue
    const owner = findSocketOwner(conflict.inode) ?? 'another process'
    throw new BenchError(
      `port ${port} is already taken: ${owner} listens on ${conflict.address}:${port}; stop it, or run where it is free`,
    )
  }
}
