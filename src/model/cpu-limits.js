/** CPU limits at which the sidecar can bound the throughput, by the CPUs of the machine. Pure. */

// CPU that all processes use for each core of a saturated sidecar's limit: its peer, k6 and the applications use about 2.5 more
// (gateway-ratings, measured on two CPUs). A sidecar can bind if its limit × this fits the machine.
const CPUS_PER_CAPPED_CORE = 3.5
// The same without the generator (1.9 measured on gateway-ratings).
const CPUS_PER_CAPPED_CORE_ALONE = 2

/**
 * Says whether sidecars with a CPU limit can bound the throughput under k6.
 * @param {number} cpuLimit in cores
 * @param {number} cpus of the machine
 * @param {boolean} [isLoadElsewhere] the generator takes none of these CPUs
 * @returns {boolean}
 */
export function canBind(cpuLimit, cpus, isLoadElsewhere = false) {
  return cpuLimit * (isLoadElsewhere ? CPUS_PER_CAPPED_CORE_ALONE : CPUS_PER_CAPPED_CORE) <= cpus
}

// wrk takes less CPU than k6: with it 1.7 were measured on a link of one sidecar, and about 2.6 on a link of two.
const CPUS_PER_CAPPED_CORE_BESIDE_WRK = { one: 1.7, more: 2.6 }

/**
 * Says whether sidecars can bound the throughput under wrk, but not under k6.
 * @param {{ cpuLimit: number, cpus: number, sidecars: number }} options sidecars: of the link
 * @returns {boolean}
 */
export function canBindOnlyBesideWrk({ cpuLimit, cpus, sidecars }) {
  const { one, more } = CPUS_PER_CAPPED_CORE_BESIDE_WRK
  return !canBind(cpuLimit, cpus) && cpuLimit * (sidecars === 1 ? one : more) <= cpus
}

/**
 * Finds the largest of some common CPU limits at which sidecars can bound the throughput.
 * @param {number} cpus of the machine
 * @param {boolean} [isLoadElsewhere] the generator takes none of these CPUs
 * @returns {number} cores; the smallest of these limits also if none can
 */
export function findLargestBindingCpuLimit(cpus, isLoadElsewhere = false) {
  return [4, 3, 2, 1, 0.5, 0.25, 0.1].find(cpuLimit => canBind(cpuLimit, cpus, isLoadElsewhere)) ?? 0.1
}
