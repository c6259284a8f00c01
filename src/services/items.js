import { createRandom } from '../lib/random.js'

/** Items with an id and a size, which are assigned to shards. Pure. */

/** @typedef {{ id: string, size: number }} Item size: what it adds to the load of its shard */

// The published runs had 10,000 applications on 100 clusters.
export const MEAN_SIZE = 100
// A UUID of version 4, as clusters have in Argo CD.
const UUID = 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'

/**
 * Draws items in the order of their ids, which are the same for both kinds of sizes.
 * @param {{ count: number, sizes: 'equal' | 'random', seed: number }} options @returns {Item[]}
 */
export function drawItems({ count, sizes, seed }) {
  const random = createRandom(seed)
  const below = (/** @type {number} */ limit) => Math.floor(random() * limit)
  const ids = Array.from({ length: count }, () =>
    UUID.replace(/[xy]/g, digit => (digit === 'x' ? below(16) : 8 + below(4)).toString(16)),
  )
  const sizeOf = () => (sizes === 'equal' ? MEAN_SIZE : 1 + below(2 * MEAN_SIZE - 1))
  return ids.map(id => ({ id, size: sizeOf() })).sort((a, b) => (a.id < b.id ? -1 : 1))
}
