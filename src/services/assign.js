import { findShard, POINTS_OF_SHARD } from './ring.js'

/**
 * Algorithms that assign items to shards 0 to n - 1. Each starts from nothing: it does not know where an item was
 * before. Legacy hash, round-robin and bounded loads give the assignments of Argo CD 3.5; greedy minimum and weighted
 * ring hash are made by their description (Lee, Crenshaw and Dhamija, Argo CD Benchmarking, part 2, CNOE 2023). Pure.
 * @import { BalanceTrial } from '../model/types.ts' @import { Item } from './items.js'
 * @import { Point } from './ring.js'
 */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
const BOUND = 1.25

/** @typedef {(items: Item[], shards: number) => number[]} Assign items: by id; gives their shards */

/** @type {Record<BalanceTrial['algorithm'], Assign>} */
const ASSIGN = {
  'legacy-hash': (items, shards) => items.map(({ id }) => hashFnv(id) % shards),
  'round-robin': (items, shards) => items.map((_, rank) => rank % shards),
  'greedy-minimum': assignToLeast,
  'weighted-ring': assignByWeight,
  'bounded-loads': assignWithinBound,
}

/** @param {BalanceTrial['algorithm']} algorithm @param {{ items: Item[], shards: number }} options */
export function assignItems(algorithm, { items, shards }) {
  const sorted = items.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const assigned = ASSIGN[algorithm](sorted, shards)
  return new Map(sorted.map(({ id }, i) => [id, assigned[i]]))
}

/** Hashes by FNV-1a of 32 bits (Fowler, Noll and Vo, draft-eastlake-fnv). @param {string} text */
export function hashFnv(text) {
  let hash = FNV_OFFSET
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0
  return hash
}

/** Gives each item to the shard with the least load so far (list scheduling, Graham 1969). @type {Assign} */
function assignToLeast(items, shards) {
  const loads = Array(shards).fill(0)
  return items.map(({ size }) => {
    const shard = loads.indexOf(Math.min(...loads))
    loads[shard] += size
    return shard
  })
}

/**
 * The shard with the least load has all of its points, that with the most has none, others a share in between. The
 * source says that the least loaded shard has the highest weight, and gives no formula: this one is ours.
 * @type {Assign}
 */
function assignByWeight(items, shards) {
  const loads = Array(shards).fill(0)
  return items.map(({ id, size }) => {
    const [least, most] = [Math.min(...loads), Math.max(...loads)]
    const points = loads.map(load => (POINTS_OF_SHARD * (most - load)) / (most - least || 1))
    const accepts = (/** @type {Point} */ { shard, index }) => most === least || index < points[shard]
    const shard = findShard(id, { shards, accepts })
    loads[shard] += size
    return shard
  })
}

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, arXiv 1608.01350, 2016), as Argo CD has it:
 * the bound follows the load that is placed so far, in whole numbers, and a shard may exceed it by its last item.
 * @type {Assign}
 */
function assignWithinBound(items, shards) {
  const loads = Array(shards).fill(0)
  let total = 0
  return items.map(({ id, size }) => {
    const bound = Math.ceil(BOUND * Math.max(1, Math.floor((total + 1) / shards)))
    const shard = findShard(id, { shards, accepts: point => loads[point.shard] < bound })
    loads[shard] += size
    total += size
    return shard
  })
}
