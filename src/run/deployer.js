/**
 * Deploys processes of a trial bit by bit.
 * @import { Deployment, ProcessSpec, Target } from '../model/types.ts'
 */

/** The fields of `Started` that only a load needs, for trials without a load. */
export const UNLOADED = { changeTo: null, ending: null, entry: { urls: [], host: '', admin: null, certificate: null } }

/**
 * Creates one deployment of all processes that a trial deploys step by step.
 * @param {Target} target
 * @param {{ start: number, folder: string }} place start: a number that no other start of the run has; folder: for the files of
 *   the processes
 * @returns deploy: starts processes and returns them before they are ready; end: removes some; deployment: all that were not
 *   removed
 */
export function createDeployer(target, place) {
  /** @type {Deployment[]} */
  let deployments = []
  /** @type {import('./start-sidecars.js').Deploy} */
  const deploy = async (specs, deployOptions) => {
    const deployed = await target.deploy(specs, { ...place, ...deployOptions })
    deployments.push(deployed)
    return deployed.processes
  }
  /** @type {Deployment} */
  const deployment = {
    get processes() {
      return deployments.flatMap(d => d.processes)
    },
    remove: async () => void (await Promise.all(deployments.map(d => d.remove()))),
  }
  /**
   * Removes each deployment that has one of these processes, so also the others of the same `deploy`.
   * @param {ProcessSpec[]} specs
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
