/** Deploys processes of a trial bit by bit. @import { Deployment, ProcessSpec, Target } from '../model/types.ts' */

/** The part of started services that a trial without a load has. */
export const UNLOADED = { changeTo: null, ending: null, entry: { urls: [], host: '', admin: null, certificate: null } }

/** @param {Target} target @param {{ start: number, folder: string }} at */
export function createDeployer(target, at) {
  /** @type {Deployment[]} */
  let deployments = []
  /** @type {import('./start-sidecars.js').Deploy} */
  const deploy = async (specs, how) => {
    const deployed = await target.deploy(specs, { ...at, ...how })
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
  /** Ends processes that were deployed without others. @param {ProcessSpec[]} specs */
  const end = async specs => {
    const ended = deployments.filter(({ processes }) => processes.some(({ spec }) => specs.includes(spec)))
    deployments = deployments.filter(deployed => !ended.includes(deployed))
    await Promise.all(ended.map(deployed => deployed.remove())).catch(error => {
      // The caller removes them with the others.
      deployments.push(...ended)
      throw error
    })
  }
  return { deploy, end, deployment }
}
