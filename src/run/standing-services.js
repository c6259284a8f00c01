/**
 * @import { Arm } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 */
/** @typedef {ReturnType<typeof createStandingServices>} StandingServices */

/**
 * Creates a store of services that keep running after their trial.
 * @param {{ keepsServices: boolean, retains: boolean }} options keepsServices: services of every arm are kept for its next
 *   trial; retains: services of the last trial are kept for the user (`--retain`)
 * @returns take: returns the services of an arm; leave: keeps or removes services after a trial; end: removes all but those to
 *   retain
 */
export function createStandingServices({ keepsServices, retains }) {
  /** @type {Map<string, Started>} by the arm's id */
  const kept = new Map()
  /** The services of the last trial. @type {Started[]} */
  let last = []

  return {
    /**
     * Returns the services of an arm, and removes those of the last trial that only `--retain` has kept so far.
     * @param {Arm} arm
     * @returns {Promise<Started | null>} null: none are running
     */
    async take(arm) {
      const leaving = last.filter(services => ![...kept.values()].includes(services))
      last = []
      await Promise.all(leaving.map(({ deployment }) => deployment.remove()))
      return kept.get(arm.id) ?? null
    },
    /**
     * Removes services after a trial, unless they are kept for the next trial of the arm or for the user.
     * @param {{ arm: Arm, services: Started, hasFailed: boolean }} ended
     */
    async leave({ arm, services, hasFailed }) {
      if (keepsServices && !hasFailed) kept.set(arm.id, services)
      else kept.delete(arm.id)
      if (retains) last.push(services)
      else if (!kept.has(arm.id)) await services.deployment.remove()
    },
    /**
     * Removes all services, except those of the last trial to retain if the run finished.
     * @param {{ isFinished: boolean }} options
     */
    async end({ isFinished }) {
      const standing = new Set([...kept.values(), ...last])
      if (isFinished) for (const services of last) standing.delete(services)
      await Promise.all([...standing].map(({ deployment }) => deployment.remove()))
    },
  }
}
