import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../../lib/errors.js'
import { findCgroupPath, joinExistingPath, parseMounts } from '../../node/kernel/cgroup.js'
import { readProcFile } from '../../node/kernel/proc-files.js'
import { createCgroupSubtree, enableControllers, killAndRemoveCgroup } from './cgroup-folders.js'

/**
 * @import { Ledger, ProcessSpec } from '../../model/types.ts'
 * @import { Counters, Folders } from '../../node/kernel/cgroup.js'
 */

/**
 * Processes that are counted, and limited, together. A process joins by writing its pid into each of joinFiles. `remove` kills
 * them, and removes the group; it rejects if that fails.
 * @typedef {Counters & { joinFiles: string[], remove: () => Promise<void> }} Group
 */
/**
 * The limits of a group. `pod` is its parent group, which the processes of a service share.
 * @typedef {Pick<ProcessSpec, 'cpuLimitCores' | 'cpuRequestCores' | 'memoryLimitBytes'> &
 *   { pod?: { name: string, cpuLimitCores: number } }} GroupLimits
 */
/**
 * @typedef {object} CgroupTree
 * @property {(name: string, limits: GroupLimits) => Promise<Group>} create creates a group of this name
 * @property {() => Promise<void>} remove kills all processes in the tree, and removes it; rejects if a part of it stays
 */

/**
 * A way in which the kit creates groups itself.
 * @typedef {object} TreeWay
 * @property {'v1' | 'v2'} how
 * @property {1 | 2} version of cgroups
 * @property {Folders} parents folders in which the tree is created
 * @property {boolean} isRoot the tree is created at the root of the hierarchy of v2, and not in a delegated group; true with v1
 * @property {true} [lacksMemory] the memory controller is off, so memory is read from /proc, and `parents.memory` is the folder
 *   of cpu
 */
/**
 * A way to limit the CPU of processes: groups of the kit's own, a scope of systemd that has a delegated group, or none, with the
 * reason. The version is null if no hierarchy with cpu is mounted.
 * @typedef {TreeWay | { how: 'systemd-run', version: 2 } | { how: 'none', version: 1 | 2 | null, reason: string }} CapWay
 */

const CGROUP_PREFIX = 'sidecar-bench.'
const NO_MEMORY = { lacksMemory: /** @type {const} */ (true) }
/** The message for a memory controller that is off, and how to turn it on. */
export const MEMORY_OFF =
  'the memory controller of cgroups is off in this kernel: memory is read from /proc, process by process, and --memory cannot be set; to turn it on, add cgroup_enable=memory to the kernel command line (on a Raspberry Pi in /boot/firmware/cmdline.txt) and reboot'
const WAYS_OUT = 'run as root; or in a cgroup v2 subtree delegated to this user; or measure without a cap: --cpu none'

/**
 * Finds how the CPU of processes can be limited: in writable hierarchies, in a delegated subtree, or by systemd.
 * @param {object} [options]
 * @param {string} [options.mountinfo] text of /proc/PID/mountinfo
 * @param {string} [options.membership] text of /proc/PID/cgroup
 * @param {() => Promise<boolean>} [options.checkSystemd] says whether a systemd of this user runs
 * @returns {Promise<CapWay>} `none`: it cannot
 */
export async function findCapWay({
  mountinfo = readProcFile('/proc/self/mountinfo'),
  membership = readProcFile('/proc/self/cgroup'),
  checkSystemd = checkUserSystemd,
} = {}) {
  const { v1, v2 } = parseMounts(mountinfo)
  if (['cpu', 'cpuacct'].every(name => v1.has(name))) return findWayV1(v1, membership)
  if (v2 === null)
    return { how: 'none', version: null, reason: `no cgroup hierarchy is mounted with cpu and memory: ${WAYS_OUT}` }
  const home = joinExistingPath(v2, findCgroupPath(membership, ''))
  const way = findWayV2({ root: v2, home })
  if (way !== null) return way
  if (await checkSystemd()) return { how: 'systemd-run', version: 2 }
  const reason = `the cgroup ${home} is not delegated to this user with cpu and memory: ${WAYS_OUT}`
  return { how: 'none', version: 2, reason }
}

/**
 * Finds whether groups can be created in those of this process in cgroup v1, or at the mounts if these are not visible.
 * @param {Map<string, string>} mounts by controller; cpu and cpuacct are among them
 * @param {string} membership text of /proc/PID/cgroup
 * @returns {CapWay} `none`: a folder is not writable
 */
function findWayV1(mounts, membership) {
  const lacksMemory = !mounts.has('memory')
  const [cpu, cpuacct, memory] = ['cpu', 'cpuacct', lacksMemory ? 'cpu' : 'memory'].map(name =>
    joinExistingPath(mounts.get(name) ?? '', findCgroupPath(membership, name)),
  )
  if ([cpu, cpuacct, memory].every(isWritable))
    return { how: 'v1', version: 1, parents: { cpu, cpuacct, memory }, isRoot: true, ...(lacksMemory && NO_MEMORY) }
  return { how: 'none', version: 1, reason: `cgroup v1 under ${cpu} is not writable: ${WAYS_OUT}` }
}

/**
 * Finds whether groups can be created in cgroup v2: at the root of the hierarchy, else in the group of this process.
 * @param {{ root: string, home: string }} folders root: of the hierarchy; home: the group of this process
 * @returns {CapWay | null} `none`: the root lacks the controller cpu; null: neither is writable, or the group of this process lacks
 *   the controller, which systemd may delegate in another
 */
function findWayV2({ root, home }) {
  const parent = isWritable(path.join(root, 'cgroup.subtree_control')) ? root : home
  if (!isWritable(parent) || !isWritable(path.join(parent, 'cgroup.subtree_control'))) return null
  const isRoot = parent === root
  const controllers = readProcFile(path.join(parent, 'cgroup.controllers')).split(/\s+/)
  if (controllers.includes('cpu')) {
    const parents = { cpu: parent, cpuacct: parent, memory: parent }
    return { how: 'v2', version: 2, parents, isRoot, ...(!controllers.includes('memory') && NO_MEMORY) }
  }
  if (!isRoot) return null
  const offer = controllers.filter(Boolean).join(', ') || 'none'
  const reason = `the cgroup ${parent} has no controller cpu (it offers ${offer}): turn it on there, or measure without a cap: --cpu none`
  return { how: 'none', version: 2, reason }
}

/**
 * Creates the cgroups of a run, and enters them in its ledger. If it fails, they are removed.
 * @param {{ way: TreeWay, ledger: Ledger }} options
 * @returns {Promise<CgroupTree>} its `remove` also strikes them from the ledger
 * @throws {BenchError} if a folder exists already; the system's error if one cannot be created, or a controller not turned on
 */
export async function createCgroupTree({ way, ledger }) {
  const name = `${CGROUP_PREFIX}${ledger.runId}`
  const folders = listTreeParents(way).map(parent => path.join(parent, name))
  const existing = folders.find(folder => existsSync(folder))
  if (existing) throw new BenchError(`the cgroup ${existing} is already there, and is not of this run: start it again`)
  for (const folder of folders) ledger.hold('cgroup', folder)
  const remove = async () => {
    const removals = folders.map(async folder => {
      await killAndRemoveCgroup(folder)
      ledger.release('cgroup', folder)
    })
    // All are tried, also after one has failed.
    await Promise.allSettled(removals)
    await Promise.all(removals)
  }
  try {
    if (way.how === 'v2') await enableControllers(way)
    return { create: await createCgroupSubtree({ way, name }), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Creates the argv that runs a command in a delegated scope of the user's systemd.
 * @param {string[]} command its argv
 * @returns {string[]}
 */
export function wrapInSystemdScope(command) {
  return ['systemd-run', '--user', '--scope', '--quiet', '--property=Delegate=yes', '--', ...command]
}

/**
 * Lists the folders in which trees of runs are created, each once.
 * @param {CapWay} way
 * @returns {string[]} []: no tree can be created
 */
export function listTreeParents(way) {
  return way.how === 'v1' || way.how === 'v2' ? [...new Set(Object.values(way.parents))] : []
}

/**
 * Parses a run's id from the name of its cgroup.
 * @param {string} name of a folder in a cgroup hierarchy
 * @returns {string | null} null: the cgroup is not of a run
 */
export function parseRunId(name) {
  return name.startsWith(CGROUP_PREFIX) ? name.slice(CGROUP_PREFIX.length) : null
}

/** Says whether a systemd of this user runs. @returns {Promise<boolean>} false also: there is no systemctl, or it does not answer */
async function checkUserSystemd() {
  const status = await execa('systemctl', ['--user', 'is-system-running'], { reject: false, timeout: 2000 })
  return ['running', 'degraded'].includes(status.stdout?.trim() ?? '')
}

/**
 * Says whether this user may write a file or folder.
 * @param {string} file
 * @returns {boolean} false also: it does not exist
 */
function isWritable(file) {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}
