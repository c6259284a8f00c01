import { createRandom, shuffleItems } from '../lib/random.js'

/** The order in which interleaved arms get the load, a slice of time each. Pure. */

// Each round is drawn so many times, and the most even order is used.
const DRAWS = 8

/**
 * Counts the slices that cover warm-up, window and tail of a load, and one more.
 * @param {{ warmupSeconds: number, windowSeconds: number }} load
 * @param {{ sliceMs: number, tailMs: number }} options sliceMs: above 0
 * @returns {number}
 */
export function countSlices({ warmupSeconds, windowSeconds }, { sliceMs, tailMs }) {
  return Math.ceil((1000 * (warmupSeconds + windowSeconds) + tailMs) / sliceMs) + 1
}

/**
 * Orders the slices: every arm has one in each round, in a random order in which each arm follows each other about equally
 * often. From one round to the next an arm comes at most one place later, so it is idle for at most as many slices as there are
 * arms: sidecars close connections that are idle for longer.
 * @param {{ arms: number, slices: number, seed: number }} options arms: from one to ten, as a place is one digit
 * @returns {string} one digit for each slice, the place of its arm
 */
export function orderSlices({ arms, slices, seed }) {
  const random = createRandom(seed)
  const places = Array.from({ length: arms }, (_, i) => i)
  // How often each place (second index) has come directly after each other one (first index).
  const successions = places.map(() => places.map(() => 0))
  let round = shuffleItems(places, random)
  const order = [...round]
  const countRepeats = (/** @type {number[]} */ draw) =>
    draw.reduce((sum, place, i) => sum + successions[draw[i - 1] ?? order[order.length - 1]][place], 0)
  while (order.length < slices) {
    const draws = Array.from({ length: DRAWS }, () => reorderRound(round, random))
    round = draws.reduce((a, b) => (countRepeats(b) < countRepeats(a) ? b : a))
    for (const place of round) {
      successions[order[order.length - 1]][place]++
      order.push(place)
    }
  }
  return order.slice(0, slices).join('')
}

/**
 * Cuts a round into pieces at random, and puts the last arm of each piece first: no arm then comes more than one place later.
 * @param {number[]} round places of arms
 * @param {() => number} random returns a number in [0, 1)
 * @returns {number[]} a reordered copy
 */
function reorderRound(round, random) {
  /** @type {number[]} */
  const reordered = []
  let begin = 0
  for (let end = 1; end <= round.length; end++) {
    if (end < round.length && random() < 0.5) continue
    reordered.push(round[end - 1], ...round.slice(begin, end - 1))
    begin = end
  }
  return reordered
}
