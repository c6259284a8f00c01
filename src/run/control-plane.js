import { createRolloutPoller } from '../node/rollout-poller.js'
import { createDeployer } from './deployer.js'
import { observeControlPlane, readControlUsage } from './phase.js'

/**
 * The steps that rollouts and growths share: each deploys or ends processes under a control plane.
 * @import { Deployment, Handle, Observation, RolloutPoller, Target } from '../model/types.ts'
 */

/**
 * @typedef {object} StepContext
 * @property {RolloutPoller} poller
 * @property {Deployment} deployment all that `deploy` has started and `end` has not ended
 * @property {ReturnType<typeof createDeployer>['deploy']} deploy
 * @property {ReturnType<typeof createDeployer>['end']} end
 * @property {AbortController} failing to abort when a process that all steps need has exited
 * @property {AbortSignal} signal aborts with the run's signal or with `failing`
 * @property {(shards: Handle[]) => ControlObservation} observe observes the shards of a control plane until `end`, or until the
 *   steps are over
 * @property {(teardown: () => unknown) => void} addTeardown registers a function to call after the steps, also if one throws
 */
/**
 * @typedef {object} ControlObservation
 * @property {() => ReturnType<typeof readControlUsage>} read takes one reading now
 * @property {() => Promise<Observation | null>} end null: there are no shards; rejects if the observation failed
 */

/**
 * @typedef {object} StepOptions
 * @property {Target} target
 * @property {number} start a number that no other start of the run has
 * @property {string} folder for the files of the processes
 * @property {AbortSignal} signal
 * @property {(error: unknown, context: StepContext) => Promise<unknown>} [chooseError] returns the error to throw, while the
 *   processes can still be read; absent: the error of the step
 */

/**
 * Runs steps under a control plane. The caller removes what they deployed; if a step or a teardown throws, it is removed here.
 * @template Result
 * @param {StepOptions} options
 * @param {(context: StepContext) => Promise<Result>} runSteps
 * @returns {Promise<Result>} the result of `runSteps`
 * @throws the error that `chooseError` returns or throws, else that of the step or the teardown; an error of the target if it cannot
 *   open a poller, or cannot remove processes
 */
export async function runControlPlaneSteps({ target, start, folder, signal, chooseError }, runSteps) {
  const failing = new AbortController()
  const poller = (await target.pods?.openRolloutPoller()) ?? createRolloutPoller()
  /** @type {(() => unknown)[]} */
  const teardowns = []
  /** @type {StepContext} */
  const context = {
    ...createDeployer(target, { start, folder }),
    poller,
    failing,
    signal: AbortSignal.any([signal, failing.signal]),
    observe(shards) {
      const { end } = observeControlPlane(target, shards)
      teardowns.push(end)
      return { end, read: () => readControlUsage(target, shards) }
    },
    addTeardown: teardown => void teardowns.push(teardown),
  }
  try {
    return await runSteps(context).finally(() => runTeardowns(teardowns))
  } catch (error) {
    try {
      throw chooseError ? await chooseError(error, context) : error
    } finally {
      await context.deployment.remove()
    }
  } finally {
    poller.close()
  }
}

/**
 * Runs every teardown, also after one that fails.
 * @param {(() => unknown)[]} teardowns
 * @throws the error of the first one that failed, once all have settled
 */
async function runTeardowns(teardowns) {
  const results = await Promise.allSettled(teardowns.map(async teardown => teardown()))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
