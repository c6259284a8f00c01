import { BenchError } from '../../lib/errors.js'
import { findServiceLimits } from './before/services.js'
import { findSmallestLimits } from './before/size.js'
import { findKnee } from './knee.js'
import { findMemoryFloor } from './memory-floor.js'
import { judgeOutcome } from './outcome.js'
import { createServicesResults, findP99LimitMs, tryServiceLoads } from './services.js'
import { tryLoad } from './size.js'
import { createSizeResult } from './size-result.js'

/** Searches as generators: they yield the arm to try, and get its outcome. Pure: the same records give the same answer again. */
/** @import { Manifest, SearchResult, SearchSpec, SizeResult, TrialRecord } from '../../model/types.ts' */
/** @import { Tried } from './all-cpu.js' */
/** @import { Search, SearchOptions } from './step.js' */

/**
 * Starts the search of an arm.
 * @param {SearchOptions} options
 * @returns {Search<SearchResult | SizeResult | SizeResult[]>} it returns a SizeResult for `size`, a list of them for a file of
 *   services, and a SearchResult for a knee or a memory floor
 */
export function startSearch({ template, spec, cpus }) {
  if (spec.kind === 'knee') return findKnee({ template, spec, cpus })
  if (spec.kind === 'memory-floor') return findMemoryFloor({ template, spec, cpus })
  if (isAnsweredByTrials(spec)) return searchByTrials({ template, spec, cpus, tried: [] })
  // The searches of before/ answer runs that were recorded before all trials at limits had to confirm them.
  return spec.kind === 'services'
    ? findServiceLimits({ template, spec, cpus })
    : findSmallestLimits({ template, spec, cpus })
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
 * @returns {Search<SizeResult | SizeResult[]>} a list for a file of services
 */
function* searchByTrials({ template, spec, cpus, tried }) {
  const trials =
    spec.kind === 'size' ? tryLoad({ template, spec, cpus, tried }) : tryServiceLoads({ template, spec, cpus, tried })
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
 * its rate. A search for a memory floor may have no such limit.
 * @param {SearchSpec} spec
 * @param {TrialRecord} record
 * @returns {ReturnType<typeof judgeOutcome>}
 */
export function judgeSearchTrial(spec, record) {
  const p99Ms = spec.kind === 'services' ? findP99LimitMs(spec, record.trial.arm) : spec.p99Ms
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
 * Computes the results of a run's searches from its records, except those that were interrupted before they had any.
 * @param {{ manifest: Pick<Manifest, 'search' | 'arms' | 'machine'>, records: TrialRecord[] }} run
 * @returns {(SearchResult | SizeResult)[]} []: the run has no searches, or none has a result
 * @throws {BenchError} if a trial is of another arm than this version would try
 */
export function replaySearches({ manifest: { search: spec, arms, machine }, records }) {
  if (!spec) return []
  return arms.flatMap(template => {
    const recordsOfSearch = records.filter(({ trial }) => trial.searchOf === template.id)
    return replaySearch({ template, spec, cpus: Number(machine.cpus) }, recordsOfSearch) ?? []
  })
}
