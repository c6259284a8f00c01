import { listSections } from '../kinds/sections.js'

/** Says which trials a run lacks. Pure. @import { Manifest, Summary, TrialRecord } from '../model/types.ts' */

const CUT_SHORT = 'This run was cut short, or still goes on'

/**
 * Says where a run was cut short, still goes on, or has trials that failed.
 * @param {{ manifest: Manifest, records: TrialRecord[], summary: Pick<Summary, 'searches' | 'sizes'> }} run
 */
export function describeUnfinished({ manifest, records, summary }) {
  const { arms, rounds, precision } = manifest
  const kinds = listSections(manifest).filter(({ tellUnfinished }) => tellUnfinished)
  if (kinds.length > 0)
    return kinds.flatMap(kind => {
      const found = kind.tellUnfinished?.({ manifest, records, summary }) ?? null
      return found === null ? [] : [`${CUT_SHORT}: ${found}.`]
    })
  const planned = arms.reduce((sum, arm) => sum + (arm.rounds ?? rounds), 0)
  // Trials that find the capacity are of other arms.
  const own = records.filter(r => r.trial.repeats === null && arms.some(arm => arm.id === r.trial.arm.id))
  // A baseline may stand in several deployments of a round.
  const countDistinct = (/** @type {TrialRecord[]} */ some) =>
    new Set(some.map(({ trial }) => `${trial.round} ${trial.arm.id}`)).size
  const count = countDistinct(own)
  const failed = countDistinct(own.filter(r => r.outcome === 'failed'))
  if (precision?.ended === null)
    return [`${CUT_SHORT}: ${count} trials are recorded, and the precision asked for is not reached.`]
  if (count >= planned) return failed > 0 ? [`${failed} of ${planned} trials failed.`] : []
  const also = failed > 0 ? `, and ${failed} of them failed` : ''
  return [`${CUT_SHORT}: ${count} of ${planned} trials are recorded${also}.`]
}

/** Says which arms were not measured, each reason once. @param {{ plane: string, reason: string }[]} notMeasured */
export function describeNotMeasured(notMeasured) {
  const reasons = [...new Set(notMeasured.map(({ reason }) => reason))]
  return reasons.map(reason => {
    const planes = notMeasured.filter(n => n.reason === reason).map(n => n.plane)
    return `Not measured: ${planes.join(', ')}: ${reason}`
  })
}
