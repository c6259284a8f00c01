import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openCountersV1 } from '../../node/kernel/cgroup-v1.js'
import { removeCgroup } from './remove-cgroup.js'

/** @import { CgroupTree, GroupLimits } from './cgroups.js' */

const PERIOD_US = 100_000

/**
 * Makes a subtree in each of the hierarchies cpu, cpuacct and memory of cgroup v1 (some may share a mount).
 * @param {{ parents: { cpu: string, cpuacct: string, memory: string }, name: string }} options
 * @returns {Promise<CgroupTree['create']>}
 */
export async function createTreeV1({ parents, name }) {
  const bases = {
    cpu: path.join(parents.cpu, name),
    cpuacct: path.join(parents.cpuacct, name),
    memory: path.join(parents.memory, name),
  }
  for (const base of distinct(bases)) await mkdir(base)
  return (group, limits) => createGroup(bases, group, limits)
}

/** @param {{ cpu: string, cpuacct: string, memory: string }} bases @param {string} name @param {GroupLimits} limits */
async function createGroup(bases, name, { cpuCores, memoryLimitBytes }) {
  const folders = {
    cpu: path.join(bases.cpu, name),
    cpuacct: path.join(bases.cpuacct, name),
    memory: path.join(bases.memory, name),
  }
  for (const folder of distinct(folders)) await mkdir(folder)
  if (cpuCores !== null) {
    await writeFile(path.join(folders.cpu, 'cpu.cfs_period_us'), `${PERIOD_US}`)
    await writeFile(path.join(folders.cpu, 'cpu.cfs_quota_us'), `${Math.round(cpuCores * PERIOD_US)}`)
  }
  if (memoryLimitBytes !== null)
    await writeFile(path.join(folders.memory, 'memory.limit_in_bytes'), `${memoryLimitBytes}`)

  const counters = openCountersV1(folders)
  return {
    joinFiles: distinct(folders).map(folder => path.join(folder, 'cgroup.procs')),
    ...counters,
    remove: async () => {
      for (const folder of distinct(folders)) await removeCgroup(folder)
    },
  }
}

/** @param {Record<string, string>} folders */
function distinct(folders) {
  return [...new Set(Object.values(folders))]
}
