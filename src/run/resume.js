import { UsageError } from '../lib/errors.js'
import { readRun } from '../records/records.js'
import { findDifferences } from './reusable.js'

/**
 * A run that was cut short, to go on with.
 * @import { Manifest, Plan, TrialRecord } from '../model/types.ts'
 * @import { Setting } from './reusable.js'
 */

/** @typedef {ReturnType<typeof openInterrupted>} Interrupted */

/**
 * @param {string} folder of the run's results
 * @throws {import('../lib/errors.js').BenchError} when it holds no run
 */
export function openInterrupted(folder) {
  const { manifest, records, warnings } = readRun(folder)
  return { folder, manifest, warnings, records: new Map(records.map(record => [record.trial.id, record])) }
}

/**
 * That what is measured now can stand beside what the run has.
 * @param {{ interrupted: Interrupted, plan: Plan, now: Setting }} options
 * @throws {UsageError} with what differs
 */
export function assertSame({ interrupted: { folder, manifest }, plan, now }) {
  const planned = new Set([...plan.arms, ...plan.calibrations].map(arm => JSON.stringify(arm)))
  const differing = [
    ...findDifferences(manifest, now),
    ...(manifest.arms.every(arm => planned.has(JSON.stringify(arm))) ? [] : ['what the experiment measures']),
    ...(manifest.rounds === plan.rounds ? [] : ['rounds']),
  ]
  if (differing.length === 0) return
  throw new UsageError(
    `--resume ${folder}: what is missing cannot stand beside what it has, for ${differing.join(', ')} differ${differing.length > 1 ? '' : 's'} now: start a new run`,
  )
}

/**
 * The manifest of a run that goes on: that of its start, with when it went on.
 * @param {{ interrupted: Interrupted, known: Omit<Manifest, 'parity'> }} options known: as it is now
 * @returns {Manifest}
 */
export function continueManifest({ interrupted: { manifest, records }, known }) {
  const { run, command, thresholds, machine, parity } = manifest
  const resumed = [...(run.resumed ?? []), { at: known.run.startedAt, id: known.run.id, trials: records.size }]
  return { ...known, run: { ...run, resumed }, command, thresholds, machine, parity }
}
