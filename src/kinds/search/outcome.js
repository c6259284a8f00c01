import { isSpoiled } from '../../judge/gates/gate.js'
import { RATE_LEAST } from '../../judge/gates.js'
import { findQuantileMs, listSidecars } from '../../judge/record/measures.js'

/**
 * The outcome of one trial of a search. Pure.
 * @import { ProcessRecord, TrialRecord } from '../../model/types.ts'
 * @typedef {Omit<ProcessRecord['memory'], 'idleRssBytes'>} SidecarMemory
 */

// Share of the rate below which a failure is clear, so that no second trial is needed.
const CLEARLY_LESS = 0.9
// Gates that fire because of the sidecar and its load.
const OWN_GATES = ['answers', 'errors', 'hung-users', 'overflow', 'oom', 'drops', 'steady', 'restart']

/**
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
 * @property {number} unchargedBytes resident file pages of a sidecar that its cgroup was not charged for
 */

/**
 * Judges whether a trial held the rate: without drops, with errors of at most 0.1 %, the p99 within the limit, and no
 * kill for memory. A trial that other programs disturbed, or that lacks a required p99, is not judged, unless the
 * sidecar used up its own CPU limit far below the rate: then it failed. Without a required p99, only gates that spoil
 * the memory count.
 * @param {TrialRecord} record
 * @param {number | null} p99Ms null: no p99 is required
 * @param {{ isOfLimits?: boolean }} [options] isOfLimits: a p99 that was met beside other programs counts, since they can only make
 *   requests longer. Only `judgeLimits` may count such trials: those that missed the p99 are not judged, so that what is left
 *   meets it more often than it would
 * @returns {Outcome}
 */
export function judgeOutcome(record, p99Ms, { isOfLimits = false } = {}) {
  const sidecars = listSidecars(record)
  const findMost = (/** @type {(p: typeof sidecars[0]) => number | null} */ measure) =>
    Math.max(0, ...sidecars.map(p => measure(p) ?? 0))
  const { boundBy, gates, load, window, trial } = record
  const rate = load && window ? load.verified / window.seconds : 0
  const ratePerSecond = trial.arm.load.ratePerSecond ?? 0
  const fields = {
    trial: trial.id,
    isNeedSeen:
      load !== null &&
      rate >= RATE_LEAST * ratePerSecond &&
      !isSpoiled(record, 'cpuPerRequest') &&
      !isSpoiled(record, 'memory') &&
      sidecars.length > 0 &&
      sidecars.every(p => p.cpuCores > 0 && Number(p.memory.peakBytes ?? p.memory.rssBytes) > 0),
    p99Ms: load && findQuantileMs(record, 0.99),
    coresMost: findMost(p => p.cpuCores),
    peakBytesMost: findMost(p => p.memory.peakBytes),
    rssBytesMost: findMost(p => p.memory.rssBytes),
    memory: findLargestMemory(sidecars),
    unchargedBytes: findMost(({ memory: { rssBytes, workingSetBytes } }) =>
      rssBytes === null || workingSetBytes === null ? null : rssBytes - workingSetBytes,
    ),
  }
  const end = (/** @type {boolean | null} */ held, /** @type {string} */ why) => {
    return { ...fields, survived: true, held, isClear: false, isDisturbed: false, why }
  }

  const killed =
    record.ended.find(e => e.isOutOfMemory && e.role === 'sidecar') ?? sidecars.find(p => (p.oomKills ?? 0) > 0)
  if (killed) {
    const why = `the kernel killed ${killed.service}'s ${killed.role} for memory`
    return { ...end(false, why), isClear: true, survived: false }
  }
  if (record.outcome === 'failed' || load === null || window === null) {
    const isSidecars = record.ended.length > 0 && record.ended.every(e => e.role === 'sidecar')
    if (isSidecars) return { ...end(false, record.reasons[0]), isClear: true, survived: false }
    return { ...end(null, record.reasons[0] ?? 'nothing was measured'), survived: null }
  }
  const isProxy = boundBy === 'sidecar' || boundBy === 'worker'
  if (isProxy && rate < CLEARLY_LESS * ratePerSecond)
    return { ...end(false, `${rate.toFixed(0)} requests/s were answered, bound by the ${boundBy}`), isClear: true }
  // The rate is above the knee, and nothing else is saturated: missing requests have failed, or were dropped.
  const isKneeOfProxy = isProxy || boundBy === 'rate' || boundBy === 'drops'
  const foreign = gates.filter(
    g => !OWN_GATES.includes(g.gate) && g.spoils.includes('latency') && !(g.gate === 'knee' && isKneeOfProxy),
  )
  // If the `neighbour` gate fired, the other gates are effects of it.
  const cause = foreign.find(g => g.gate === 'neighbour') ?? foreign[0]
  const missedByGate = gates.find(g => OWN_GATES.includes(g.gate) || g.gate === 'knee')
  const p99 = fields.p99Ms
  if (cause) {
    const isDisturbed = isOfLimits && p99Ms !== null && foreign.every(g => g.gate === 'neighbour')
    const isMet = !missedByGate && p99 !== null && p99 <= Number(p99Ms)
    if (isDisturbed && isMet)
      return { ...end(true, `held: p99 ${p99.toFixed(1)} ms, and ${cause.reason}`), isDisturbed }
    return { ...end(null, foreign[0].reason), isDisturbed, cause: cause.reason }
  }
  if (missedByGate && (p99Ms !== null || isSpoiled(record, 'memory'))) return end(false, missedByGate.reason)
  if (p99Ms !== null && p99 === null) return end(null, 'no p99 was measured')
  if (p99Ms !== null && Number(p99) > p99Ms) return end(false, `p99 ${p99?.toFixed(1)} ms, over ${p99Ms} ms`)
  return end(true, p99 === null ? 'held' : `held: p99 ${p99.toFixed(1)} ms`)
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
