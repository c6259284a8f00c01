import { hashTo64Bits } from '../lib/hash.js'
import { createRandom } from '../lib/random.js'

/**
 * Algorithms that assign items to shards 0 to n - 1. Each starts from nothing: it does not know the shard that an item had
 * before. Legacy hash, round-robin and bounded loads give the assignments of Argo CD 3.5; greedy minimum and weighted
 * ring hash are made by their description (Lee, Crenshaw and Dhamija, Argo CD Benchmarking, part 2, CNOE 2023). Pure, but for
 * a cache of hash rings.
 * @import { BalanceTrial } from '../model/types.ts'
 */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
// The load that a shard may have, as a multiple of the mean, as in Argo CD.
const LOAD_BOUND = 1.25

/** @typedef {(items: Item[], shards: number) => number[]} Assign items: sorted by id; returns the shard of each, in the same order */

/** @type {Record<BalanceTrial['algorithm'], Assign>} */
const ASSIGN = {
  'legacy-hash': (items, shards) => items.map(({ id }) => hashFnv(id) % shards),
  'round-robin': (items, shards) => items.map((_, rank) => rank % shards),
  'greedy-minimum': assignToLeast,
  'weighted-ring': assignByWeight,
  'bounded-loads': assignWithinBound,
}

/**
 * Assigns items to shards. The order of the items makes no difference.
 * @param {BalanceTrial['algorithm']} algorithm
 * @param {{ items: Item[], shards: number }} options items: each with an id of its own; shards: their number, at least 1
 * @returns {Map<string, number>} the shard, 0 to shards - 1, by the id of the item, sorted by id; empty: there are no items
 */
export function assignItems(algorithm, { items, shards }) {
  const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const shardOfEach = ASSIGN[algorithm](sorted, shards)
  return new Map(sorted.map(({ id }, i) => [id, shardOfEach[i]]))
}

/**
 * Computes the FNV-1a hash of a text's UTF-8 bytes (Fowler, Noll and Vo, draft-eastlake-fnv).
 * @param {string} text
 * @returns {number} unsigned, 32 bits
 */
export function hashFnv(text) {
  let hash = FNV_OFFSET
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0
  return hash
}

/**
 * Assigns each item to the shard with the least load so far, the first of equals (list scheduling, Graham 1969).
 * @type {Assign}
 */
function assignToLeast(items, shards) {
  const loads = Array(shards).fill(0)
  return items.map(({ size }) => {
    const shard = loads.indexOf(Math.min(...loads))
    loads[shard] += size
    return shard
  })
}

/**
 * Assigns items by a ring on which each shard is weighted by its load so far: the least loaded keeps all of its
 * points, the most loaded none, the others a share in between; at equal loads all keep theirs. The source gives the
 * least loaded shard the highest weight, and no formula: this one is the kit's.
 * @type {Assign}
 */
function assignByWeight(items, shards) {
  const loads = Array(shards).fill(0)
  return items.map(({ id, size }) => {
    const [least, most] = [Math.min(...loads), Math.max(...loads)]
    const keptPoints = loads.map(load => (POINTS_OF_SHARD * (most - load)) / (most - least || 1))
    const isKept = (/** @type {RingPoint} */ point) => most === least || point.index < keptPoints[point.shard]
    const shard = chooseShard(id, { shards, accepts: isKept })
    loads[shard] += size
    return shard
  })
}

/**
 * Assigns items by consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, arXiv 1608.01350,
 * 2016), as Argo CD does: the bound is LOAD_BOUND times the mean load so far (rounded down, at least 1), rounded up. A shard whose load
 * is below the bound takes the item, so that it may exceed the bound by its last item.
 * @type {Assign}
 */
function assignWithinBound(items, shards) {
  const loads = Array(shards).fill(0)
  let total = 0
  return items.map(({ id, size }) => {
    const meanLoad = Math.max(1, Math.floor((total + 1) / shards))
    const bound = Math.ceil(LOAD_BOUND * meanLoad)
    const shard = chooseShard(id, { shards, accepts: point => loads[point.shard] < bound })
    loads[shard] += size
    total += size
    return shard
  })
}

/** The number of points of each shard on the hash ring, as in Argo CD. */
const POINTS_OF_SHARD = 1000

/** @typedef {{ hash: bigint, shard: number, index: number }} RingPoint index: among the points of its shard */

/** The cache of rings by the number of shards: creating one takes longer than using it. @type {Map<number, RingPoint[]>} */
const rings = new Map()

/**
 * Chooses the shard of the first accepted point after the hash of an id. The ring is closed: the first point follows
 * the last. It stays in memory for the next call with as many shards.
 * @param {string} id
 * @param {{ shards: number, accepts: (point: RingPoint) => boolean }} options shards: their number; accepts: says whether
 *   a point may be chosen
 * @returns {number} the shard
 * @throws {RangeError} if no point is accepted, or there are no shards
 */
export function chooseShard(id, { shards, accepts }) {
  const ring = findOrCreateRing(shards)
  const start = findNextPoint(ring, hashTo64Bits(id))
  for (let step = 0; step < ring.length; step++) {
    const point = ring[(start + step) % ring.length]
    if (accepts(point)) return point.shard
  }
  throw new RangeError(`no point of ${shards} shards is accepted for the item ${id}`)
}

/**
 * Finds the hash ring for a number of shards in the cache, or creates and caches it.
 * @param {number} shards
 * @returns the points of the ring, sorted by hash
 */
function findOrCreateRing(shards) {
  const cached = rings.get(shards)
  if (cached) return cached
  const ring = createRing(shards)
  rings.set(shards, ring)
  return ring
}

/**
 * Creates a ring. A point's name is the shard's followed by its index, as in Argo CD: from 12 shards on, two points may
 * have one name (shard 1, index 15, and shard 11, index 5), and the higher shard gets the point.
 * @param {number} shards their number
 * @returns {RingPoint[]} sorted by hash
 */
function createRing(shards) {
  /** @type {Map<bigint, RingPoint>} */
  const points = new Map()
  for (let shard = 0; shard < shards; shard++) {
    for (let index = 0; index < POINTS_OF_SHARD; index++) {
      const hash = hashTo64Bits(`${shard}${index}`)
      points.set(hash, { hash, shard, index })
    }
  }
  return [...points.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1))
}

/**
 * Finds the first point of a ring whose hash is above the given one, by binary search.
 * @param {RingPoint[]} ring sorted by hash
 * @param {bigint} hash
 * @returns {number} its index; the length of the ring: there is none
 */
function findNextPoint(ring, hash) {
  let low = 0
  let high = ring.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ring[middle].hash > hash) high = middle
    else low = middle + 1
  }
  return low
}

/** @typedef {{ id: string, size: number }} Item size: what it adds to the load of its shard */

/** The mean size of an item: the published runs had 10,000 applications on 100 clusters. */
export const MEAN_SIZE = 100
// A UUID of version 4, as clusters have in Argo CD.
const UUID = 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'

/**
 * Draws random items. A seed gives the same ids for both kinds of sizes.
 * @param {{ count: number, sizes: 'equal' | 'random', seed: number }} options sizes: `equal`: all are MEAN_SIZE;
 *   `random`: whole numbers, uniform from 1, with that mean
 * @returns {Item[]} sorted by id; []: `count` is 0
 */
export function drawItems({ count, sizes, seed }) {
  const random = createRandom(seed)
  const drawBelow = (/** @type {number} */ limit) => Math.floor(random() * limit)
  const ids = Array.from({ length: count }, () =>
    UUID.replace(/[xy]/g, digit => (digit === 'x' ? drawBelow(16) : 8 + drawBelow(4)).toString(16)),
  )
  const drawSize = () => (sizes === 'equal' ? MEAN_SIZE : 1 + drawBelow(2 * MEAN_SIZE - 1))
  return ids.map(id => ({ id, size: drawSize() })).sort((a, b) => (a.id < b.id ? -1 : 1))
}
