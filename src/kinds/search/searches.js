import { BenchError } from '../../lib/errors.js'
import { findMemoryFloor } from './memory-floor.js'
import { judgeOutcome } from './outcome.js'
import { findServices, p99LimitOf } from './services.js'
import { findSize, startSize } from './size.js'
import { describeSearch, tryStep, withoutOutcomes, withRate } from './step.js'

/** Searches as generators, which get the outcome of each arm that they yield. Pure: records give the same again. */
/** @import { Arm, Manifest, SearchResult, SearchSpec, SizeResult, TrialRecord } from '../../model/types.ts' */
/** @import { Search, SearchOptions } from './step.js' */

const RATES_MOST = 1e6
const RATES_BELOW_MOST = 20

/** @param {SearchOptions} options @returns {Search<SearchResult | SizeResult | SizeResult[]>} */
export function startSearch({ template, spec, cpus }) {
  if (spec.kind === 'knee') return findKnee({ template, spec, cpus })
  if (spec.kind === 'memory-floor') return findMemoryFloor({ template, spec, cpus })
  if (spec.kind === 'services') return findServices({ template, spec, cpus })
  return findSize({ template, spec, cpus })
}

/** Makes the first part of a search; null: its answer comes last. @param {SearchOptions} options */
export function startFirst({ template, spec, cpus }) {
  return spec.kind === 'size' ? startSize({ template, cpus }) : null
}

/** Judges a trial of a search. @param {SearchSpec} spec @param {TrialRecord} record */
export function judgeTrial(spec, record) {
  return judgeOutcome(record, spec.kind === 'services' ? p99LimitOf(spec, record.trial.arm) : spec.p99Ms)
}

/**
 * Computes the answer of a search from its records in order; null: it was cut short. Throws BenchError for trials of
 * other arms: from trials of another version this search would come to an answer that it never gave.
 * @param {SearchOptions} options @param {TrialRecord[]} records
 */
export function replaySearch({ template, spec, cpus }, records) {
  const search = startSearch({ template, spec, cpus })
  let step = search.next()
  for (const record of records) {
    if (step.done) break
    const tried = record.trial.arm.id
    if (tried !== step.value.id)
      throw new BenchError(
        `cannot compute the answer of the search from ${template.id} again: trial ${record.trial.id} tried ${tried}, where this version of the kit tries ${step.value.id}; measure again, or take the version that made the run`,
      )
    step = search.next(judgeTrial(spec, record))
  }
  return step.done ? step.value : null
}

/**
 * Computes the results of a run's searches, without those that were cut short; throws as replaySearch.
 * @param {{ manifest: Pick<Manifest, 'search' | 'arms' | 'machine'>, records: TrialRecord[] }} run
 */
export function replaySearches({ manifest: { search, arms, machine }, records }) {
  if (!search) return []
  return arms.flatMap(template => {
    const own = records.filter(({ trial }) => trial.searchOf === template.id)
    return replaySearch({ template, spec: search, cpus: Number(machine.cpus) }, own) ?? []
  })
}

/**
 * Finds the highest rate that holds: twice as high while it holds, then by halves down to 5 %.
 * @param {SearchOptions & { spec: Extract<SearchSpec, { kind: 'knee' }> }} options @returns {Search<SearchResult>}
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
