import { groupBy } from '../../lib/group-by.js'

/** Sidecars of interleaved arms that died: they take the trials of the others with them. Pure. */
/** @import { TrialRecord } from '../../model/types.ts' */

/** An arm whose sidecars died so often is interleaved no more, while others are left. */
export const DEATHS_MOST = 2

/** Lists the interleaved arms whose sidecars died. @param {TrialRecord[]} records of one deployment @returns {string[]} */
export function listDead(records) {
  const sidecars = records.length > 1 ? records[0].ended.filter(({ role }) => role === 'sidecar') : []
  return [...new Set(sidecars.flatMap(({ armId }) => armId ?? []))]
}

/** Finds the arms that a run left out since their sidecars died, by id. @param {TrialRecord[]} records @returns {Set<string>} */
export function findLeftOut(records) {
  const interleaved = records.filter(({ trial }) => trial.interleaving !== undefined)
  const deployments = [...groupBy(interleaved, ({ trial }) => `${trial.kind} ${trial.interleaving}`).values()]
  /** @type {Map<string, number>} */
  const deaths = new Map()
  for (const id of deployments.flatMap(listDead)) deaths.set(id, (deaths.get(id) ?? 0) + 1)
  const isOut = (/** @type {TrialRecord} */ { trial }) => (deaths.get(trial.arm.id) ?? 0) >= DEATHS_MOST
  // Arms of a deployment in which all died go on together.
  const split = deployments.filter(deployment => !deployment.every(isOut))
  return new Set(split.flatMap(deployment => deployment.filter(isOut).map(({ trial }) => trial.arm.id)))
}
