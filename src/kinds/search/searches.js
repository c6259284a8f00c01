import { BenchError } from '../../lib/errors.js'
import { findServices } from './before/services.js'
import { findSize } from './before/size.js'
import { findMemoryFloor } from './memory-floor.js'
import { judgeOutcome } from './outcome.js'
import { createServicesResults, findP99Limit, tryServices } from './services.js'
import { trySize } from './size.js'
import { createSizeResult } from './size-result.js'
import { createSearchResult, tryStep, withoutOutcomes, withRate } from './step.js'

/** Searches as generators: they yield the arm to try, and get its outcome. Pure: the same records give the same answer again. */
/** @import { Arm, Manifest, SearchResult, SearchSpec, SizeResult, TrialRecord } from '../../model/types.ts' */
/** @import { Tried } from './whole.js' */
/** @import { Search, SearchOptions } from './step.js' */

// The search for a knee goes up to RATES_MOST, and down to the first rate divided by RATES_BELOW_MOST.
const RATES_MOST = 1e6
const RATES_BELOW_MOST = 20

/**
 * Starts the search of an arm.
 * @param {SearchOptions} options
 * @returns {Search<SearchResult | SizeResult | SizeResult[]>} it returns a SizeResult for limits, and a list of them
 *   for a file of services
 */
export function startSearch({ template, spec, cpus }) {
  if (spec.kind === 'knee') return findKnee({ template, spec, cpus })
  if (spec.kind === 'memory-floor') return findMemoryFloor({ template, spec, cpus })
  if (isAnsweredByTrials(spec)) return searchByTrials({ template, spec, cpus, tried: [] })
  // The searches of before/ answer runs that were recorded before all trials at limits had to confirm them.
  return spec.kind === 'services' ? findServices({ template, spec, cpus }) : findSize({ template, spec, cpus })
}

/** @typedef {Extract<SearchSpec, { kind: 'size' | 'services' }> & { trialsToConfirm: number }} SizeSpec */
/**
 * Says whether a search for limits is of this version: its answer follows from its trials, however many there are.
 * @param {SearchSpec} spec
 * @returns {spec is SizeSpec}
 */
export const isAnsweredByTrials = spec =>
  (spec.kind === 'size' || spec.kind === 'services') && spec.trialsToConfirm !== undefined

/**
 * Yields the trials of a search for limits, and collects their outcomes.
 * @param {Pick<SearchOptions, 'template' | 'cpus'> & { spec: SizeSpec, tried: Tried[] }} options tried: the trials so
 *   far, to which it adds
 * @returns {Search<SizeResult | SizeResult[]>}
 */
function* searchByTrials({ template, spec, cpus, tried }) {
  const trials =
    spec.kind === 'size' ? trySize({ template, spec, cpus, tried }) : tryServices({ template, spec, cpus, tried })
  for (let step = trials.next(); !step.done; ) {
    const outcome = yield step.value
    tried.push({ arm: step.value, outcome })
    step = trials.next(outcome)
  }
  return createResultSoFar({ template, spec, cpus, tried, isOver: true })
}

/**
 * Creates the result of the trials so far.
 * @param {Pick<SearchOptions, 'template' | 'cpus'> & { spec: SizeSpec, tried: Tried[], isOver: boolean }} options
 * @returns {SizeResult | SizeResult[]} a list for a file of services
 */
export function createResultSoFar({ template, spec, cpus, tried, isOver }) {
  return spec.kind === 'size'
    ? createSizeResult({ template, cpus, p99Ms: spec.p99Ms, tried, isOver })
    : createServicesResults({ template, spec, cpus, tried, isOver })
}

/**
 * Judges a trial by the p99 limit of its search or, for a file of services, by the lowest limit of the services with
 * its rate.
 * @param {SearchSpec} spec
 * @param {TrialRecord} record
 * @returns {ReturnType<typeof judgeOutcome>}
 */
export function judgeSearchTrial(spec, record) {
  const p99Ms = spec.kind === 'services' ? findP99Limit(spec, record.trial.arm) : spec.p99Ms
  return judgeOutcome(record, p99Ms, { isOfLimits: isAnsweredByTrials(spec) })
}

/**
 * Computes the answer of a search from its records. Records after its end are ignored.
 * @param {SearchOptions} options
 * @param {TrialRecord[]} records in the order of their trials
 * @returns {SearchResult | SizeResult | SizeResult[] | null} null: the search was interrupted before it had an answer
 * @throws {BenchError} if a trial is of another arm than this version would try: the answer would not be that of the
 *   run
 */
export function replaySearch({ template, spec, cpus }, records) {
  const search = startSearch({ template, spec, cpus })
  /** @type {Tried[]} */
  const tried = []
  let step = search.next()
  for (const record of records) {
    if (step.done) break
    const { id } = record.trial.arm
    if (id !== step.value.id)
      throw new BenchError(
        `cannot compute the answer of the search from ${template.id} again: trial ${record.trial.id} tried ${id}, where this version of the kit tries ${step.value.id}; measure again, or take the version that made the run`,
      )
    const outcome = judgeSearchTrial(spec, record)
    tried.push({ arm: step.value, outcome })
    step = search.next(outcome)
  }
  if (step.done) return step.value
  return isAnsweredByTrials(spec) ? createResultSoFar({ template, spec, cpus, tried, isOver: false }) : null
}

/**
 * Computes the results of a run's searches, except those that were interrupted before they had any.
 * @param {{ manifest: Pick<Manifest, 'search' | 'arms' | 'machine'>, records: TrialRecord[] }} run
 * @returns {(SearchResult | SizeResult)[]} []: the run has no searches, or none has a result
 * @throws {BenchError} as `replaySearch`
 */
export function replaySearches({ manifest: { search, arms, machine }, records }) {
  if (!search) return []
  return arms.flatMap(template => {
    const recordsOfSearch = records.filter(({ trial }) => trial.searchOf === template.id)
    return replaySearch({ template, spec: search, cpus: Number(machine.cpus) }, recordsOfSearch) ?? []
  })
}

/**
 * Finds the highest rate that holds. It doubles the rate while it holds, or halves it until it holds, then narrows
 * the bracket at its geometric mean, down to the precision. It tries no rate above RATES_MOST, nor below 1/s or a
 * twentieth of the first rate.
 * @param {SearchOptions & { spec: Extract<SearchSpec, { kind: 'knee' }> }} options
 * @returns {Search<SearchResult>} isFound: false: a rate could not be judged, or none held, or none failed
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
      return createSearchResult({ template, looksFor: 'knee', held, failed, steps, why: step.why, isFound: false })
    if (step.held) held = rate
    else failed = rate
    if (held !== null && failed !== null && failed / held <= 1 + spec.precision) break
    rate = Math.round(failed === null ? rate * 2 : held === null ? rate / 2 : Math.sqrt(held * failed))
    if (rate === held || rate === failed) break
  }
  const why = steps.findLast(s => s.held === false)?.why ?? 'nothing failed'
  return createSearchResult({ template, looksFor: 'knee', held, failed, steps, why, isFound: failed !== null })
}
