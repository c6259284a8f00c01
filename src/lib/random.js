/**
 * Creates a generator of random numbers, the same for the same seed: mulberry32 by Tommy Ettinger (public domain).
 * @param {number} seed of which 32 bits count
 * @returns {() => number} returns the next number, in [0, 1)
 */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Makes a shuffled copy (Fisher and Yates).
 * @template T
 * @param {T[]} items
 * @param {() => number} random returns a number in [0, 1)
 * @returns {T[]}
 */
export function shuffleItems(items, random) {
  const result = [...items]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[result[i], result[j]] = [result[j], result[i]]
  }
  return result
}
