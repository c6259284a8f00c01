/**
 * At which caps sidecars can bind. Pure.
 */

// Beside one capped core of a sidecar, its peer, k6 and the applications use about 2.5 more at saturation
// (gateway-ratings, measured on two CPUs): a sidecar can bind where cap × this fits the machine.
const CPUS_PER_CAPPED_CORE = 3.5

/**
 * Whether sidecars of a cap can bind on so many CPUs.
 * @param {number} cap cores
 * @param {number} cpus
 */
export function canBind(cap, cpus) {
  return cap * CPUS_PER_CAPPED_CORE <= cpus
}

/**
 * The largest cap at which sidecars can bind on so many CPUs.
 * @param {number} cpus
 */
export function largestBindingCap(cpus) {
  return [4, 3, 2, 1, 0.5, 0.25, 0.1].find(cap => canBind(cap, cpus)) ?? 0.1
}
