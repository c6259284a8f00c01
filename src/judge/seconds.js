/** How long an arm got load. Pure: gates and measures read it. @import { TrialRecord } from '../model/types.ts' */

/**
 * The seconds of the window in which an arm got its load: all of them, or those of its turns.
 * @param {Pick<TrialRecord, 'load' | 'window'>} record
 */
export function secondsUnderLoad({ load, window }) {
  return load?.turns?.seconds ?? window?.seconds ?? null
}
