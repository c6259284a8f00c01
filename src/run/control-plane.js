import { createAsking } from '../node/asking.js'
import { createDeployer } from './deployer.js'
import { observeControl, readControl } from './phase.js'

/**
 * The course that rollouts and growths share: a deployment that takes steps under a control plane.
 * @import { Asking, Deployment, Handle, Observation, Target } from '../model/types.ts'
 */

/**
 * The means of steps.
 * @typedef {object} Course
 * @property {Asking} asking
 * @property {Deployment} deployment of all that was deployed so far
 * @property {ReturnType<typeof createDeployer>['deploy']} deploy
 * @property {ReturnType<typeof createDeployer>['end']} end
 * @property {AbortController} falling aborts the steps: a process that all need has ended
 * @property {AbortSignal} signal of the run, or because of `falling`
 * @property {(shards: Handle[]) => { read: () => ReturnType<typeof readControl>, end: () => Promise<Observation | null> }} observe
 *   reads the control planes until it is ended, at the latest when the course is
 * @property {(close: () => unknown) => void} whenOver calls this when the course is over
 */

/**
 * Takes steps, and leaves what they started to the caller; where one throws, removes all of it.
 * @template Result
 * @param {{ target: Target, start: number, folder: string, signal: AbortSignal,
 *   explain?: (error: unknown, course: Course) => Promise<unknown> }} options explain: the error to throw, while processes are there
 * @param {(course: Course) => Promise<Result>} takeSteps
 */
export async function passCourse({ target, start, folder, signal, explain }, takeSteps) {
  const falling = new AbortController()
  const asking = (await target.pods?.openAsking()) ?? createAsking()
  /** @type {(() => unknown)[]} */
  const closing = []
  /** @type {Course} */
  const course = {
    ...createDeployer(target, { start, folder }),
    asking,
    falling,
    signal: AbortSignal.any([signal, falling.signal]),
    observe(shards) {
      const { end } = observeControl(target, shards)
      closing.push(end)
      return { end, read: () => readControl(target, shards) }
    },
    whenOver: close => void closing.push(close),
  }
  const closeAll = async () => {
    const closed = await Promise.allSettled(closing.map(async close => close()))
    for (const result of closed) if (result.status === 'rejected') throw result.reason
  }
  try {
    try {
      return await takeSteps(course)
    } finally {
      await closeAll()
    }
  } catch (error) {
    const cause = explain ? await explain(error, course) : error
    await course.deployment.remove()
    throw cause
  } finally {
    asking.close()
  }
}
