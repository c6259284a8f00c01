import { z } from 'zod'

/** The algorithms of `balance`, which assign items to shards, and the form of a run. Pure. */

export const ALGORITHMS = /** @type {const} */ ({
  'legacy-hash': { label: 'legacy hash', does: "FNV-1a of the item's id (32 bits), modulo the number of shards" },
  'round-robin': { label: 'round-robin', does: "the item's rank by id, modulo the number of shards" },
  'greedy-minimum': {
    label: 'greedy minimum',
    does: 'items in the order of their ids, each to the shard with the least load so far',
  },
  'weighted-ring': {
    label: 'weighted ring hash',
    does: 'a hash ring of 1000 points a shard; for each item, the least loaded shard has all of its points, the most loaded none',
  },
  'bounded-loads': {
    label: 'bounded loads',
    does: 'a hash ring of 1000 points a shard; a shard that has reached 1.25 times the mean load so far is passed over',
  },
})

export const ALGORITHM_NAMES = /** @type {(keyof typeof ALGORITHMS)[]} */ (Object.keys(ALGORITHMS))

/** Sizes of items: all alike, or drawn uniformly from 1 to nearly twice the mean. */
export const SIZES = /** @type {const} */ (['equal', 'random'])

const isUnique = (/** @type {unknown[]} */ list) => new Set(list).size === list.length

/** The form of a run: the items, the shards, and a number of seeds, with each of which they are assigned once. */
export const balanceForm = z.object({
  items: z.int().min(1).max(10_000, 'at most 10000 items'),
  shards: z.int().min(2, 'at least 2 shards: one of them is removed').max(100, 'at most 100 shards'),
  seeds: z.int().min(1).max(1000, 'at most 1000 seeds'),
  sizes: z.array(z.enum(SIZES)).min(1).refine(isUnique, 'a kind of sizes stands twice in the list'),
  algorithms: z.array(z.enum(ALGORITHM_NAMES)).min(1).refine(isUnique, 'an algorithm stands twice in the list'),
})
