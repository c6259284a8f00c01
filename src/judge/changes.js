import { medianSorted } from 'simple-statistics'
import { sidecarsOf, sumOf, valueOfRound } from './measures.js'

/**
 * What changes of configuration under load cost. Pure.
 * @import { TrialRecord } from '../model/types.ts'
 */

/** @param {TrialRecord} record */
export function medianEffectMs(record) {
  const effects = listEffectsMs(record)
  return effects && medianSorted(effects)
}

/** @param {TrialRecord} record */
export function longestEffectMs(record) {
  return listEffectsMs(record)?.at(-1) ?? null
}

/** @param {TrialRecord} record */
export function failedPerChange({ load, changes }) {
  return load && changes?.length ? load.failed / changes.length : null
}

/**
 * The CPU time of all sidecars beyond that of the same round without changes, over the changes (ms).
 * @param {TrialRecord} record
 * @param {TrialRecord[]} unchanged of the same round
 */
export function cpuMillisPerChange(record, unchanged) {
  const { changes, window } = record
  const [cores, without] = [coresOf(record), valueOfRound(unchanged, 'memory', coresOf)]
  if (cores === null || without === null || !window || !changes?.length) return null
  return (1000 * (cores - without) * window.seconds) / changes.length
}

/**
 * The times until changes took effect, rising.
 * @param {TrialRecord} record
 * @returns {number[] | null} null without changes, or where one took no effect
 */
function listEffectsMs({ changes }) {
  const effects = (changes ?? []).map(c => c.effectSeconds)
  if (effects.length === 0 || effects.includes(null)) return null
  return effects.map(seconds => 1000 * Number(seconds)).sort((a, b) => a - b)
}

/** @param {TrialRecord} record */
function coresOf(record) {
  return sumOf(sidecarsOf(record), p => p.cpuCores)
}
