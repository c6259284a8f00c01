import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { killProcess } from '../../lib/kill-process.js'
import { roundUp } from '../../lib/round-up.js'
import { waitForCondition } from '../../lib/wait.js'
import { openCountersV1, openCountersV2, readPids } from '../../node/kernel/cgroup.js'
import { probeLargestQuota } from './quota.js'

/** @import { CgroupTree, GroupLimits, TreeWay } from './cgroups.js' */

// The kernel's default period of a quota.
const PERIOD_US = 100_000
// The kubelet and the container runtime hand CPU requests to the kernel in these units and bounds.
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
 * @returns {Promise<CgroupTree['create']>} creates a group; it throws as `writeLimits`, or the system's error if a folder cannot be
 *   created, and what it has created stays until the tree is removed
 * @throws the system's error if a folder cannot be created, or a controller not turned on
 */
export async function createCgroupSubtree({ way, name }) {
  const isV1 = way.how === 'v1'
  const bases = locateChild(way.parents, name)
  for (const base of listDistinctFolders(bases)) await mkdir(base)
  if (!isV1) await writeFile(path.join(bases.cpu, 'cgroup.subtree_control'), renderControllers(way))

  /**
   * Creates the group of a pod, unless it exists, and sets its limit.
   * @param {NonNullable<GroupLimits['pod']>} pod
   * @param {boolean} hasRequests processes have CPU requests
   * @returns its folders
   * @throws as `writeQuota`; the system's error if a folder cannot be created
   */
  const createPodGroup = async (pod, hasRequests) => {
    const folders = locateChild(bases, pod.name)
    for (const folder of listDistinctFolders(folders)) await mkdir(folder, { recursive: true })
    if (!isV1) await writeFile(path.join(folders.cpu, 'cgroup.subtree_control'), renderControllers(way))
    await writeQuota(folders.cpu, { cores: pod.cpuLimitCores, isV1 })
    // As in Kubernetes, a pod with a limit and no request requests its limit.
    if (hasRequests) await writeWeight(folders.cpu, { cores: pod.cpuLimitCores, isV1 })
    return folders
  }

  return async (group, limits) => {
    const { pod, cpuRequestCores } = limits
    const podFolders = pod === undefined ? null : await createPodGroup(pod, cpuRequestCores !== undefined)
    const folders = locateChild(podFolders ?? bases, group)
    for (const folder of listDistinctFolders(folders)) await mkdir(folder)
    await writeLimits(folders, limits, way)
    return {
      joinFiles: listDistinctFolders(folders).map(folder => path.join(folder, 'cgroup.procs')),
      ...(isV1 ? openCountersV1(folders) : openCountersV2(folders.cpu)),
      async remove() {
        for (const folder of listDistinctFolders(folders)) await killAndRemoveCgroup(folder)
        // The pod's group goes with its last process: rmdir fails before.
        if (podFolders) for (const folder of listDistinctFolders(podFolders)) await rmdir(folder).catch(() => {})
      },
    }
  }
}

/**
 * Writes the limits of a group, but for that of its pod. A limit that is null or absent is not set.
 * @param {TreeWay['parents']} folders of the group
 * @param {GroupLimits} limits
 * @param {TreeWay} way
 * @throws {BenchError} if the kernel refuses the quota, or has no memory controller for a memory limit; the system's error if a
 *   file cannot be written
 */
async function writeLimits(folders, { cpuLimitCores, cpuRequestCores, memoryLimitBytes }, { how, lacksMemory }) {
  const isV1 = how === 'v1'
  if (cpuLimitCores !== null) await writeQuota(folders.cpu, { cores: cpuLimitCores, isV1 })
  if (cpuRequestCores !== undefined) await writeWeight(folders.cpu, { cores: cpuRequestCores, isV1 })
  if (memoryLimitBytes === null) return
  if (lacksMemory)
    throw new BenchError(
      `no memory limit of ${memoryLimitBytes} bytes can be set: the memory controller is off in this kernel`,
    )
  await writeFile(path.join(folders.memory, isV1 ? 'memory.limit_in_bytes' : 'memory.max'), `${memoryLimitBytes}`)
}

/**
 * Writes the weight of a CPU request: `cpu.shares` of cgroup v1, `cpu.weight` of v2.
 * @param {string} folder of the controller cpu
 * @param {{ cores: number, isV1: boolean }} request
 * @throws the system's error if it cannot be written
 */
function writeWeight(folder, { cores, isV1 }) {
  if (!isV1) return writeFile(path.join(folder, 'cpu.weight'), `${computeCpuWeight(cores)}`)
  return writeFile(path.join(folder, 'cpu.shares'), `${computeCpuShares(cores)}`)
}

/**
 * Writes the quota of a CPU limit.
 * @param {string} folder of the controller cpu
 * @param {{ cores: number, isV1: boolean }} quota
 * @throws {BenchError} if cgroup v1 refuses it, with the largest that fits, which is then set; the system's error if it cannot be
 *   written
 */
async function writeQuota(folder, { cores, isV1 }) {
  const quotaUs = Math.round(cores * PERIOD_US)
  if (!isV1) return writeFile(path.join(folder, 'cpu.max'), `${quotaUs} ${PERIOD_US}`)
  await writeFile(path.join(folder, 'cpu.cfs_period_us'), `${PERIOD_US}`)
  await writeFile(path.join(folder, 'cpu.cfs_quota_us'), `${quotaUs}`).catch(error => {
    if (error.code !== 'EINVAL') throw error
    const refusal = renderQuotaRefusal({ folder, cores, fittingCores: probeLargestQuota(folder, cores) })
    throw new BenchError(refusal, { cause: error })
  })
}

/**
 * Renders why the kernel refused a quota, and what to do.
 * @param {{ folder: string, cores: number, fittingCores: number }} options fittingCores: the largest that fits; 0: none
 * @returns {string}
 */
function renderQuotaRefusal({ folder, cores, fittingCores }) {
  const refusal = `the kernel refused a cap of ${cores} cores for ${folder} (EINVAL)`
  const reason = 'a group above it, of this job or container, has a smaller quota'
  const advice =
    fittingCores > 0
      ? `at most ${fittingCores} cores fit: give --cpu ${fittingCores}, or raise that quota`
      : 'raise that quota, or measure without a cap: --cpu none'
  return `${refusal}: ${reason}, which may not be visible from here; ${advice}`
}

/**
 * Turns the controllers on for the children of a group of cgroup v2; it does nothing if they are on. The processes of a group that is
 * not the root are moved to a leaf first, which stays (the rule of no internal processes, Documentation/admin-guide/cgroup-v2.rst).
 * @param {TreeWay} way whose `parents` is the group
 * @throws the system's error if this user may not, a process has ended before it was moved, or one of another pid namespace stays (EBUSY)
 */
export async function enableControllers(way) {
  const folder = way.parents.cpu
  const control = path.join(folder, 'cgroup.subtree_control')
  const enabled = (await readFile(control, 'utf8')).split(/\s+/)
  if (enabled.includes('cpu') && (enabled.includes('memory') || way.lacksMemory)) return
  if (existsSync(path.join(folder, 'cgroup.type'))) {
    const leaf = path.join(folder, 'sidecar-bench-supervisor')
    await mkdir(leaf, { recursive: true })
    // A process of another pid namespace has pid 0 here, and writing 0 would move the kit itself.
    for (const pid of readPids(folder)) if (pid > 0) await writeFile(path.join(leaf, 'cgroup.procs'), `${pid}`)
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
 * Kills every process in a cgroup and below it, and removes the cgroups. It does nothing if the cgroup does not exist.
 * @param {string} folder
 * @throws {TimeoutError} if processes do not exit in REMOVE_SECONDS; the system's error if it may not be removed
 */
export async function killAndRemoveCgroup(folder) {
  await waitForCondition(() => tryKillAndRemove(folder), {
    what: `the processes of ${folder} to end`,
    deadlineSeconds: REMOVE_SECONDS,
    intervalMs: 5,
  })
}

/**
 * Kills the processes in a cgroup and below it, and tries once to remove the cgroups.
 * @param {string} folder
 * @returns {Promise<boolean>} true: it is gone, or never existed; false: a retry may succeed
 * @throws the system's error if a retry would not help
 */
async function tryKillAndRemove(folder) {
  try {
    const children = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
    for (const child of children) await tryKillAndRemove(path.join(folder, child.name))
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
 * Locates the folders of a group below those of its parent.
 * @param {TreeWay['parents']} folders of the parent
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
 * Computes `cpu.shares` of cgroup v1 for a CPU request, as MilliCPUToShares in pkg/kubelet/cm/helpers_linux.go of
 * Kubernetes.
 * @param {number} cores
 * @returns {number} SHARES.least to SHARES.most
 */
export function computeCpuShares(cores) {
  return Math.min(SHARES.most, Math.max(SHARES.least, Math.floor(cores * SHARES_PER_CORE)))
}

/**
 * Computes `cpu.weight` of cgroup v2 for a CPU request, as ConvertCPUSharesToCgroupV2Value of
 * github.com/opencontainers/cgroups, which runc has since 1.3.2: a curve through the least, the default (1024 shares,
 * weight 100) and the most. Older runtimes had a line, `1 + (shares - 2) * 9999 / 262142`, on which one core has the
 * weight 39.
 * @param {number} cores
 * @returns {number} 1 to WEIGHT_MOST
 */
export function computeCpuWeight(cores) {
  const shares = computeCpuShares(cores)
  if (shares === SHARES.most) return WEIGHT_MOST
  const log = Math.log2(shares)
  return roundUp(10 ** ((log * log + 125 * log) / 612 - 7 / 34))
}
