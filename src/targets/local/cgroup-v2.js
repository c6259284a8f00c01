import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { numberAfter, openCounterFile } from './counter-file.js'
import { readPids } from './proc-files.js'
import { removeCgroup } from './remove-cgroup.js'

/**
 * @import { CgroupTree, GroupLimits } from './cgroups.js'
 */

const PERIOD_US = 100_000
const CONTROLLERS = '+cpu +memory'

/**
 * A subtree of a cgroup v2 hierarchy. The controllers must already be on in `parent`.
 * @param {{ parent: string, name: string }} options
 * @returns {Promise<CgroupTree>}
 */
export async function createTreeV2({ parent, name }) {
  const base = path.join(parent, name)
  await mkdir(base)
  await writeFile(path.join(base, 'cgroup.subtree_control'), CONTROLLERS)
  return { create: (group, limits) => createGroup(path.join(base, group), limits), remove: () => removeCgroup(base) }
}

/**
 * @param {string} folder
 * @param {GroupLimits} limits
 */
async function createGroup(folder, { cpuCores, memoryLimitBytes }) {
  await mkdir(folder)
  if (cpuCores !== null)
    await writeFile(path.join(folder, 'cpu.max'), `${Math.round(cpuCores * PERIOD_US)} ${PERIOD_US}`)
  if (memoryLimitBytes !== null) await writeFile(path.join(folder, 'memory.max'), `${memoryLimitBytes}`)

  const hasPeak = existsSync(path.join(folder, 'memory.peak')) // since Linux 5.19
  const open = (/** @type {string} */ name) => openCounterFile(path.join(folder, name))
  const files = {
    cpu: open('cpu.stat'),
    stat: open('memory.stat'),
    current: open('memory.current'),
    events: open('memory.events'),
  }
  const peak = hasPeak ? open('memory.peak') : null

  return {
    joinFiles: [path.join(folder, 'cgroup.procs')],
    read() {
      const before = performance.now()
      const cpu = files.cpu.read()
      const after = performance.now()
      const stat = files.stat.read()
      return {
        atSeconds: (before + after) / 2000,
        cpuSeconds: numberAfter(cpu, 'usage_usec') / 1e6,
        periods: numberAfter(cpu, 'nr_periods'),
        throttledPeriods: numberAfter(cpu, 'nr_throttled'),
        throttledSeconds: numberAfter(cpu, 'throttled_usec') / 1e6,
        anonBytes: numberAfter(stat, 'anon'),
        workingSetBytes: Math.max(0, Number(files.current.read()) - numberAfter(stat, 'inactive_file')),
        peakBytes: peak ? Number(peak.read()) : null,
        oomKills: numberAfter(files.events.read(), 'oom_kill'),
      }
    },
    readCapCores: () => readCap(folder),
    pids: () => readPids(folder),
    close() {
      for (const file of [...Object.values(files), ...(peak ? [peak] : [])]) file.close()
    },
    remove: () => removeCgroup(folder),
  }
}

/**
 * The least quota of a group and its ancestors, in cores; null when none has one.
 * @param {string} folder
 */
function readCap(folder) {
  let least = Number.POSITIVE_INFINITY
  for (let at = folder; existsSync(path.join(at, 'cgroup.procs')); at = path.dirname(at)) {
    const file = path.join(at, 'cpu.max')
    if (!existsSync(file)) continue
    const [quota, period] = readFileSync(file, 'utf8').trim().split(' ')
    if (quota !== 'max') least = Math.min(least, Number(quota) / Number(period))
  }
  return Number.isFinite(least) ? least : null
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
