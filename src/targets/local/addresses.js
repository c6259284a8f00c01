import { randomInt } from 'node:crypto'
import { BenchError } from '../../lib/errors.js'
import { findOwner, listListeners } from '../../node/kernel/sockets.js'

/**
 * The loopback addresses of a run: a /16 block of 127.0.0.0/8 for the run, and in it an address for each service of each
 * start, so that every service has the same ports as in a pod.
 */
/** @import { Ledger } from '../../model/types.ts' */

// Other programs take addresses in 127.0 and 127.1.
const BLOCKS = Array.from({ length: 253 }, (_, i) => `127.${i + 2}`)
// The last two bytes of the last address: all ones would be the broadcast address of a /16.
const LAST = 0xfffe

/**
 * Creates a function that gives the addresses of a block in order. After 65534, as after 130 starts of 500 services,
 * it begins again: by then, connections of the first have ended.
 * @param {string} block its first two bytes, such as 127.7
 * @returns {() => string} it gives another address at each call
 */
export function createAddresses(block) {
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
 * @throws {BenchError} if none is free
 */
export function holdBlock(ledger) {
  const listening = listListeners().map(({ address }) => address.split('.').slice(0, 2).join('.'))
  const listHeldAddresses = () => ledger.others().flatMap(({ holdings }) => holdings.map(({ name }) => name))
  const taken = new Set([...listening, ...listHeldAddresses()])
  const free = BLOCKS.filter(block => !taken.has(block))
  while (free.length > 0) {
    const [block] = free.splice(randomInt(free.length), 1)
    // Two runs that start at once both see the other's entry, and both choose again.
    ledger.hold('addresses', block)
    if (!listHeldAddresses().includes(block)) return block
    ledger.release('addresses', block)
  }
  throw new BenchError(
    'no free block of loopback addresses 127.x.0.0/16: something listens in each, or another run holds it',
  )
}

/**
 * Asserts that nothing listens at the endpoints of processes.
 * @param {import('../../model/types.ts').ProcessSpec[]} specs
 * @param {ReturnType<typeof listListeners>} [listeners] of this machine
 * @throws {BenchError} for the first port that is in use, with its owner
 */
export function assertPortsFree(specs, listeners = listListeners()) {
  const taken = new Map(listeners.map(listener => [`${listener.address}:${listener.port}`, listener]))
  for (const { address, port } of specs.flatMap(spec => [...spec.listens, ...(spec.admin ? [spec.admin] : [])])) {
    const conflict = taken.get(`${address}:${port}`) ?? taken.get(`*:${port}`)
    if (!conflict) continue
    const owner = findOwner(conflict.inode) ?? 'another process'
    throw new BenchError(
      `port ${port} is already taken: ${owner} listens on ${conflict.address}:${port}; stop it, or run where it is free`,
    )
  }
}
