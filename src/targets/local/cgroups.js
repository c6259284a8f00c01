import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../../lib/errors.js'
import { findCgroupPath, joinExistingPath, parseMounts } from '../../node/kernel/cgroup.js'
import { readProcFile } from '../../node/kernel/proc-files.js'
import { createFolders, enableControllers, removeCgroup } from './cgroup-folders.js'

/**
 * @import { Counters, Folders } from '../../node/kernel/cgroup.js'
 * @import { Ledger, ProcessSpec } from '../../model/types.ts'
 */

/**
 * Processes that are counted, and limited, together. A process joins by writing its pid into each of joinFiles.
 * @typedef {Counters & { joinFiles: string[], remove: () => Promise<void> }} Group
 * @typedef {Pick<ProcessSpec, 'cpuLimitCores' | 'cpuRequestCores' | 'memoryLimitBytes'> &
 *   { pod?: { name: string, cpuLimitCores: number } }} Limits
 * @typedef {object} CgroupTree
 * @property {(name: string, limits: Limits) => Promise<Group>} create creates a group of this name; `pod` is its parent group,
 *   which the processes of a service share
 * @property {() => Promise<void>} remove kills all processes in the tree, and removes it
 */

/**
 * A way in which the kit creates groups itself.
 * @typedef {object} TreeWay
 * @property {'v1' | 'v2'} how
 * @property {1 | 2} version of cgroups
 * @property {Folders} parents folders in which the tree is created
 * @property {boolean} isRoot the tree is created at the root of the hierarchy; always true with v1
 * @property {true} [lacksMemory] the memory controller is off, so memory is read from /proc, and `parents.memory` is the folder
 *   of cpu
 */
/**
 * A way to limit the CPU of processes: groups of the kit's own, a scope of systemd that has a delegated group, or none, with the
 * reason. The version is null if no hierarchy with cpu is mounted.
 * @typedef {TreeWay | { how: 'systemd-run', version: 2 } | { how: 'none', version: 1 | 2 | null, reason: string }} CapWay
 */

const PREFIX = 'sidecar-bench.'
/** The message for a memory controller that is off, and how to turn it on. */
export const MEMORY_OFF =
  'the memory controller of cgroups is off in this kernel: memory is read from /proc, process by process, and --memory cannot be set; to turn it on, add cgroup_enable=memory to the kernel command line (on a Raspberry Pi in /boot/firmware/cmdline.txt) and reboot'
const WAYS_OUT = 'run as root; or in a cgroup v2 subtree delegated to this user; or measure without a cap: --cpu none'

/**
 * Finds how the CPU of processes can be limited: in writable hierarchies, in a delegated subtree, or by systemd.
 * @returns {Promise<CapWay>} `none`: it cannot
 */
export async function findCapWay({
  mountinfo = readProcFile('/proc/self/mountinfo'),
  membership = readProcFile('/proc/self/cgroup'),
  hasSystemd = hasUserSystemd,
} = {}) {
  const mounts = parseMounts(mountinfo)
  if (['cpu', 'cpuacct'].every(name => mounts.v1.has(name))) {
    const lacksMemory = !mounts.v1.has('memory') && { lacksMemory: /** @type {const} */ (true) }
    const [cpu, cpuacct, memory] = ['cpu', 'cpuacct', lacksMemory ? 'cpu' : 'memory'].map(name =>
      joinExistingPath(mounts.v1.get(name) ?? '', findCgroupPath(membership, name)),
    )
    if ([cpu, cpuacct, memory].every(isWritable))
      return { how: 'v1', version: 1, parents: { cpu, cpuacct, memory }, isRoot: true, ...lacksMemory }
    return { how: 'none', version: 1, reason: `cgroup v1 under ${cpu} is not writable: ${WAYS_OUT}` }
  }
  if (!mounts.v2)
    return { how: 'none', version: null, reason: `no cgroup hierarchy is mounted with cpu and memory: ${WAYS_OUT}` }
  const home = joinExistingPath(mounts.v2, findCgroupPath(membership, ''))
  const parent = isWritable(path.join(mounts.v2, 'cgroup.subtree_control')) ? mounts.v2 : home
  if (isWritable(parent) && isWritable(path.join(parent, 'cgroup.subtree_control'))) {
    const offered = readProcFile(path.join(parent, 'cgroup.controllers')).split(/\s+/)
    const parents = { cpu: parent, cpuacct: parent, memory: parent }
    const lacksMemory = !offered.includes('memory') && { lacksMemory: /** @type {const} */ (true) }
    if (offered.includes('cpu')) return { how: 'v2', version: 2, parents, isRoot: parent === mounts.v2, ...lacksMemory }
    const reason = `the cgroup ${parent} has no controller cpu (it offers ${offered.filter(Boolean).join(', ') || 'none'}): turn it on there, or measure without a cap: --cpu none`
    if (parent === mounts.v2) return { how: 'none', version: 2, reason }
  }
  if (await hasSystemd()) return { how: 'systemd-run', version: 2 }
  const reason = `the cgroup ${home} is not delegated to this user with cpu and memory: ${WAYS_OUT}`
  return { how: 'none', version: 2, reason }
}

/**
 * Creates the cgroups of a run, and enters them in its ledger.
 * @param {{ way: TreeWay, ledger: Ledger }} options
 * @returns {Promise<CgroupTree>}
 * @throws {BenchError} if a folder exists already, or a controller cannot be turned on
 */
export async function createTree({ way, ledger }) {
  const name = `${PREFIX}${ledger.runId}`
  const folders = listTreeParents(way).map(parent => path.join(parent, name))
  const existing = folders.find(folder => existsSync(folder))
  if (existing) throw new BenchError(`the cgroup ${existing} is already there, and is not of this run: start it again`)
  for (const folder of folders) ledger.hold('cgroup', folder)
  const remove = async () => {
    const removing = folders.map(async folder => {
      await removeCgroup(folder)
      ledger.release('cgroup', folder)
    })
    await Promise.allSettled(removing)
    await Promise.all(removing)
  }
  try {
    if (way.how === 'v2') await enableControllers(way)
    return { create: await createFolders({ way, name }), remove }
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
 * Lists the folders in which trees of runs are created, for `cleanup`.
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
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null
}

/** Says whether a systemd of this user runs. */
async function hasUserSystemd() {
  const probe = await execa('systemctl', ['--user', 'is-system-running'], { reject: false, timeout: 2000 })
  return ['running', 'degraded'].includes(probe.stdout?.trim() ?? '')
}

/**
 * Says whether this user may write a file or folder.
 * @param {string} file
 */
function isWritable(file) {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}
