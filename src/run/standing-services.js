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
  /** Of the last trial, or of the last that stood at the same time. @type {Started[]} */
  let last = []

  return {
    /**
     * To be called before a trial starts anything.
     * @param {Arm} arm
     * @returns {Promise<Started | null>} the services of the arm; null where none stand
     */
    async take(arm) {
      const leaving = last.filter(services => ![...kept.values()].includes(services))
      last = []
      await Promise.all(leaving.map(({ deployment }) => deployment.remove()))
      return kept.get(arm.id) ?? null
    },
    /**
     * Removes the services of a trial that ended, unless they are to stand.
     * @param {{ arm: Arm, services: Started, hasFailed: boolean }} ended
     */
    async leave({ arm, services, hasFailed }) {
      if (keepsServices && !hasFailed) kept.set(arm.id, services)
      else kept.delete(arm.id)
      if (retains) last.push(services)
      else if (!kept.has(arm.id)) await services.deployment.remove()
    },
    /**
     * Removes all, but those of the last trial of a run that finished, where they are to be retained.
     * @param {{ isFinished: boolean }} options
     */
    async end({ isFinished }) {
      const standing = new Set([...kept.values(), ...last])
      if (isFinished) for (const services of last) standing.delete(services)
      await Promise.all([...standing].map(({ deployment }) => deployment.remove()))
    },
  }
}
