import { describeSearch, tryStep, withoutOutcomes, withRate } from './step.js'

/**
 * @import { Arm, SearchResult, SearchSpec } from '../../model/types.ts'
 * @import { Outcome } from './outcome.js'
 * @import { SearchOptions } from './step.js'
 */

const RATES_MOST = 1e6
const RATES_BELOW_MOST = 20

/**
 * The highest rate that holds: twice as high while it holds, then by halves down to 5 %.
 * @param {SearchOptions & { spec: Extract<SearchSpec, { kind: 'knee' }> }} options
 * @returns {Generator<Arm, SearchResult, Outcome>}
 */
export function* findKnee({ template, spec }) {
  const steps = []
  let held = null
  let failed = null
  let rate = spec.startPerSecond
  while (rate >= Math.max(1, spec.startPerSecond / RATES_BELOW_MOST) && rate <= RATES_MOST) {
    const step = yield* tryStep(withRate(template, rate), rate)
    steps.push(withoutOutcomes(step))
    if (step.held === null)
      return describeSearch({ template, looksFor: 'knee', held, failed, steps, why: step.why, isFound: false })
    if (step.held) held = rate
    else failed = rate
    if (held !== null && failed !== null && failed / held <= 1 + spec.precision) break
    rate = Math.round(failed === null ? rate * 2 : held === null ? rate / 2 : Math.sqrt(held * failed))
    if (rate === held || rate === failed) break
  }
  const why = steps.findLast(s => s.held === false)?.why ?? 'nothing failed'
  return describeSearch({ template, looksFor: 'knee', held, failed, steps, why, isFound: failed !== null })
}
