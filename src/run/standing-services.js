/**
 * @import { Arm } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 */
/** @typedef {ReturnType<typeof createStandingServices>} StandingServices */

/**
 * Creates a store of services that keep running after their trial.
 * @param {{ keepsServices: boolean, retains: boolean }} options keepsServices: services of every arm are kept for its next
 *   trial; retains: services of the last trial are kept for the user (`--retain`)
 * @returns claim: gives the services of an arm; release: keeps or removes services after a trial; end: removes all but those to
 *   retain. All three reject with the target's error if services cannot be removed
 */
export function createStandingServices({ keepsServices, retains }) {
  /** @type {Map<string, Started>} by the arm's id */
  const keptServices = new Map()
  /** The services of the last trial. @type {Started[]} */
  let lastServices = []

  return {
    /**
     * Gives the services of an arm, and removes those of the last trial that only `--retain` has kept so far.
     * @param {Arm} arm
     * @returns {Promise<Started | null>} null: none are running
     */
    async claim(arm) {
      const leaving = lastServices.filter(services => ![...keptServices.values()].includes(services))
      lastServices = []
      await Promise.all(leaving.map(({ deployment }) => deployment.remove()))
      return keptServices.get(arm.id) ?? null
    },
    /**
     * Removes services after a trial, unless they are kept for the next trial of the arm or for the user. Those of a failed trial
     * are not kept for the arm.
     * @param {{ arm: Arm, services: Started, hasFailed: boolean }} ended
     */
    async release({ arm, services, hasFailed }) {
      if (keepsServices && !hasFailed) keptServices.set(arm.id, services)
      else keptServices.delete(arm.id)
      if (retains) lastServices.push(services)
      else if (!keptServices.has(arm.id)) await services.deployment.remove()
    },
    /**
     * Removes all services, except those of the last trial to retain if the run finished.
     * @param {{ isFinished: boolean }} options
     */
    async end({ isFinished }) {
      const standing = new Set([...keptServices.values(), ...lastServices])
      if (isFinished) for (const services of lastServices) standing.delete(services)
      await Promise.all([...standing].map(({ deployment }) => deployment.remove()))
    },
  }
}
