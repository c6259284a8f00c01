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
 * Renders what a run lacks. Of an interrupted run, it renders how many repeats ended. Of others, it renders how many of the planned
 * trials are recorded, if some are missing or the precision is not reached; else how many trials failed.
 * @param {{ manifest: Manifest, records: TrialRecord[] }} run
 * @returns {string[]} one sentence; [] if all are recorded and none failed
 */
function renderUnfinishedTrials({ manifest, records }) {
  const { arms, rounds, precision } = manifest
  const plannedCount = arms.reduce((sum, arm) => sum + (arm.rounds ?? rounds), 0)
  // Trials that find the capacity belong to arms outside of the plan.
  const armRecords = records.filter(r => r.trial.repeats === null && arms.some(arm => arm.id === r.trial.arm.id))
  const recordedCount = countTrials(armRecords)
  const failedCount = countTrials(armRecords.filter(({ outcome }) => outcome === 'failed'))
  if (manifest.ended === 'interrupted') {
    const repeats = renderEndedRepeats({ arms, rounds, records: armRecords })
    return [`Interrupted after ${repeats}${precision ? ': the precision asked for is not reached' : ''}.`]
  }
  if (precision?.ended === null)
    return [`${CUT_SHORT}: ${recordedCount} trials are recorded, and the precision asked for is not reached.`]
  if (recordedCount >= plannedCount) return failedCount > 0 ? [`${failedCount} of ${plannedCount} trials failed.`] : []
  const failures = failedCount > 0 ? `, and ${failedCount} of them failed` : ''
  return [`${CUT_SHORT}: ${recordedCount} of ${plannedCount} trials are recorded${failures}.`]
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
    endedCount: Math.min(...partArms.map(({ id }) => countTrials(records.filter(({ trial }) => trial.arm.id === id)))),
    plannedCount: Math.max(...partArms.map(arm => arm.rounds ?? rounds)),
  }))
  // The part that was interrupted is the last one with an ended repeat, or the first.
  const lastIndex = parts.findLastIndex(({ endedCount }) => endedCount > 0)
  const begunParts = parts.slice(0, Math.max(0, lastIndex) + 1)
  const texts = begunParts.map(({ name, endedCount, plannedCount }) => {
    return `${endedCount} of ${plannedCount} ${begunParts.length > 1 ? name : 'repeats'}`
  })
  return texts.join(', and ')
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
