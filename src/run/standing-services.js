/** @import { Arm } from '../model/types.ts' @import { Started } from './start-services.js' */
/** @typedef {ReturnType<typeof createStandingServices>} StandingServices */

/**
 * Keeps services beyond their trial: those of every arm, or with `--retain` those of the last trial.
 * @param {{ keepsServices: boolean, retains: boolean }} options
 */
export function createStandingServices({ keepsServices, retains }) {
  /** @type {Map<string, Started>} by the arm's id */
  const kept = new Map()
  /** The services of the last trial. @type {Started[]} */
  let last = []

  return {
    /** Takes the services of an arm, if they stand, and removes those of the last trial. @param {Arm} arm */
    async take(arm) {
      const leaving = last.filter(services => ![...kept.values()].includes(services))
      last = []
      await Promise.all(leaving.map(({ deployment }) => deployment.remove()))
      return kept.get(arm.id) ?? null
    },
    /** Removes services, unless they stand on. @param {{ arm: Arm, services: Started, hasFailed: boolean }} ended */
    async leave({ arm, services, hasFailed }) {
      if (keepsServices && !hasFailed) kept.set(arm.id, services)
      else kept.delete(arm.id)
      if (retains) last.push(services)
      else if (!kept.has(arm.id)) await services.deployment.remove()
    },
    /** Removes all, but those to retain of a run that finished. @param {{ isFinished: boolean }} options */
    async end({ isFinished }) {
      const standing = new Set([...kept.values(), ...last])
      if (isFinished) for (const services of last) standing.delete(services)
      await Promise.all([...standing].map(({ deployment }) => deployment.remove()))
    },
  }
}
