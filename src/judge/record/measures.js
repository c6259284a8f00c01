import { computeLoadSeconds, isSpoiled, USES } from '../gates/gate.js'

/** The measures of a trial; the table of quantities defines each. Pure. */
/** @import { ProcessRecord, TrialRecord, Use } from '../../model/types.ts' */

const TAIL_REQUESTS = 10
/** The requests that a window needs for its p99: TAIL_REQUESTS beyond it, and a few more for those that are not verified. */
export const P99_REQUESTS = 1050

export const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 }

/**
 * Splits the records of one arm by round.
 * @param {TrialRecord[]} records
 * @param {number} count of rounds
 * @returns {TrialRecord[][]} by round, from the first on; []: the round has no records
 */
export function groupByRound(records, count) {
  return Array.from({ length: count }, (_, i) => records.filter(r => r.trial.round === i + 1))
}

/**
 * Counts the uses that a trial is good for.
 * @param {Pick<TrialRecord, 'outcome' | 'gates'>} record
 * @returns {number} -1: the trial failed
 */
export function countGoodUses(record) {
  return record.outcome === 'failed' ? -1 : USES.filter(use => !isSpoiled(record, use)).length
}

/**
 * Lists the trials of a round whose numbers count. If a trial was exclusive, that is the one that is good for the most uses (of
 * equals the first), since the rate of one trial says nothing beside the CPU time of another. Otherwise it is all of them, as
 * in older kits, which read each number from the first trial that had it.
 * @template {{ trial: Pick<TrialRecord['trial'], 'isExclusive'> }} T
 * @param {T[]} trials of one arm and round
 * @param {(trial: T) => number} countGood counts the uses that a trial is good for
 * @returns {T[]} []: there are no trials
 */
export function listCountedTrials(trials, countGood) {
  if (!trials.some(({ trial }) => trial.isExclusive)) return trials
  return trials.toSorted((a, b) => countGood(b) - countGood(a)).slice(0, 1)
}

/**
 * Finds the value of a round: that of the first trial that counts, has not failed, is good for a use and has a finite value.
 * @param {TrialRecord[]} trials of one arm and round
 * @param {Use} use that a trial must be good for
 * @param {(record: TrialRecord) => number | null} measure gives the value of a trial; null: it has none
 * @returns {number | null} null: no such trial has one
 */
export function findRoundValue(trials, use, measure) {
  const values = listCountedTrials(trials, countGoodUses)
    .filter(r => r.outcome !== 'failed' && !isSpoiled(r, use))
    .map(measure)
    .filter(value => value !== null && Number.isFinite(value))
  return values[0] ?? null
}

/**
 * Divides values round by round.
 * @param {(number | null)[]} numerators
 * @param {(number | null)[]} denominators
 * @returns {(number | null)[]} as many as there are numerators; null: one of the two values is null, missing or 0
 */
export function divideRounds(numerators, denominators) {
  return numerators.map((value, i) => {
    const denominator = denominators[i]
    return value && denominator ? value / denominator : null
  })
}

/**
 * Lists the sidecars of a record.
 * @param {Pick<TrialRecord, 'processes'>} record
 * @param {string | null} [service] null or absent: the sidecars of all services
 * @returns {ProcessRecord[]} []: there are none
 */
export function listSidecars({ processes }, service = null) {
  return processes.filter(p => p.role === 'sidecar' && (service === null || p.service === service))
}

/**
 * Lists the sidecars that a window measures.
 * @param {TrialRecord} record
 * @param {string | null} [service] null or absent: the sidecars of all services
 * @returns {ProcessRecord[]} []: there are none, or one ends in the window
 */
export function listMeasuredSidecars(record, service) {
  return record.trial.arm.conditions.ending ? [] : listSidecars(record, service)
}

/**
 * Computes the verified requests per second of the time in which the arm had load.
 * @param {Pick<TrialRecord, 'load' | 'window'>} record
 * @returns {number | null} null: there was no load, or no window
 */
export function computeRatePerSecond(record) {
  const seconds = computeLoadSeconds(record)
  return record.load && seconds ? record.load.verified / seconds : null
}

/**
 * Computes the cores that sidecars use under load. Those of arms in turns are scaled to their own turns.
 * @param {TrialRecord} record
 * @param {string | null} [service] whose sidecar; null or absent: all
 * @returns {number | null} null: there is no sidecar that counts (`listMeasuredSidecars`); NaN: the CPU of one could not be read
 */
export function computeCoresUnderLoad(record, service) {
  const cores = sumValues(listMeasuredSidecars(record, service), p => p.cpuCores)
  const { load, window } = record
  if (cores === null || !load?.interleaved || !window) return cores
  return (cores * window.seconds) / load.interleaved.seconds
}

/**
 * Finds the rate of a closed loop that the sidecar bound.
 * @param {TrialRecord} record
 * @returns {number | null} requests per second; null: something else bound it, it is no closed loop, or it has no window
 */
export function findCapacityPerSecond(record) {
  return record.boundBy === 'sidecar' && record.trial.arm.load.kind === 'closed' ? computeRatePerSecond(record) : null
}

/**
 * Reads the seconds from the start of a deployment to its first answer.
 * @param {Pick<TrialRecord, 'phasesSeconds' | 'trial' | 'rollout'>} record
 * @returns {number | null} null: a rollout, an arm without sidecars or in one deployment with others, or a trial that did not
 *   start
 */
export function readStartSeconds({ phasesSeconds, trial, rollout }) {
  if (!trial.arm.hasSidecars || trial.interleaving || rollout) return null
  return phasesSeconds.start ?? null
}

/**
 * Sums a value of processes.
 * @param {ProcessRecord[]} processes
 * @param {(p: ProcessRecord) => number | null} measure gives the value of a process; null: it could not be read
 * @returns {number | null} null: the value of one process is null, or there are no processes; NaN: one is NaN
 */
export function sumValues(processes, measure) {
  const values = processes.map(measure)
  if (values.length === 0 || values.includes(null)) return null
  return values.reduce((sum, value) => Number(sum) + Number(value), 0)
}

/**
 * Finds the largest value of processes.
 * @param {ProcessRecord[]} processes
 * @param {(p: ProcessRecord) => number | null} measure gives the value of a process; null is left out
 * @returns {number | null} null: no process has one; NaN: one is NaN
 */
export function findLargestValue(processes, measure) {
  const values = processes.flatMap(p => measure(p) ?? [])
  return values.length === 0 ? null : Math.max(...values)
}

/**
 * Computes the CPU time of processes in microseconds for each verified request of the window, those of a loud pair included.
 * @param {Pick<TrialRecord, 'load' | 'window'>} record
 * @param {ProcessRecord[]} processes
 * @returns {number | null} null: there was no load or no window, no request was verified, or there are no processes; NaN: the CPU
 *   of one could not be read
 */
export function computeCpuPerRequestMicros(record, processes) {
  const { load, window } = record
  const ratePerSecond = load && window ? (load.verified + (load.loud?.verified ?? 0)) / window.seconds : null
  const cores = sumValues(processes, p => p.cpuCores)
  return ratePerSecond && cores !== null ? (1e6 * cores) / ratePerSecond : null
}

/**
 * Finds a quantile of the response times in the recorded grid.
 * @param {Pick<TrialRecord, 'load'>} record
 * @param {number} quantile from 0 to 1
 * @returns {number | null} null: there was no load, its times were not measured, or the grid does not have this quantile
 */
export function findQuantileMs({ load }, quantile) {
  const entry = load?.distribution?.grid.find(([recorded]) => Math.abs(recorded - quantile) < 1e-9)
  return entry?.[1] ?? null
}

/**
 * Lists the sizes of answers to the request of a pipeline, in bytes.
 * @param {Pick<TrialRecord, 'answerBytes'>[]} records
 * @returns {number[]} ascending, each once; []: not recorded, as by older kits
 */
export function listAnswerBytes(records) {
  return [...new Set(records.flatMap(({ answerBytes }) => answerBytes ?? []))].sort((a, b) => a - b)
}

/**
 * Says whether at least TAIL_REQUESTS of the requests are beyond a quantile.
 * @param {number} requests
 * @param {number} quantile from 0 to 1
 * @returns {boolean} false also: the quantile is 1
 */
export function hasTail(requests, quantile) {
  return quantile < 1 && requests >= TAIL_REQUESTS / (1 - quantile)
}
