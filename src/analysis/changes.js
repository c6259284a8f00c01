import { medianSorted } from 'simple-statistics'
import { sidecarsOf, sumCores, valueOfRound } from '../judge/measures.js'
import { summariseValues } from '../lib/stats.js'

/**
 * What configuration changes under load cost. Pure.
 * @import { SummaryArm, TrialRecord } from '../model/types.ts'
 */

/**
 * The median and longest time until a change took effect (of a trial in which one never did: no value), the requests
 * that failed a change, and the CPU time of all sidecars beyond that of the same arm without changes, a change (ms).
 * @param {{ rounds: TrialRecord[][], baseline: TrialRecord[][] | null }} arm records by round, of the arm and of the same
 *   without changes
 * @returns {SummaryArm['changes']} null: it has no changes
 */
export function summariseChanges({ rounds, baseline }) {
  const quantity = (/** @type {(record: TrialRecord, round: number) => number | null} */ measure) =>
    summariseValues(rounds.map((trials, i) => valueOfRound(trials, 'memory', record => measure(record, i))))
  if (!rounds.flat().some(r => (r.changes?.length ?? 0) > 0)) return null
  return {
    effectSeconds: quantity(r => medianOf(effectsOf(r))),
    effectMostSeconds: quantity(r => effectsOf(r)?.at(-1) ?? null),
    failedPerChange: quantity(r => (r.load && r.changes?.length ? r.load.failed / r.changes.length : null)),
    cpuMillisPerChange: quantity((r, i) => {
      const without = baseline && valueOfRound(baseline[i] ?? [], 'memory', coresOf)
      const { changes, window } = r
      if (without == null || !window || !changes?.length) return null
      return (1000 * (coresOf(r) - without) * window.seconds) / changes.length
    }),
  }
}

/**
 * @param {TrialRecord} record
 * @returns {number[] | null} rising, in seconds; null: one took no effect
 */
function effectsOf({ changes }) {
  const effects = (changes ?? []).map(c => c.effectSeconds)
  if (effects.length === 0 || effects.includes(null)) return null
  return effects.map(Number).sort((a, b) => a - b)
}

/** @param {number[] | null} sorted */
function medianOf(sorted) {
  return sorted && medianSorted(sorted)
}

/** @param {TrialRecord} record */
function coresOf(record) {
  return sumCores(sidecarsOf(record))
}
