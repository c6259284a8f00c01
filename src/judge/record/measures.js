import { computeLoadSeconds, isSpoiled, USES } from '../gates/gate.js'

/**
 * Measures of a trial; the table of quantities defines each. Pure.
 * @import { QuantityRow } from './quantity-row.js'
 */
/** @import { ProcessRecord, TrialRecord, Use } from '../../model/types.ts' */

const TAIL_REQUESTS = 10
/** The requests that a window needs for its p99: ten beyond it, and a few more for those that are not verified. */
export const P99_REQUESTS = 1050

export const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 }

/**
 * Creates a function that makes rows of quantities with one form, each with a name, a label and a header, which is the name by default.
 * @param {Pick<QuantityRow, 'unit' | 'digits' | 'use'> & Partial<QuantityRow>} form
 */
export function createRowFactory(form) {
  return (/** @type {string} */ name, /** @type {string} */ label, header = name) => ({
    ...form,
    name,
    label,
    header,
    isSparse: true,
  })
}

/**
 * Splits records of one arm by round, in their order; []: a round without records.
 * @param {TrialRecord[]} records
 * @param {number} count
 */
export function splitRounds(records, count) {
  return Array.from({ length: count }, (_, i) => records.filter(r => r.trial.round === i + 1))
}

/** Counts the uses that a trial is good for; -1: it failed. @param {TrialRecord} record */
export function countGoodUses(record) {
  return record.outcome === 'failed' ? -1 : USES.filter(use => !isSpoiled(record, use)).length
}

/**
 * Lists the trials of a round whose numbers count. If a trial was exclusive, it is the one that is good for the most uses, and of
 * those the first: the rate of one trial says nothing beside the CPU time of another. Otherwise it is all of them, as in older
 * kits, which took each number from the first trial that had it.
 * @template {{ trial: Pick<TrialRecord['trial'], 'isExclusive'> }} T
 * @param {T[]} trials of one arm and round
 * @param {(trial: T) => number} countGood uses
 */
export function listCountedTrials(trials, countGood) {
  if (!trials.some(({ trial }) => trial.isExclusive)) return trials
  return trials.toSorted((a, b) => countGood(b) - countGood(a)).slice(0, 1)
}

/**
 * Finds the value of a round: that of the first trial that counts, is good for a use and has a finite one; null: none has.
 * @param {TrialRecord[]} trials
 * @param {Use} use
 * @param {(record: TrialRecord) => number | null} measure
 */
export function findRoundValue(trials, use, measure) {
  const values = listCountedTrials(trials, countGoodUses)
    .filter(r => r.outcome !== 'failed' && !isSpoiled(r, use))
    .map(measure)
    .filter(value => value !== null && Number.isFinite(value))
  return values[0] ?? null
}

/**
 * Divides round by round, as many as `over` has; null: one of the two is null, missing or 0.
 * @param {(number | null)[]} over
 * @param {(number | null)[]} under
 */
export function divideRounds(over, under) {
  return over.map((value, i) => (value && under[i] ? value / Number(under[i]) : null))
}

/**
 * Lists the sidecars of a record.
 * @param {TrialRecord} record
 * @param {string | null} [service] null: of all
 */
export function listSidecars({ processes }, service = null) {
  return processes.filter(p => p.role === 'sidecar' && (service === null || p.service === service))
}

/**
 * Lists the sidecars that a window measures; []: an arm one of whose sidecars ends in the window.
 * @param {TrialRecord} record
 * @param {string | null} [service]
 */
export function listMeasuredSidecars(record, service) {
  return record.trial.arm.conditions.ending ? [] : listSidecars(record, service)
}

/**
 * Computes verified requests per second under load; null: no load, or no window.
 * @param {TrialRecord} record
 */
export function ratePerSecond(record) {
  const seconds = computeLoadSeconds(record)
  return record.load && seconds ? record.load.verified / seconds : null
}

/**
 * Computes the cores of sidecars under load: those of arms in turns are scaled to their own turns.
 * @param {TrialRecord} record
 * @param {string | null} [service] whose sidecar; by default all
 * @returns {number | null} null: there is no sidecar that counts (`listMeasuredSidecars`), or the CPU of one was not read
 */
export function computeCoresUnderLoad(record, service) {
  const cores = sumValues(listMeasuredSidecars(record, service), p => p.cpuCores)
  const { load, window } = record
  return cores === null || !load?.interleaved || !window ? cores : (cores * window.seconds) / load.interleaved.seconds
}

/**
 * Finds the rate of a closed loop that the sidecar bound; null: something else did, or it is no closed loop.
 * @param {TrialRecord} record
 */
export function findCapacityPerSecond(record) {
  return record.boundBy === 'sidecar' && record.trial.arm.load.kind === 'closed' ? ratePerSecond(record) : null
}

/**
 * Reads the seconds from the start of a deployment to its first answer.
 * @param {TrialRecord} record
 * @returns {number | null} null: a rollout, an arm without sidecars or beside others in one deployment, or one that did not start
 */
export function startSeconds({ phasesSeconds, trial, rollout }) {
  return !trial.arm.hasSidecars || trial.interleaving || rollout ? null : (phasesSeconds.start ?? null)
}

/**
 * Sums a value of processes; null: one is null, or there are no processes.
 * @param {ProcessRecord[]} processes
 * @param {(p: ProcessRecord) => number | null} measure
 */
export function sumValues(processes, measure) {
  const values = processes.map(measure)
  return values.length === 0 || values.includes(null) ? null : values.reduce((sum, v) => Number(sum) + Number(v), 0)
}

/**
 * Finds the largest value that is not null; null: there is none.
 * @param {ProcessRecord[]} processes
 * @param {(p: ProcessRecord) => number | null} measure
 */
export function findLargestValue(processes, measure) {
  const values = processes.flatMap(p => measure(p) ?? [])
  return values.length === 0 ? null : Math.max(...values)
}

/**
 * Computes the CPU microseconds of processes for each verified request of the window, those of a loud pair included.
 * @param {TrialRecord} record
 * @param {ProcessRecord[]} processes
 * @returns {number | null} null: no request was verified, or the CPU of one process was not read
 */
export function computeCpuPerRequestMicros(record, processes) {
  const { load, window } = record
  const rate = load && window ? (load.verified + (load.loud?.verified ?? 0)) / window.seconds : null
  const cores = sumValues(processes, p => p.cpuCores)
  return rate && cores !== null ? (1e6 * cores) / rate : null
}

/**
 * Finds a quantile of the recorded grid; null: not recorded.
 * @param {TrialRecord} record
 * @param {number} q
 */
export function quantileMs({ load }, q) {
  return load?.distribution?.grid.find(([at]) => Math.abs(at - q) < 1e-9)?.[1] ?? null
}

/**
 * Lists the sizes of answers to the request of a pipeline, in bytes; []: not recorded, as by older kits.
 * @param {TrialRecord[]} records
 */
export function listAnswerBytes(records) {
  return [...new Set(records.flatMap(({ answerBytes }) => answerBytes ?? []))].sort((a, b) => a - b)
}

/**
 * Says whether at least ten of so many requests are beyond a quantile.
 * @param {number} requests
 * @param {number} q
 */
export function hasTail(requests, q) {
  return q < 1 && requests >= TAIL_REQUESTS / (1 - q)
}
