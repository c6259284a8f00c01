import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { waitForCondition } from '../../lib/wait.js'
import { openCountersV1, openCountersV2, readPids } from '../../node/kernel/cgroup.js'
import { killProcess } from './marks.js'
import { findLargestQuota } from './quota.js'

/** @import { CgroupTree, Limits, TreeWay } from './cgroups.js' */

// The kernel's default period of a quota.
const PERIOD_US = 100_000
// CPU requests as the kubelet and the container runtime hand them to the kernel.
const SHARES_PER_CORE = 1024
const SHARES = { least: 2, most: 262_144 }
const WEIGHT_MOST = 10_000
const REMOVE_SECONDS = 30
// Temporary errors: killed processes take a moment to exit, and this process may be out of file descriptors.
const TEMPORARY = ['EBUSY', 'EMFILE', 'ENFILE']
const GONE = ['ENOENT', 'ENODEV']

/**
 * Creates a subtree in each hierarchy of cpu, cpuacct and memory. Some of them may share a mount: in v2 all do.
 * @param {{ way: TreeWay, name: string }} options name: of the subtree below `way.parents`; in v2 the controllers
 *   must be on there
 * @returns {Promise<CgroupTree['create']>} it throws a BenchError if a limit cannot be set
 */
export async function createFolders({ way, name }) {
  const isV1 = way.how === 'v1'
  const bases = locateChild(way.parents, name)
  for (const base of listDistinctFolders(bases)) await mkdir(base)
  if (!isV1) await writeFile(path.join(bases.cpu, 'cgroup.subtree_control'), renderControllers(way))

  /**
   * Creates the group of a pod, unless it exists.
   * @param {NonNullable<Limits['pod']>} pod
   * @param {boolean} hasRequests processes have CPU requests
   */
  const openPod = async (pod, hasRequests) => {
    const folders = locateChild(bases, pod.name)
    for (const folder of listDistinctFolders(folders)) await mkdir(folder, { recursive: true })
    if (!isV1) await writeFile(path.join(folders.cpu, 'cgroup.subtree_control'), renderControllers(way))
    await writeQuota(folders.cpu, { cores: pod.cpuLimitCores, isV1 })
    // As in Kubernetes, a pod with a limit and no request requests its limit.
    if (hasRequests) await writeWeight(folders.cpu, { cores: pod.cpuLimitCores, isV1 })
    return folders
  }

  return async (group, { cpuLimitCores, cpuRequestCores, memoryLimitBytes, pod }) => {
    const podFolders = pod === undefined ? null : await openPod(pod, cpuRequestCores !== undefined)
    const folders = locateChild(podFolders ?? bases, group)
    for (const folder of listDistinctFolders(folders)) await mkdir(folder)
    if (cpuLimitCores !== null) await writeQuota(folders.cpu, { cores: cpuLimitCores, isV1 })
    if (cpuRequestCores !== undefined) await writeWeight(folders.cpu, { cores: cpuRequestCores, isV1 })
    const memoryFile = path.join(folders.memory, isV1 ? 'memory.limit_in_bytes' : 'memory.max')
    if (memoryLimitBytes !== null && way.lacksMemory)
      throw new BenchError(
        `no memory limit of ${memoryLimitBytes} bytes can be set: the memory controller is off in this kernel`,
      )
    if (memoryLimitBytes !== null) await writeFile(memoryFile, `${memoryLimitBytes}`)
    return {
      joinFiles: listDistinctFolders(folders).map(folder => path.join(folder, 'cgroup.procs')),
      ...(isV1 ? openCountersV1(folders) : openCountersV2(folders.cpu)),
      async remove() {
        for (const folder of listDistinctFolders(folders)) await removeCgroup(folder)
        // The pod's group goes with its last process: rmdir fails before.
        if (podFolders) for (const folder of listDistinctFolders(podFolders)) await rmdir(folder).catch(() => {})
      },
    }
  }
}

/**
 * Writes the weight of a CPU request.
 * @param {string} folder of the controller cpu
 * @param {{ cores: number, isV1: boolean }} request
 */
function writeWeight(folder, { cores, isV1 }) {
  if (!isV1) return writeFile(path.join(folder, 'cpu.weight'), `${toCpuWeight(cores)}`)
  return writeFile(path.join(folder, 'cpu.shares'), `${toCpuShares(cores)}`)
}

/**
 * Writes the quota of a CPU limit.
 * @param {string} folder of the controller cpu
 * @param {{ cores: number, isV1: boolean }} quota
 * @throws {BenchError} if the kernel refuses it, with the largest that fits
 */
async function writeQuota(folder, { cores, isV1 }) {
  const quotaUs = Math.round(cores * PERIOD_US)
  if (!isV1) return writeFile(path.join(folder, 'cpu.max'), `${quotaUs} ${PERIOD_US}`)
  await writeFile(path.join(folder, 'cpu.cfs_period_us'), `${PERIOD_US}`)
  await writeFile(path.join(folder, 'cpu.cfs_quota_us'), `${quotaUs}`).catch(error => {
    throw error.code === 'EINVAL' ? createQuotaError(folder, cores, error) : error
  })
}

/**
 * Creates the error for a quota that cgroup v1 refuses, with the largest that fits, which it finds by setting quotas.
 * @param {string} folder of the controller cpu, whose quota is changed
 * @param {number} cores
 * @param {Error} cause
 * @returns {BenchError}
 */
function createQuotaError(folder, cores, cause) {
  const fittingCores = findLargestQuota(folder, cores)
  const what = `the kernel refused a cap of ${cores} cores for ${folder} (EINVAL)`
  const why = 'a group above it, of this job or container, has a smaller quota'
  const advice =
    fittingCores > 0
      ? `at most ${fittingCores} cores fit: give --cpu ${fittingCores}, or raise that quota`
      : 'raise that quota, or measure without a cap: --cpu none'
  return new BenchError(`${what}: ${why}, which may not be visible from here; ${advice}`, { cause })
}

/**
 * Turns the controllers on for the children of a group of cgroup v2. Processes in it are moved to a leaf first (the
 * rule of no internal processes, Documentation/admin-guide/cgroup-v2.rst).
 * @param {TreeWay} way
 */
export async function enableControllers(way) {
  const folder = way.parents.cpu
  const control = path.join(folder, 'cgroup.subtree_control')
  const enabled = (await readFile(control, 'utf8')).split(/\s+/)
  if (enabled.includes('cpu') && (enabled.includes('memory') || way.lacksMemory)) return
  if (existsSync(path.join(folder, 'cgroup.type'))) {
    const leaf = path.join(folder, 'sidecar-bench-supervisor')
    await mkdir(leaf, { recursive: true })
    for (const pid of readPids(folder)) await writeFile(path.join(leaf, 'cgroup.procs'), `${pid}`)
  }
  await writeFile(control, renderControllers(way))
}

/**
 * Renders the controllers to turn on.
 * @param {TreeWay} way
 * @returns {string} for `cgroup.subtree_control`
 */
const renderControllers = ({ lacksMemory }) => (lacksMemory ? '+cpu' : '+cpu +memory')

/**
 * Kills every process in a cgroup and below it, and removes them all. It does nothing if the cgroup does not exist.
 * @param {string} folder
 * @throws {TimeoutError} if processes do not exit in time; the system's error if it may not be removed
 */
export async function removeCgroup(folder) {
  const what = `the processes of ${folder} to end`
  await waitForCondition(() => tryRemove(folder), { what, deadlineSeconds: REMOVE_SECONDS, intervalMs: 5 })
}

/**
 * Kills processes and removes cgroups, as far as possible.
 * @param {string} folder
 * @returns {Promise<boolean>} whether the cgroup is gone; false: try again
 */
async function tryRemove(folder) {
  try {
    const children = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
    for (const child of children) await tryRemove(path.join(folder, child.name))
    // The kernel writes 0 for a process that cannot be seen from here.
    for (const pid of readPids(folder)) if (pid > 0) killProcess(pid)
    await rmdir(folder)
    return true
  } catch (error) {
    const code = `${/** @type {NodeJS.ErrnoException} */ (error).code}`
    if (GONE.includes(code)) return true
    if (TEMPORARY.includes(code)) return false
    throw error
  }
}

/**
 * Locates the folders of a group below others.
 * @param {TreeWay['parents']} folders
 * @param {string} name of the group
 * @returns {TreeWay['parents']}
 */
function locateChild({ cpu, cpuacct, memory }, name) {
  return { cpu: path.join(cpu, name), cpuacct: path.join(cpuacct, name), memory: path.join(memory, name) }
}

/**
 * Lists the folders of a group, each once.
 * @param {TreeWay['parents']} folders
 * @returns {string[]} one for cgroup v2
 */
function listDistinctFolders(folders) {
  return [...new Set(Object.values(folders))]
}

/**
 * Converts a CPU request to `cpu.shares` of cgroup v1, as MilliCPUToShares in pkg/kubelet/cm/helpers_linux.go of
 * Kubernetes.
 * @param {number} cores
 * @returns {number} 2 to 262144
 */
export function toCpuShares(cores) {
  return Math.min(SHARES.most, Math.max(SHARES.least, Math.floor(cores * SHARES_PER_CORE)))
}

/**
 * Converts a CPU request to `cpu.weight` of cgroup v2, as ConvertCPUSharesToCgroupV2Value of
 * github.com/opencontainers/cgroups, which runc has since 1.3.2: a curve through the least, the default (1024 shares,
 * weight 100) and the most. Older runtimes had a line, `1 + (shares - 2) * 9999 / 262142`, on which one core has the
 * weight 39.
 * @param {number} cores
 * @returns {number} 1 to 10000
 */
export function toCpuWeight(cores) {
  const shares = toCpuShares(cores)
  if (shares === SHARES.most) return WEIGHT_MOST
  const log = Math.log2(shares)
  return Math.ceil(Number((10 ** ((log * log + 125 * log) / 612 - 7 / 34)).toFixed(6)))
}
