import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from '../../lib/call-safely.js'
import { readQuotaV1, readQuotaV2 } from '../../node/kernel/cgroup.js'

/** A job, a container or a service of systemd may have a CPU quota, which holds for this kit and all that it starts. */
/**
 * @import { Limits } from '../../model/types.ts'
 * @import { CapWay } from './cgroups.js'
 */

// The kernel's default period of a quota.
const PERIOD_US = 100_000
// The least quota that a kernel takes is 1 ms.
const STEP_US = 1000

/**
 * Finds the smallest quota of the groups above those of a run, as far as they are visible.
 * @param {CapWay} capWay
 * @returns {NonNullable<Limits['quota']> | null} null: none of them has a quota, or this process creates no groups (`systemd-run`, or no
 *   way at all)
 * @throws the system's error if a quota of cgroup v2 cannot be read
 */
export function findSmallestQuota(capWay) {
  if (capWay.how !== 'v1' && capWay.how !== 'v2') return null
  const isV1 = capWay.how === 'v1'
  /** @type {NonNullable<Limits['quota']> | null} */
  let least = null
  for (let folder = capWay.parents.cpu; existsSync(path.join(folder, 'cgroup.procs')); folder = path.dirname(folder)) {
    // A kernel without CONFIG_CFS_BANDWIDTH has no such files in v1: then there is no quota.
    const cores = isV1 ? callSafely(() => readQuotaV1(folder), Number.POSITIVE_INFINITY) : readQuotaV2(folder)
    if (cores < (least?.cores ?? Number.POSITIVE_INFINITY)) least = { cores, folder }
  }
  return least
}

/**
 * Probes, by bisection, the largest quota that cgroup v1 accepts for a group: at most that of any group above it,
 * visible or not.
 * @param {string} folder of the group, whose quota is changed
 * @param {number} mostCores the largest to try
 * @returns {number} cores, to 0.01; `mostCores` if that is accepted; 0: none is accepted
 */
export function probeLargestQuota(folder, mostCores) {
  const isQuotaAccepted = (/** @type {number} */ steps) =>
    callSafely(() => {
      writeFileSync(path.join(folder, 'cpu.cfs_quota_us'), `${steps * STEP_US}`)
      return true
    }, false)
  let [fits, tooMuch] = [0, Math.ceil((mostCores * PERIOD_US) / STEP_US)]
  if (isQuotaAccepted(tooMuch)) return mostCores
  while (tooMuch - fits > 1) {
    const middle = Math.floor((fits + tooMuch) / 2)
    if (isQuotaAccepted(middle)) fits = middle
    else tooMuch = middle
  }
  return (fits * STEP_US) / PERIOD_US
}

/**
 * Probes the largest CPU limit that this machine accepts, with a group that it removes at once: no file shows the
 * quota of an invisible group.
 * @param {CapWay} way
 * @param {number} mostCores the largest to try
 * @returns {number} as `probeLargestQuota`; mostCores without trying, unless the way is that of v1: v2 accepts any quota
 * @throws the system's error if the group cannot be created or removed
 */
export function probeLargestCap(way, mostCores) {
  if (way.how !== 'v1') return mostCores
  const folder = path.join(way.parents.cpu, `sidecar-bench-doctor-${process.pid}`)
  mkdirSync(folder)
  try {
    writeFileSync(path.join(folder, 'cpu.cfs_period_us'), `${PERIOD_US}`)
    return probeLargestQuota(folder, mostCores)
  } finally {
    rmdirSync(folder)
  }
}
