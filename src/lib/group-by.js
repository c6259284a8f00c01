/**
 * Groups items by key, in their order, as Map.groupBy does from Node 21 on.
 * @template Item, Key
 * @param {Item[]} items
 * @param {(item: Item) => Key} keyOf
 * @returns {Map<Key, Item[]>} keys in the order of their first items
 */
export function groupBy(items, keyOf) {
  /** @type {Map<Key, Item[]>} */
  const groups = new Map()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/**
 * Keeps the last item of each key, at the place of the first.
 * @template Item
 * @param {Item[]} items
 * @param {(item: Item) => unknown} keyOf
 * @returns a copy without the other items
 */
export function uniqueBy(items, keyOf) {
  return [...new Map(items.map(item => [keyOf(item), item])).values()]
}
