import { createRandom, shuffle } from './random.js'

/**
 * Steps in a series: where the level of its values changes, and stays changed. E-divisive by the energy distance
 * (Matteson and James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data, Journal of the
 * American Statistical Association 109, 2014), as it is used on benchmarks by MongoDB (Daly et al., The Use of Change
 * Point Detection to Identify Software Performance Regressions, ICPE 2020) and Hunter (Fleming et al., ICPE 2023).
 */

/** The fewest values on either side of a step: fewer are outliers. */
export const SIDE_LEAST = 3
// Permutations that split as well as the series itself, where the test just holds.
const EXCEEDING_LEAST = 50
// The same values in another order have the same sum but for rounding.
const ROUNDING = 1e-9

/** @typedef {{ at: number, p: number }} Step at: the first value behind it; p: of its permutation test */

/**
 * Finds the steps of a series, in the order of time. The best split is held against those of the same segments in random
 * order; where it holds, its sides are segments, too. Exchangeable values have a step with a probability of alpha at most.
 * @param {number[]} values @param {{ alpha: number, seed?: number }} options
 */
export function findSteps(values, { alpha, seed = 1 }) {
  const random = createRandom(seed)
  /** @type {Step[]} */
  const steps = []
  let segments = [values]
  for (;;) {
    const splits = segments.map(findSplit)
    const best = Math.max(...splits.map(split => split.statistic))
    const p = best > 0 ? testSplit(segments, { best, alpha, random }) : 1
    if (p > alpha) return steps.sort((a, b) => a.at - b.at)
    const chosen = splits.findIndex(split => split.statistic === best)
    const { at } = splits[chosen]
    const before = segments.slice(0, chosen).reduce((sum, segment) => sum + segment.length, 0)
    steps.push({ at: before + at, p })
    segments = segments.flatMap((segment, i) => (i === chosen ? [segment.slice(0, at), segment.slice(at)] : [segment]))
  }
}

/**
 * Counts the fewest values that can show a step: of fewer, too many orders split as well as two levels do. Half of alpha,
 * so that the chance of the permutations does not decide. @param {number} alpha
 */
export function countNeeded(alpha) {
  let count = 2 * SIDE_LEAST
  while (2 / countHalves(count) > alpha / 2) count++
  return count
}

/** Counts the ways to choose half of some values. @param {number} count */
function countHalves(count) {
  let ways = 1
  for (let i = 1; i <= Math.floor(count / 2); i++) ways = (ways * (count - i + 1)) / i
  return ways
}

/**
 * Finds the split whose sides differ most, by the energy distance between them, weighted by their sizes. The side behind
 * it may end before the segment does: a level that comes and goes is two steps.
 * @param {number[]} values @returns {{ at: number, statistic: number }} statistic: 0 where the segment is too short
 */
export function findSplit(values) {
  const count = values.length
  // sums[i][j] is the sum of the distances of value i from the first j values.
  const sums = values.map((value, i) => {
    const own = new Float64Array(i + 1)
    for (let j = 0; j < i; j++) own[j + 1] = own[j] + Math.abs(value - values[j])
    return own
  })
  const best = { at: 0, statistic: 0 }
  let left = 0
  for (let at = 1; at <= count - SIDE_LEAST; at++) {
    left += sums[at - 1][at - 1]
    if (at < SIDE_LEAST) continue
    let [between, right] = [0, 0]
    for (let end = at + 1; end <= count; end++) {
      const behind = end - at
      between += sums[end - 1][at]
      right += sums[end - 1][end - 1] - sums[end - 1][at]
      if (behind < SIDE_LEAST) continue
      const within = left / (at * (at - 1)) + right / (behind * (behind - 1))
      const statistic = ((2 * at * behind) / end) * (between / (at * behind) - within)
      if (statistic > best.statistic) Object.assign(best, { at, statistic })
    }
  }
  return best
}

/** @param {number[][]} segments @param {{ best: number, alpha: number, random: () => number }} options */
function testSplit(segments, { best, alpha, random }) {
  const permutations = Math.ceil(EXCEEDING_LEAST / alpha) - 1
  let exceeding = 0
  for (let i = 0; i < permutations; i++) {
    const most = Math.max(...segments.map(segment => findSplit(shuffle(segment, random)).statistic))
    if (most >= best * (1 - ROUNDING)) exceeding++
    if ((1 + exceeding) / (1 + permutations) > alpha) return 1
  }
  return (1 + exceeding) / (1 + permutations)
}
