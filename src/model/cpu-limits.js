/** CPU limits at which sidecars can bind. Pure. */

// CPU per capped core of a sidecar: its peer, k6 and the applications use about 2.5 more at saturation
// (gateway-ratings, measured on two CPUs): a sidecar can bind where the limit × this fits the machine.
const CPUS_PER_CAPPED_CORE = 3.5
// CPU that the peer and the applications use, without the generator (1.9 on gateway-ratings).
const CPUS_PER_CAPPED_CORE_ALONE = 2

/** Says whether sidecars of a CPU limit can bind. @param {number} cpuLimit @param {number} cpus @param {boolean} [isLoadElsewhere] */
export function canBind(cpuLimit, cpus, isLoadElsewhere = false) {
  return cpuLimit * (isLoadElsewhere ? CPUS_PER_CAPPED_CORE_ALONE : CPUS_PER_CAPPED_CORE) <= cpus
}

// The same beside wrk is less: 1.7 on a link of one sidecar, and about 2.6 on a link of two.
const CPUS_PER_CAPPED_CORE_BESIDE_WRK = { one: 1.7, more: 2.6 }

/** Says whether sidecars can bind beside wrk only. @param {{ cpuLimit: number, cpus: number, sidecars: number }} options */
export function bindsOnlyBesideWrk({ cpuLimit, cpus, sidecars }) {
  const { one, more } = CPUS_PER_CAPPED_CORE_BESIDE_WRK
  return !canBind(cpuLimit, cpus) && cpuLimit * (sidecars === 1 ? one : more) <= cpus
}

/** Finds the largest CPU limit at which sidecars can bind. @param {number} cpus @param {boolean} [isLoadElsewhere] */
export function largestBindingCpuLimit(cpus, isLoadElsewhere = false) {
  return [4, 3, 2, 1, 0.5, 0.25, 0.1].find(cpuLimit => canBind(cpuLimit, cpus, isLoadElsewhere)) ?? 0.1
}
