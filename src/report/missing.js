import { findSections } from '../kinds/sections.js'
import { groupBy } from '../lib/group-by.js'
import { findResult } from '../model/results.js'

/**
 * Sentences on the trials and planes that a run lacks. Pure.
 * @import { Manifest, Summary, TrialRecord } from '../model/types.ts'
 */

const CUT_SHORT = 'This run was cut short, or still goes on'

/**
 * Renders whether a run was interrupted, is still in progress, or has failed trials. A run with kinds that have no fixed
 * number of trials, such as a search, names only what has not ended.
 * @param {{ manifest: Manifest, records: TrialRecord[], summary: Pick<Summary, 'results'> }} run
 * @returns {string[]} sentences; [] if it is complete
 * @throws {BenchError} if an arm is of a kind that this version of the kit does not have
 */
export function renderUnfinishedRun({ manifest, records, summary }) {
  const kinds = [...new Set(manifest.arms.map(findSections))].filter(({ renderUnfinished }) => renderUnfinished)
  if (kinds.length === 0) return renderUnfinishedTrials({ manifest, records })
  return kinds.flatMap(({ kind, renderUnfinished }) => {
    const unfinished = renderUnfinished?.({ manifest, records, result: findResult(summary, kind) }) ?? null
    return unfinished === null ? [] : [`${CUT_SHORT}: ${unfinished}.`]
  })
}

/**
 * Renders how many repeats of an interrupted run ended; of other runs, how many of the planned trials are recorded if some are
 * missing or the precision is not reached, else how many trials failed.
 * @param {{ manifest: Manifest, records: TrialRecord[] }} run
 * @returns {string[]} one sentence; [] if all are recorded and none failed
 */
function renderUnfinishedTrials({ manifest, records }) {
  const { arms, rounds, precision } = manifest
  const planned = arms.reduce((sum, arm) => sum + (arm.rounds ?? rounds), 0)
  // Trials that find the capacity belong to arms outside of the plan.
  const armRecords = records.filter(r => r.trial.repeats === null && arms.some(arm => arm.id === r.trial.arm.id))
  const recorded = countTrials(armRecords)
  const failed = countTrials(armRecords.filter(({ outcome }) => outcome === 'failed'))
  if (manifest.ended === 'interrupted') {
    const ended = renderEndedRepeats({ arms, rounds, records: armRecords })
    return [`Interrupted after ${ended}${precision ? ': the precision asked for is not reached' : ''}.`]
  }
  if (precision?.ended === null)
    return [`${CUT_SHORT}: ${recorded} trials are recorded, and the precision asked for is not reached.`]
  if (recorded >= planned) return failed > 0 ? [`${failed} of ${planned} trials failed.`] : []
  const failures = failed > 0 ? `, and ${failed} of them failed` : ''
  return [`${CUT_SHORT}: ${recorded} of ${planned} trials are recorded${failures}.`]
}

/**
 * Counts trials by round and arm, since a baseline may be in several deployments of a round.
 * @param {TrialRecord[]} records
 * @returns {number}
 */
function countTrials(records) {
  return new Set(records.map(({ trial }) => `${trial.round} ${trial.arm.id}`)).size
}

/**
 * Renders how many repeats ended: `2 of 6 repeats`. Those of interleaved arms and of the others are counted
 * separately, up to the last part that has an ended repeat.
 * @param {Pick<Manifest, 'arms' | 'rounds'> & { records: TrialRecord[] }} run with at least one arm
 * @returns {string}
 */
function renderEndedRepeats({ arms, rounds, records }) {
  const parts = [...groupBy(arms, ({ load }) => load.isInterleaved === true)].map(([isInterleaved, partArms]) => ({
    name: isInterleaved ? 'interleaved repeats' : 'repeats of arms alone',
    // A repeat has ended once each of its arms has a record.
    ended: Math.min(...partArms.map(({ id }) => countTrials(records.filter(({ trial }) => trial.arm.id === id)))),
    planned: Math.max(...partArms.map(arm => arm.rounds ?? rounds)),
  }))
  // The part that was interrupted is the last one with an ended repeat, or the first.
  const last = parts.findLastIndex(({ ended }) => ended > 0)
  const begun = parts.slice(0, Math.max(0, last) + 1)
  return begun
    .map(({ name, ended, planned }) => `${ended} of ${planned} ${begun.length > 1 ? name : 'repeats'}`)
    .join(', and ')
}

/**
 * Renders which planes were not measured, with a sentence for each reason.
 * @param {{ plane: string, reason: string }[]} notMeasured
 * @returns {string[]} [] if all were measured
 */
export function renderNotMeasuredPlanes(notMeasured) {
  return [...groupBy(notMeasured, ({ reason }) => reason)].map(
    ([reason, rows]) => `Not measured: ${rows.map(({ plane }) => plane).join(', ')}: ${reason}`,
  )
}
