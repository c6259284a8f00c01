/** Records that are whole but do not belong to the run: a copied line, an edited plan. Pure. */
/** @import { Manifest, TrialRecord } from '../model/types.ts' */

/**
 * @param {Manifest} manifest
 * @returns {(record: TrialRecord) => string | null} what is wrong with the next record; null: nothing
 */
export function createRecordCheck(manifest) {
  const { arms, calibrations, rounds, search } = manifest
  const known = new Set([...arms.flatMap(arm => [arm.id, arm.calibratedBy]), ...calibrations.map(c => c.armId)])
  const seen = new Set()
  return record => {
    const { id, round, arm, searchOf } = record.trial
    if (!known.has(searchOf ?? arm.id)) {
      return `the trial ${id} is of the arm ${arm.id}, which the manifest does not have`
    }
    if (search === null && round > rounds) {
      return `the trial ${id} is of round ${round}, and the manifest has ${rounds}`
    }
    if (seen.has(id)) return `the trial ${id} is recorded before`
    seen.add(id)
    return null
  }
}
