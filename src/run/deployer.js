/** @import { Deployment, Handle, ProcessSpec, Target } from '../model/types.ts' */

/**
 * @typedef {(specs: ProcessSpec[], options?: Pick<Parameters<Target['deploy']>[1], 'pace' | 'onStart'>) => Promise<Handle[]>} Deploy
 */

/**
 * Creates one deployment of all processes that a trial deploys step by step.
 * @param {Target} target
 * @param {{ start: number, folder: string }} startOptions start: a number that no other start of the run has; folder: for the files
 *   of the processes
 * @returns deploy: starts processes and returns them before they are ready, or throws the target's error; end: removes some;
 *   deployment: all that `end` has not removed, for the caller to remove
 */
export function createDeployer(target, startOptions) {
  /** @type {Deployment[]} */
  let deployments = []
  /** @type {Deploy} */
  const deploy = async (specs, options) => {
    const deployed = await target.deploy(specs, { ...startOptions, ...options })
    deployments.push(deployed)
    return deployed.processes
  }
  /** @type {Deployment} */
  const deployment = {
    get processes() {
      return deployments.flatMap(({ processes }) => processes)
    },
    remove: async () => void (await Promise.all(deployments.map(deployed => deployed.remove()))),
  }
  /**
   * Removes each deployment that has one of these processes, so also the others of the same `deploy`.
   * @param {ProcessSpec[]} specs
   * @throws the target's error if one cannot be removed: all of them then stay part of `deployment`
   */
  const end = async specs => {
    const ended = deployments.filter(({ processes }) => processes.some(({ spec }) => specs.includes(spec)))
    deployments = deployments.filter(deployed => !ended.includes(deployed))
    await Promise.all(ended.map(deployed => deployed.remove())).catch(error => {
      // Keep what may still run, so that `deployment.remove` removes it, too.
      deployments.push(...ended)
      throw error
    })
  }
  return { deploy, end, deployment }
}
