import { createSearchResult, tryStep, withoutOutcomes, withRate } from './step.js'

/** The knee of an arm: the highest rate that holds. Pure. */
/** @import { SearchResult, SearchSpec } from '../../model/types.ts' */
/** @import { Search, SearchOptions } from './step.js' */

// The search goes up to RATE_MOST, and down to the first rate divided by DIVISOR_MOST.
const RATE_MOST = 1e6
const DIVISOR_MOST = 20

/**
 * Finds the highest rate that holds. It doubles the rate while it holds, or halves it until it holds, then narrows
 * the bracket at its geometric mean, down to the precision. It tries no rate above RATE_MOST, nor below 1/s or the first
 * rate divided by DIVISOR_MOST.
 * @param {SearchOptions & { spec: Extract<SearchSpec, { kind: 'knee' }> }} options
 * @returns {Search<SearchResult>} isFound: false: a rate could not be judged, none held, or none failed
 */
export function* findKnee({ template, spec }) {
  const steps = []
  /** @type {number | null} */
  let held = null
  /** @type {number | null} */
  let failed = null
  let rate = spec.startPerSecond
  while (rate >= Math.max(1, spec.startPerSecond / DIVISOR_MOST) && rate <= RATE_MOST) {
    const step = yield* tryStep(withRate(template, rate), rate)
    steps.push(withoutOutcomes(step))
    if (step.held === null)
      return createSearchResult({ template, looksFor: 'knee', held, failed, steps, why: step.why, isFound: false })
    if (step.held) held = rate
    else failed = rate
    if (held !== null && failed !== null && failed / held <= 1 + spec.precision) break
    rate = chooseNextRate({ rate, held, failed })
    if (rate === held || rate === failed) break
  }
  const why = steps.findLast(s => s.held === false)?.why ?? 'nothing failed'
  return createSearchResult({ template, looksFor: 'knee', held, failed, steps, why, isFound: failed !== null })
}

/**
 * Chooses the rate to try after one: twice as much while none failed, half as much while none held, else the geometric mean of both.
 * @param {{ rate: number, held: number | null, failed: number | null }} bracket rate: the last one
 * @returns {number} a whole number
 */
function chooseNextRate({ rate, held, failed }) {
  if (failed === null) return Math.round(rate * 2)
  return Math.round(held === null ? rate / 2 : Math.sqrt(held * failed))
}
