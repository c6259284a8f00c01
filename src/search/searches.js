import { findKnee } from './knee.js'
import { findMemoryFloor } from './memory-floor.js'
import { judgeOutcome } from './outcome.js'
import { findSize } from './size.js'

/**
 * Searches for a limit, trial after trial: each is a generator that yields the arm to try next and is given how
 * that went. They are pure, so that the same records give the same answer again.
 * @import { Arm, SearchResult, SizeResult, TrialRecord } from '../model/types.ts'
 * @import { Outcome } from './outcome.js'
 * @import { SearchOptions } from './step.js'
 */

/**
 * @param {SearchOptions} options
 * @returns {Generator<Arm, SearchResult | SizeResult, Outcome>}
 */
export function startSearch({ template, spec, cpus }) {
  if (spec.kind === 'knee') return findKnee({ template, spec, cpus })
  if (spec.kind === 'memory-floor') return findMemoryFloor({ template, spec, cpus })
  return findSize({ template, spec, cpus })
}

/**
 * The answer of a search, from its records in their order.
 * @param {SearchOptions} options
 * @param {TrialRecord[]} records
 * @returns {SearchResult | SizeResult | null} null: the search was cut short
 */
export function replaySearch({ template, spec, cpus }, records) {
  const search = startSearch({ template, spec, cpus })
  let step = search.next()
  for (const record of records) {
    if (step.done) break
    step = search.next(judgeOutcome(record, spec.p99Ms))
  }
  return step.done ? step.value : null
}

/**
 * Whether a trial belongs to the search that starts from an arm.
 * @param {Pick<Arm, 'id'>} template
 * @param {Pick<TrialRecord, 'trial'>} record
 */
export function isOfSearch(template, { trial }) {
  return trial.searchOf === template.id
}
