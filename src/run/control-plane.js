import { createAsking } from '../node/asking.js'
import { createDeployer } from './deployer.js'
import { observeControl, readControl } from './phase.js'

/**
 * The course of steps that rollouts and growths share: each step deploys or ends processes under a control plane.
 * @import { Asking, Deployment, Handle, Observation, Target } from '../model/types.ts'
 */

/**
 * What a step may use.
 * @typedef {object} Course
 * @property {Asking} asking
 * @property {Deployment} deployment all that `deploy` has started and `end` has not ended
 * @property {ReturnType<typeof createDeployer>['deploy']} deploy
 * @property {ReturnType<typeof createDeployer>['end']} end
 * @property {AbortController} falling to abort when a process that all steps need has exited
 * @property {AbortSignal} signal aborts with the run's signal or with `falling`
 * @property {(shards: Handle[]) => { read: () => ReturnType<typeof readControl>, end: () => Promise<Observation | null> }}
 *   observe starts observing the shards of a control plane, until `end` or the end of the course; `read` takes one reading now
 * @property {(close: () => unknown) => void} whenOver registers a function to call after the steps, also if one throws
 */

/**
 * Runs steps under a control plane. The caller removes what they deployed; if a step or a `whenOver` function throws, it is
 * removed here.
 * @template Result
 * @param {{ target: Target, start: number, folder: string, signal: AbortSignal,
 *   chooseError?: (error: unknown, course: Course) => Promise<unknown> }} options start: a number that no other start of the
 *   run has; chooseError: returns the error to throw, while the processes can still be read; absent: the error of the step
 * @param {(course: Course) => Promise<Result>} takeSteps runs the steps
 * @returns {Promise<Result>} the result of `takeSteps`
 * @throws what `chooseError` returns, or the step's error
 */
export async function passCourse({ target, start, folder, signal, chooseError }, takeSteps) {
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
    try {
      throw chooseError ? await chooseError(error, course) : error
    } finally {
      await course.deployment.remove()
    }
  } finally {
    asking.close()
  }
}
