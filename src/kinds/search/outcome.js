import { isSpoiled } from '../../judge/gates/gate.js'
import { RATE_LEAST } from '../../judge/gates.js'
import { computeRatePerSecond, findQuantileMs, listSidecars } from '../../judge/record/measures.js'

/**
 * The outcome of one trial of a search. Pure.
 * @import { ProcessRecord, TrialRecord } from '../../model/types.ts'
 * @typedef {Omit<ProcessRecord['memory'], 'idleRssBytes'>} SidecarMemory
 */

// Share of the rate below which a failure is clear, so that no second trial is needed.
const CLEARLY_LESS = 0.9
// Gates that fire because of the sidecar and its load.
const SIDECAR_GATES = ['answers', 'errors', 'hung-users', 'overflow', 'oom', 'drops', 'steady', 'restart']

/**
 * The judgement of a trial, and what its sidecars took.
 * @typedef {object} Outcome
 * @property {string} trial its id
 * @property {boolean | null} held null: something else than the sidecar spoiled it
 * @property {boolean | null} survived nothing was killed for memory; null: not known
 * @property {boolean} isClear no second trial is needed
 * @property {boolean} isDisturbed of limits: other programs used the CPUs, and nothing else spoiled the trial
 * @property {string} why the reason, for reports
 * @property {string} [cause] of a trial that is not judged; `why` may be only an effect of it
 * @property {boolean} isNeedSeen its CPU and memory were read, and are what the whole rate takes
 * @property {number | null} p99Ms null: too few requests, or none
 * @property {number} coresMost CPU of the busiest sidecar
 * @property {number} peakBytesMost peak of the sidecar with the most; 0: not read
 * @property {number} rssBytesMost resident memory of the sidecar with the most; 0: not read
 * @property {SidecarMemory} [memory] of the largest sidecar
 * @property {number} unchargedBytes resident file pages that its cgroup was not charged for, of the sidecar with the most; 0: not read
 */

/** @typedef {{ measuredMs: number | null, limitMs: number | null }} P99 measuredMs: null: not measured; limitMs: null: none is required */
/** The part of an outcome that judges the trial. @typedef {Omit<Outcome, keyof ReturnType<typeof computeMeasures>>} Verdict */

/**
 * Judges whether a trial held the rate: without drops, with no more errors than the gate `errors` allows, the p99 within the limit,
 * and no kill for memory. A trial whose latency something else spoiled, or that lacks a required p99, is not judged, unless a
 * sidecar filled its CPU far below the rate: then it failed. Without a required p99, a gate of the sidecar counts only if the
 * memory is spoiled.
 * @param {TrialRecord} record
 * @param {number | null} p99Ms null: no p99 is required
 * @param {{ isOfLimits?: boolean }} [options] isOfLimits: a p99 that was met beside other programs counts, since they can only make
 *   requests longer. Only `judgeLimits` may count such trials: those that missed the p99 are not judged, so that what is left
 *   meets it more often than it would
 * @returns {Outcome}
 */
export function judgeOutcome(record, p99Ms, { isOfLimits = false } = {}) {
  const measures = computeMeasures(record)
  const p99 = { measuredMs: measures.p99Ms, limitMs: p99Ms }
  const verdict =
    judgeFailedTrial(record) ??
    judgeSaturation(record) ??
    judgeForeignGates(record, { p99, isOfLimits }) ??
    judgeLoad(record, p99)
  return { ...measures, ...verdict }
}

/**
 * Computes the numbers of an outcome, which do not depend on the verdict. Those of sidecars are 0 if they were not read.
 * @param {TrialRecord} record
 */
function computeMeasures(record) {
  const sidecars = listSidecars(record)
  const findMost = (/** @type {(p: ProcessRecord) => number | null} */ measure) =>
    Math.max(0, ...sidecars.map(p => measure(p) ?? 0))
  const rate = computeRatePerSecond(record)
  const hasWholeRate = rate !== null && rate >= RATE_LEAST * readPlannedRate(record)
  const isUnspoiled = !isSpoiled(record, 'cpuPerRequest') && !isSpoiled(record, 'memory')
  const isRead = (/** @type {ProcessRecord} */ p) =>
    p.cpuCores > 0 && Number(p.memory.peakBytes ?? p.memory.rssBytes) > 0
  return {
    trial: record.trial.id,
    isNeedSeen: hasWholeRate && isUnspoiled && sidecars.length > 0 && sidecars.every(isRead),
    p99Ms: findQuantileMs(record, 0.99),
    coresMost: findMost(p => p.cpuCores),
    peakBytesMost: findMost(p => p.memory.peakBytes),
    rssBytesMost: findMost(p => p.memory.rssBytes),
    memory: findLargestMemory(sidecars),
    unchargedBytes: findMost(({ memory: { rssBytes, workingSetBytes } }) =>
      rssBytes === null || workingSetBytes === null ? null : rssBytes - workingSetBytes,
    ),
  }
}

/**
 * Creates a verdict. By default nothing was killed for memory, a second trial is needed, and no other program interfered.
 * @param {boolean | null} held
 * @param {string} why
 * @param {Partial<Verdict>} [fields] in place of the default ones
 * @returns {Verdict}
 */
function createVerdict(held, why, fields) {
  return { survived: true, held, isClear: false, isDisturbed: false, why, ...fields }
}

/**
 * Judges a trial in which the kernel killed a sidecar for memory, or that failed or has no load or no window.
 * @param {TrialRecord} record
 * @returns {Verdict | null} held: null: nothing has ended, or not only sidecars; null: none of these cases
 */
function judgeFailedTrial(record) {
  const { ended, outcome, load, window, reasons } = record
  const killed =
    ended.find(e => e.isOutOfMemory && e.role === 'sidecar') ?? listSidecars(record).find(p => (p.oomKills ?? 0) > 0)
  if (killed) {
    const why = `the kernel killed ${killed.service}'s ${killed.role} for memory`
    return createVerdict(false, why, { isClear: true, survived: false })
  }
  if (outcome !== 'failed' && load !== null && window !== null) return null
  const hasOnlySidecarEndings = ended.length > 0 && ended.every(e => e.role === 'sidecar')
  if (hasOnlySidecarEndings) return createVerdict(false, reasons[0], { isClear: true, survived: false })
  return createVerdict(null, reasons[0] ?? 'nothing was measured', { survived: null })
}

/**
 * Judges a trial whose sidecar was saturated far below the rate: it failed, whatever else happened.
 * @param {TrialRecord} record
 * @returns {Verdict | null} null: the sidecar was not saturated, or the rate was nearly met
 */
function judgeSaturation(record) {
  const rate = computeRatePerSecond(record) ?? 0
  const isFarBelow = rate < CLEARLY_LESS * readPlannedRate(record)
  if (!isBoundByProxy(record) || !isFarBelow) return null
  const why = `${rate.toFixed(0)} requests/s were answered, bound by the ${record.boundBy}`
  return createVerdict(false, why, { isClear: true })
}

/**
 * Judges a trial whose latency something other than the sidecar spoiled.
 * @param {TrialRecord} record
 * @param {{ p99: P99, isOfLimits: boolean }} options
 * @returns {Verdict | null} held: true if, with `isOfLimits`, only other programs interfered and the p99 was met, else null; the
 *   verdict is null: nothing but the sidecar spoiled it
 */
function judgeForeignGates(record, { p99: { measuredMs, limitMs }, isOfLimits }) {
  const foreign = listForeignGates(record)
  if (foreign.length === 0) return null
  // If the `neighbour` gate fired, the other gates are effects of it.
  const cause = foreign.find(g => g.gate === 'neighbour') ?? foreign[0]
  const isDisturbed = isOfLimits && limitMs !== null && foreign.every(g => g.gate === 'neighbour')
  const isMet = !findSidecarGate(record) && measuredMs !== null && measuredMs <= Number(limitMs)
  if (isDisturbed && isMet)
    return createVerdict(true, `held: p99 ${measuredMs.toFixed(1)} ms, and ${cause.reason}`, { isDisturbed })
  return createVerdict(null, foreign[0].reason, { isDisturbed, cause: cause.reason })
}

/**
 * Judges a trial that nothing but the sidecar spoiled, by its gates and its p99.
 * @param {TrialRecord} record
 * @param {P99} p99 if none is required, a gate counts only if the memory is spoiled
 * @returns {Verdict} held: null: a p99 is required, and was not measured
 */
function judgeLoad(record, { measuredMs, limitMs }) {
  const missedByGate = findSidecarGate(record)
  if (missedByGate && (limitMs !== null || isSpoiled(record, 'memory')))
    return createVerdict(false, missedByGate.reason)
  if (limitMs !== null && measuredMs === null) return createVerdict(null, 'no p99 was measured')
  if (limitMs !== null && Number(measuredMs) > limitMs)
    return createVerdict(false, `p99 ${measuredMs?.toFixed(1)} ms, over ${limitMs} ms`)
  return createVerdict(true, measuredMs === null ? 'held' : `held: p99 ${measuredMs.toFixed(1)} ms`)
}

/**
 * Finds the first gate that fired because of the sidecar and its load.
 * @param {TrialRecord} record
 * @returns {TrialRecord['gates'][0] | undefined} undefined: none fired
 */
const findSidecarGate = ({ gates }) => gates.find(g => SIDECAR_GATES.includes(g.gate) || g.gate === 'knee')

/**
 * Lists the gates that spoiled the latency because of something other than the sidecar and its load.
 * @param {TrialRecord} record
 * @returns {TrialRecord['gates']} []: none did
 */
function listForeignGates(record) {
  const { gates, boundBy } = record
  // The rate is above the knee, and nothing else is saturated: missing requests have failed, or were dropped.
  const isKneeOfProxy = isBoundByProxy(record) || boundBy === 'rate' || boundBy === 'drops'
  const isOfProxy = (/** @type {TrialRecord['gates'][0]} */ { gate }) =>
    SIDECAR_GATES.includes(gate) || (gate === 'knee' && isKneeOfProxy)
  return gates.filter(g => g.spoils.includes('latency') && !isOfProxy(g))
}

/** Says whether the CPU of a sidecar, or of one of its workers, bound a trial. @param {TrialRecord} record */
const isBoundByProxy = ({ boundBy }) => boundBy === 'sidecar' || boundBy === 'worker'

/**
 * Reads the rate that a trial was to have.
 * @param {TrialRecord} record
 * @returns {number} requests per second; 0: it has none
 */
const readPlannedRate = ({ trial }) => trial.arm.load.ratePerSecond ?? 0

/**
 * Renders the state of a trial by its outcome's `held`.
 * @param {Outcome['held']} held
 * @returns {'met' | 'missed' | 'not judged'}
 */
export function renderTrialState(held) {
  if (held === null) return 'not judged'
  return held ? 'met' : 'missed'
}

/**
 * Finds the memory of the largest sidecar.
 * @param {ProcessRecord[]} sidecars
 * @returns {SidecarMemory | undefined} undefined: there is no sidecar
 */
function findLargestMemory(sidecars) {
  const findPeakBytes = (/** @type {ProcessRecord} */ { memory }) =>
    Math.max(memory.peakBytes ?? 0, memory.rssBytes ?? 0)
  const largest = sidecars.toSorted((a, b) => findPeakBytes(b) - findPeakBytes(a)).at(0)
  if (!largest) return undefined
  const { idleRssBytes, ...memory } = largest.memory
  return memory
}
