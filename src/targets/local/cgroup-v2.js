import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openCountersV2 } from '../../node/kernel/cgroup-v2.js'
import { readPids } from '../../node/kernel/proc-files.js'
import { removeCgroup } from './remove-cgroup.js'

/** @import { CgroupTree, GroupLimits } from './cgroups.js' */

const PERIOD_US = 100_000
const CONTROLLERS = '+cpu +memory'

/**
 * Makes a subtree of a cgroup v2 hierarchy. The controllers must already be on in `parent`.
 * @param {{ parent: string, name: string }} options
 * @returns {Promise<CgroupTree['create']>}
 */
export async function createTreeV2({ parent, name }) {
  const base = path.join(parent, name)
  await mkdir(base)
  await writeFile(path.join(base, 'cgroup.subtree_control'), CONTROLLERS)
  return (group, limits) => createGroup(path.join(base, group), limits)
}

/** @param {string} folder @param {GroupLimits} limits */
async function createGroup(folder, { cpuCores, memoryLimitBytes }) {
  await mkdir(folder)
  if (cpuCores !== null)
    await writeFile(path.join(folder, 'cpu.max'), `${Math.round(cpuCores * PERIOD_US)} ${PERIOD_US}`)
  if (memoryLimitBytes !== null) await writeFile(path.join(folder, 'memory.max'), `${memoryLimitBytes}`)

  const counters = openCountersV2(folder)
  return {
    joinFiles: [path.join(folder, 'cgroup.procs')],
    ...counters,
    remove: () => removeCgroup(folder),
  }
}

/**
 * Turns the controllers on for the children of a group; processes in it are moved to a leaf first
 * (the rule of no internal processes, Documentation/admin-guide/cgroup-v2.rst).
 * @param {string} folder
 */
export async function enableControllers(folder) {
  const control = path.join(folder, 'cgroup.subtree_control')
  const enabled = (await readFile(control, 'utf8')).split(/\s+/)
  if (enabled.includes('cpu') && enabled.includes('memory')) return
  if (existsSync(path.join(folder, 'cgroup.type'))) {
    const leaf = path.join(folder, 'sidecar-bench-supervisor')
    await mkdir(leaf, { recursive: true })
    for (const pid of readPids(folder)) await writeFile(path.join(leaf, 'cgroup.procs'), `${pid}`)
  }
  await writeFile(control, CONTROLLERS)
}
