import { topologyOf } from './topology.js'

/**
 * Which CPUs generator, applications and sidecars get for themselves. Pure.
 * @import { Arm, Placement, Topology } from '../model/types.ts'
 */

/**
 * The placement of every arm of a run; null where the CPUs are too few for it. Arms without sidecars leave
 * the CPUs of the others' sidecars idle, so that generator and applications have the same everywhere.
 * @param {{ arms: Arm[], topologies: Record<string, Topology>, cores: number[][] }} options
 *   cores: the CPUs of each physical core
 * @returns {Record<string, Placement | null>} by the arm's id
 */
export function placeArms({ arms, topologies, cores }) {
  const isUncapped = arms.some(arm => arm.capCores === null && arm.hasSidecars)
  const largestCap = Math.max(0, ...arms.map(arm => arm.capCores ?? 0))
  return Object.fromEntries(
    arms.map(arm => {
      const { id, capCores } = arm
      const { services } = topologyOf(arm, topologies)
      const placement = isUncapped
        ? null
        : placeRoles({
            cores,
            sidecarCpus: Math.ceil(services.length * (capCores ?? largestCap)),
            applications: services.filter(s => s.application !== null).length,
          })
      return [id, placement]
    }),
  )
}

/**
 * Disjoint CPUs for the three roles: sidecars get what their caps can use, the applications (one thread
 * each) one and then as many as they are, the generator one and then the rest. Physical cores are not
 * shared where there are enough of them.
 * @param {{ cores: number[][], sidecarCpus: number, applications: number }} options
 * @returns {Placement | null} null when there are too few CPUs
 */
export function placeRoles({ cores, sidecarCpus, applications }) {
  const cpus = cores.flat()
  let spare = cpus.length - (sidecarCpus + 2)
  if (spare < 0) return null
  const counts = { sidecar: sidecarCpus, application: 1, generator: 1 }
  for (let isGeneratorsTurn = true; spare > 0; spare--, isGeneratorsTurn = !isGeneratorsTurn) {
    if (isGeneratorsTurn || counts.application >= applications) counts.generator++
    else counts.application++
  }
  const sidecar = cpus.slice(0, counts.sidecar)
  const application = cpus.slice(counts.sidecar, counts.sidecar + counts.application)
  return { sidecar, application, generator: cpus.slice(counts.sidecar + counts.application) }
}
