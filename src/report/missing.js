import { findSections } from '../kinds/sections.js'
import { groupBy } from '../lib/group-by.js'
import { listVariedAxes, renderArmLabel } from '../model/arms.js'
import { findResult, listArms } from '../model/results.js'

/**
 * Sentences on the trials that a run lacks, and the gates that fired. Pure.
 * @import { Manifest, Summary, SummaryArm, TrialRecord } from '../model/types.ts'
 */

const CUT_SHORT = 'This run was cut short, or still goes on'

/**
 * Renders whether a run was interrupted, is still in progress, or has failed trials. A run whose kinds have no fixed
 * number of trials, such as a search, names only what has not ended.
 * @param {{ manifest: Manifest, records: TrialRecord[], summary: Pick<Summary, 'results'> }} run
 * @returns {string[]} sentences; []: it is complete
 */
export function renderUnfinishedRun({ manifest, records, summary }) {
  const { arms, rounds, precision } = manifest
  // Kinds without a fixed number of trials say by themselves what ended.
  const kinds = [...new Set(arms.map(findSections))].filter(({ renderUnfinished }) => renderUnfinished)
  if (kinds.length > 0)
    return kinds.flatMap(({ kind, renderUnfinished }) => {
      const result = findResult(summary, kind)
      const unfinished = renderUnfinished?.({ manifest, records, result }) ?? null
      return unfinished === null ? [] : [`${CUT_SHORT}: ${unfinished}.`]
    })
  const planned = arms.reduce((sum, arm) => sum + (arm.rounds ?? rounds), 0)
  // Trials that find the capacity belong to arms outside of the plan.
  const armRecords = records.filter(r => r.trial.repeats === null && arms.some(arm => arm.id === r.trial.arm.id))
  // A baseline may be in several deployments of a round.
  const countDistinct = (/** @type {TrialRecord[]} */ counted) =>
    new Set(counted.map(({ trial }) => `${trial.round} ${trial.arm.id}`)).size
  const count = countDistinct(armRecords)
  const failed = countDistinct(armRecords.filter(r => r.outcome === 'failed'))
  if (manifest.ended === 'interrupted') {
    const done = renderEndedRepeats({ arms, rounds, records: armRecords })
    return [`Interrupted after ${done}${precision ? ': the precision asked for is not reached' : ''}.`]
  }
  if (precision?.ended === null)
    return [`${CUT_SHORT}: ${count} trials are recorded, and the precision asked for is not reached.`]
  if (count >= planned) return failed > 0 ? [`${failed} of ${planned} trials failed.`] : []
  const also = failed > 0 ? `, and ${failed} of them failed` : ''
  return [`${CUT_SHORT}: ${count} of ${planned} trials are recorded${also}.`]
}

/**
 * Renders how many repeats ended: `2 of 6 repeats`. Those of interleaved arms and of the others are counted
 * separately.
 * @param {Pick<Manifest, 'arms' | 'rounds'> & { records: TrialRecord[] }} run
 * @returns {string}
 */
function renderEndedRepeats({ arms, rounds, records }) {
  const parts = [...groupBy(arms, ({ load }) => load.isInterleaved === true)].map(([isInterleaved, partArms]) => {
    // A repeat has ended once each of its arms has a record.
    const ended = partArms.map(
      ({ id }) => new Set(records.flatMap(r => (r.trial.arm.id === id ? r.trial.round : []))).size,
    )
    const planned = Math.max(...partArms.map(arm => arm.rounds ?? rounds))
    return {
      name: isInterleaved ? 'interleaved repeats' : 'repeats of arms alone',
      ended: Math.min(...ended),
      planned,
    }
  })
  // The part that was interrupted is the last one with an ended repeat, or the first.
  const last = Math.max(
    0,
    parts.findLastIndex(({ ended }) => ended > 0),
  )
  const begun = parts.slice(0, last + 1)
  return begun
    .map(({ name, ended, planned }) => `${ended} of ${planned} ${begun.length > 1 ? name : 'repeats'}`)
    .join(', and ')
}

/**
 * Renders which planes were not measured, with a sentence for each reason.
 * @param {{ plane: string, reason: string }[]} notMeasured
 * @returns {string[]} []: all were
 */
export function renderNotMeasuredPlanes(notMeasured) {
  return [...groupBy(notMeasured, n => n.reason)].map(
    ([reason, rows]) => `Not measured: ${rows.map(n => n.plane).join(', ')}: ${reason}`,
  )
}

/**
 * A gate that fired; arms: `pipy 6/6, envoy 2/6` trials.
 * @typedef {{ gate: string, name: string, arms: string, reason: string }} Fired
 */

/**
 * Lists the gates that fired, each with all its arms and the reason of the first.
 * @param {Pick<Summary, 'results'>} summary
 * @returns {Fired[]}
 */
export function listFiredGates(summary) {
  const arms = listArms(summary)
  const varied = listVariedAxes(arms)
  const fired = arms.flatMap(arm => {
    const { completed, failed, invalid } = arm.trials
    const total = completed + failed + invalid
    return arm.spoiled.map(spoil => ({
      ...spoil,
      name: renderGate(spoil),
      of: total,
      label: renderArmLabel(arm, varied),
    }))
  })
  return [...groupBy(fired, f => f.name).values()].map(firedOfGate => ({
    gate: firedOfGate[0].gate,
    name: firedOfGate[0].name,
    arms: firedOfGate.map(f => `${f.label} ${f.trials}/${f.of}`).join(', '),
    reason: firedOfGate[0].reason,
  }))
}

/**
 * Renders the name of a gate, with its part: `resolution of the change`.
 * @param {Pick<SummaryArm['spoiled'][number], 'gate' | 'part'>} fired
 * @returns {string}
 */
export function renderGate({ gate, part }) {
  return part ? `${gate} of the ${part}` : gate
}

/** Renders a line for each gate that fired. @param {Pick<Summary, 'results'>} summary @returns {string[]} */
export function renderFiredGates(summary) {
  return listFiredGates(summary).map(({ name, arms, reason }) => `Check ${name} (${arms} trials): ${reason}`)
}
