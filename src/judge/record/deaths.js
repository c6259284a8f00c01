import { groupBy } from '../../lib/group-by.js'

/** The deaths of interleaved sidecars, which take the trials of the other arms with them. Pure. */
/** @import { Trial, TrialRecord } from '../../model/types.ts' */

/** An arm whose sidecars died so often leaves the turns, as long as others are left. */
export const DEATHS_MOST = 2

/**
 * Lists the ids of interleaved arms whose sidecars died, each once. All records of a deployment have the same list of ended
 * processes, so only the first record is read. A sidecar that died without the id of its arm is not counted.
 * @param {TrialRecord[]} records of one deployment
 * @returns {string[]} []: none died, or an arm has its deployment alone
 */
export function listDeadArms(records) {
  const sidecars = records.length > 1 ? records[0].ended.filter(({ role }) => role === 'sidecar') : []
  return [...new Set(sidecars.flatMap(({ armId }) => armId ?? []))]
}

/**
 * Creates a counter of the deployments in which the sidecars of each arm died. Arms whose sidecars died DEATHS_MOST times are left
 * out.
 * @returns addDeaths: adds the deaths of a deployment; listRemaining: lists the trials that still run
 */
export function createDeathCounter() {
  /** @type {Map<string, number>} */
  const deathsByArm = new Map()
  return {
    /**
     * Adds the deaths of a deployment, and lists the arms that they leave out.
     * @param {TrialRecord[]} records of the deployment
     * @returns {string[]} the ids of arms that are left out from the next deployment on; []: none, or the sidecars of all arms
     *   died
     */
    addDeaths(records) {
      const dead = listDeadArms(records)
      for (const id of dead) deathsByArm.set(id, (deathsByArm.get(id) ?? 0) + 1)
      return dead.length < records.length ? dead.filter(id => deathsByArm.get(id) === DEATHS_MOST) : []
    },
    /**
     * Lists the trials of a deployment that still run: those of arms whose sidecars did not die too often or, if all did, all.
     * @template {Pick<Trial, 'arm'>} T
     * @param {T[]} trials
     * @returns {T[]}
     */
    listRemaining(trials) {
      const remaining = trials.filter(({ arm }) => (deathsByArm.get(arm.id) ?? 0) < DEATHS_MOST)
      // If all arms of a deployment died too often, they continue together.
      return remaining.length > 0 ? remaining : trials
    },
  }
}

/**
 * Lists the arms that a run left out because their sidecars died too often.
 * @param {TrialRecord[]} records of the whole run
 * @returns {Set<string>} their ids; empty: none
 */
export function listLeftOutArms(records) {
  const interleaved = records.filter(({ trial }) => trial.interleaving !== undefined)
  const deployments = [...groupBy(interleaved, ({ trial }) => `${trial.kind} ${trial.interleaving}`).values()]
  const deaths = createDeathCounter()
  for (const deployment of deployments) deaths.addDeaths(deployment)
  const leftOut = deployments.flatMap(deployment => {
    const trials = deployment.map(({ trial }) => trial)
    const remaining = new Set(deaths.listRemaining(trials))
    return trials.filter(trial => !remaining.has(trial))
  })
  return new Set(leftOut.map(({ arm }) => arm.id))
}
