import { createRandom, shuffle } from '../lib/random.js'

/** The order in which arms get the load. Pure. */

const TRIED = 8

/**
 * Counts the slices that cover a load, one more than its time takes.
 * @param {{ warmupSeconds: number, windowSeconds: number }} load @param {{ sliceMs: number, tailMs: number }} options
 */
export function countSlices({ warmupSeconds, windowSeconds }, { sliceMs, tailMs }) {
  return Math.ceil((1000 * (warmupSeconds + windowSeconds) + tailMs) / sliceMs) + 1
}

/**
 * Puts every arm once in each round of slices, in a random order in which each arm follows each other about equally often:
 * the place of the arm of each slice, a digit each. @param {{ arms: number, slices: number, seed: number }} options arms: at most ten
 */
export function orderSlices({ arms, slices, seed }) {
  const random = createRandom(seed)
  const places = Array.from({ length: arms }, (_, i) => i)
  const followed = places.map(() => places.map(() => 0))
  /** @type {number[]} */
  const order = []
  while (order.length < slices) {
    const tried = Array.from({ length: TRIED }, () => shuffle(places, random))
    const stepsOf = (/** @type {number[]} */ round) =>
      [order.at(-1) ?? round[0], ...round].slice(0, -1).map((before, i) => followed[before][round[i]])
    const worthOf = (/** @type {number[]} */ round) => stepsOf(round).reduce((sum, count) => sum + count, 0)
    const best = tried.reduce((a, b) => (worthOf(b) < worthOf(a) ? b : a))
    for (const place of best) {
      if (order.length > 0) followed[/** @type {number} */ (order.at(-1))][place]++
      order.push(place)
    }
  }
  return order.slice(0, slices).join('')
}
