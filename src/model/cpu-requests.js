/** CPU requests as the kubelet and the container runtime hand them to the kernel. Pure. */

const SHARES_PER_CORE = 1024
const SHARES = { least: 2, most: 262_144 }
const WEIGHT_MOST = 10_000

/**
 * Converts a CPU request to `cpu.shares` of cgroup v1: MilliCPUToShares in pkg/kubelet/cm/helpers_linux.go of Kubernetes.
 * @param {number} cores
 */
export function toCpuShares(cores) {
  return Math.min(SHARES.most, Math.max(SHARES.least, Math.floor(cores * SHARES_PER_CORE)))
}

/**
 * Converts a CPU request to `cpu.weight` of cgroup v2: ConvertCPUSharesToCgroupV2Value of github.com/opencontainers/cgroups, which
 * runc has since 1.3.2: a curve through the least, the default (1024 shares, weight 100) and the most. Runtimes before it had
 * a line, `1 + (shares - 2) * 9999 / 262142`, on which one core has the weight 39.
 * @param {number} cores
 */
export function toCpuWeight(cores) {
  const shares = toCpuShares(cores)
  if (shares === SHARES.most) return WEIGHT_MOST
  const log = Math.log2(shares)
  return Math.ceil(Number((10 ** ((log * log + 125 * log) / 612 - 7 / 34)).toFixed(6)))
}
