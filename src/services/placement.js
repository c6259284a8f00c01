import { createArmTopology } from './topology.js'

/** @import { Arm, Placement, Topology } from '../model/types.ts' */

/**
 * Creates the rule that places all trials of a run, by an arm's services and CPU limit. An arm without a limit, as one without sidecars,
 * leaves idle the CPUs that sidecars with the largest limit of the plan would have, so that generator and applications have the same CPUs.
 * @param {object} options
 * @param {Arm[]} options.arms of the plan
 * @param {Record<string, Topology>} options.topologies by link, those of all arms
 * @param {number[][]} options.cores the CPUs of each physical core
 * @param {boolean} [options.isLoadElsewhere] the generator needs no CPU
 * @returns {(arm: Arm) => Placement | null} null: all processes share all CPUs: there are too few, some arm with
 *   sidecars has no CPU limit and no interleaved load, or the arm's own interleaved load is not placed apart, or needs no CPU
 */
export function createPlacementRule({ arms, topologies, cores, isLoadElsewhere = false }) {
  const hasUnlimited = arms.some(arm => arm.cpuLimitCores === null && arm.hasSidecars && !arm.load.isInterleaved)
  const largestLimitCores = Math.max(0, ...arms.map(arm => arm.cpuLimitCores ?? 0))
  return arm => {
    // The kubelet pins nothing, so interleaved arms cost what they cost on a node: docs/evidence/accuracy.md.
    if (arm.load.isInterleaved) return arm.load.placement === 'apart' ? halveCpus({ cores, isLoadElsewhere }) : null
    if (hasUnlimited) return null
    const { services } = createArmTopology(arm, topologies)
    return placeRoles({
      cores,
      sidecarCpus: Math.ceil(services.length * (arm.cpuLimitCores ?? largestLimitCores)),
      applications: services.filter(({ application }) => application !== null).length,
      isLoadElsewhere,
    })
  }
}

/**
 * Gives the generator half of the CPUs, rounded down; the sidecars and applications share the others.
 * @param {{ cores: number[][], isLoadElsewhere: boolean }} options cores: the CPUs of each physical core
 * @returns {Placement | null} null: there are fewer than two CPUs, or the load comes from elsewhere
 */
function halveCpus({ cores, isLoadElsewhere }) {
  const cpus = cores.flat()
  if (isLoadElsewhere || cpus.length < 2) return null
  const shared = cpus.slice(0, Math.ceil(cpus.length / 2))
  return { sidecar: shared, application: shared, generator: cpus.slice(shared.length) }
}

/**
 * Chooses disjoint CPUs for the three roles. Sidecars get as many as their CPU limits allow; the applications (one
 * thread each) get one and then up to one each; the generator gets one and then the rest. CPUs are assigned core by
 * core, so that two roles share a physical core only at their border.
 * @param {object} options
 * @param {number[][]} options.cores the CPUs of each physical core
 * @param {number} options.sidecarCpus CPUs of all sidecars
 * @param {number} options.applications their number
 * @param {boolean} [options.isLoadElsewhere] the applications get all CPUs that sidecars leave, the generator none
 * @returns {Placement | null} null: there are too few CPUs for the sidecars and one for each other role
 */
export function placeRoles({ cores, sidecarCpus, applications, isLoadElsewhere = false }) {
  const cpus = cores.flat()
  const sidecars = cpus.slice(0, sidecarCpus)
  if (isLoadElsewhere)
    return cpus.length > sidecarCpus ? { sidecar: sidecars, application: cpus.slice(sidecarCpus), generator: [] } : null
  // The applications and the generator need one each.
  const spare = cpus.length - (sidecarCpus + 2)
  if (spare < 0) return null
  // Spare CPUs go in turn to the generator and the applications, until each of these has a CPU.
  const end = sidecarCpus + 1 + Math.max(0, Math.min(applications - 1, Math.floor(spare / 2)))
  return { sidecar: sidecars, application: cpus.slice(sidecarCpus, end), generator: cpus.slice(end) }
}
