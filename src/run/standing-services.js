/**
 * @import { Arm } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 */

/** @typedef {ReturnType<typeof createStandingServices>} StandingServices */

/**
 * Services that outlive their trial: of experiments that keep them, those of every arm; with `--retain`, those of the
 * last trial. Only the next trial tells that a trial was not the last, so the next trial removes its services.
 * @param {{ keepsServices: boolean, retains: boolean }} options
 */
export function createStandingServices({ keepsServices, retains }) {
  /** @type {Map<string, Started>} by the arm's id */
  const kept = new Map()
  /** @type {Started | null} */
  let last = null

  return {
    /**
     * To be called before a trial starts anything.
     * @param {Arm} arm
     * @returns {Promise<Started | null>} the services of the arm; null where none stand
     */
    async take(arm) {
      if (last && ![...kept.values()].includes(last)) await last.deployment.remove()
      last = null
      return kept.get(arm.id) ?? null
    },
    /**
     * Removes the services of a trial that ended, unless they are to stand.
     * @param {{ arm: Arm, services: Started, hasFailed: boolean }} ended
     */
    async leave({ arm, services, hasFailed }) {
      if (keepsServices && !hasFailed) kept.set(arm.id, services)
      else kept.delete(arm.id)
      if (retains) last = services
      else if (!kept.has(arm.id)) await services.deployment.remove()
    },
    /**
     * Removes all, but those of the last trial of a run that finished, where they are to be retained.
     * @param {{ isFinished: boolean }} options
     */
    async end({ isFinished }) {
      const standing = new Set([...kept.values(), ...(last ? [last] : [])])
      if (last && isFinished) standing.delete(last)
      await Promise.all([...standing].map(({ deployment }) => deployment.remove()))
    },
  }
}
