import { hashTo64Bits } from '../lib/hash.js'

/**
 * A hash ring: every shard has points on it, and an item belongs to a point that follows the item's own hash
 * (Karger et al., Consistent Hashing and Random Trees, STOC 1997). Pure.
 */

/** Points of each shard, as in Argo CD. */
export const POINTS_OF_SHARD = 1000

/** @typedef {{ hash: bigint, shard: number, index: number }} Point index: among the points of its shard */

/** @type {Map<number, Point[]>} by the number of shards: a ring takes longer to make than to use */
const rings = new Map()

/**
 * The shard of the first accepted point after the hash of an id; behind the last point follows the first.
 * @param {string} id
 * @param {{ shards: number, accepts: (point: Point) => boolean }} options accepts: some point must be
 */
export function findShard(id, { shards, accepts }) {
  const ring = rings.get(shards) ?? createRing(shards)
  const start = findFollowing(ring, hashTo64Bits(id))
  for (let step = 0; step < ring.length; step++) {
    const point = ring[(start + step) % ring.length]
    if (accepts(point)) return point.shard
  }
  throw new RangeError(`no point of ${shards} shards is accepted for the item ${id}`)
}

/**
 * The points in the order of their hashes. A point's name is the shard's followed by its index, as in Argo CD: from 12
 * shards on, two points have one name (1 and 15, 11 and 5), and the shard that was added later has it.
 * @param {number} shards
 */
function createRing(shards) {
  /** @type {Map<bigint, Point>} */
  const points = new Map()
  for (let shard = 0; shard < shards; shard++) {
    for (let index = 0; index < POINTS_OF_SHARD; index++) {
      const hash = hashTo64Bits(`${shard}${index}`)
      points.set(hash, { hash, shard, index })
    }
  }
  const ring = [...points.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1))
  rings.set(shards, ring)
  return ring
}

/** Finds the index of the first point whose hash is above another. @param {Point[]} ring @param {bigint} hash */
function findFollowing(ring, hash) {
  let low = 0
  let high = ring.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ring[middle].hash > hash) high = middle
    else low = middle + 1
  }
  return low
}
