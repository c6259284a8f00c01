import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { numberAfter, openCounterFile } from './counter-file.js'
import { readPids } from './proc-files.js'
import { removeCgroup } from './remove-cgroup.js'

/**
 * @import { CgroupTree, GroupLimits } from './cgroups.js'
 */

const PERIOD_US = 100_000

/**
 * A subtree in each of the hierarchies cpu, cpuacct and memory of cgroup v1 (some may share a mount).
 * @param {{ parents: { cpu: string, cpuacct: string, memory: string }, name: string }} options
 * @returns {Promise<CgroupTree>}
 */
export async function createTreeV1({ parents, name }) {
  const bases = {
    cpu: path.join(parents.cpu, name),
    cpuacct: path.join(parents.cpuacct, name),
    memory: path.join(parents.memory, name),
  }
  for (const base of distinct(bases)) await mkdir(base)
  return {
    create: (group, limits) => createGroup(bases, group, limits),
    remove: async () => {
      for (const base of distinct(bases)) await removeCgroup(base)
    },
  }
}

/**
 * @param {{ cpu: string, cpuacct: string, memory: string }} bases
 * @param {string} name
 * @param {GroupLimits} limits
 */
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

  const files = {
    usage: openCounterFile(path.join(folders.cpuacct, 'cpuacct.usage')),
    cpu: openCounterFile(path.join(folders.cpu, 'cpu.stat')),
    stat: openCounterFile(path.join(folders.memory, 'memory.stat')),
    current: openCounterFile(path.join(folders.memory, 'memory.usage_in_bytes')),
    peak: openCounterFile(path.join(folders.memory, 'memory.max_usage_in_bytes')),
    oom: openCounterFile(path.join(folders.memory, 'memory.oom_control')),
  }
  return {
    joinFiles: distinct(folders).map(folder => path.join(folder, 'cgroup.procs')),
    read() {
      const before = performance.now()
      const usage = files.usage.read()
      const after = performance.now()
      const cpu = files.cpu.read()
      const stat = files.stat.read()
      return {
        atSeconds: (before + after) / 2000,
        cpuSeconds: Number(usage) / 1e9,
        periods: numberAfter(cpu, 'nr_periods'),
        throttledPeriods: numberAfter(cpu, 'nr_throttled'),
        throttledSeconds: numberAfter(cpu, 'throttled_time') / 1e9,
        anonBytes: numberAfter(stat, 'total_rss'),
        workingSetBytes: Math.max(0, Number(files.current.read()) - numberAfter(stat, 'total_inactive_file')),
        peakBytes: Number(files.peak.read()),
        oomKills: numberAfter(files.oom.read(), 'oom_kill'),
      }
    },
    readCapCores: () => readCap(folders.cpu),
    pids: () => readPids(folders.cpu),
    close() {
      for (const file of Object.values(files)) file.close()
    },
    remove: async () => {
      for (const folder of distinct(folders)) await removeCgroup(folder)
    },
  }
}

/**
 * The least quota of a group and its ancestors, in cores; null when none has one.
 * @param {string} folder
 */
function readCap(folder) {
  let least = Number.POSITIVE_INFINITY
  for (let at = folder; existsSync(path.join(at, 'cpu.cfs_quota_us')); at = path.dirname(at)) {
    const quota = Number(readFileSync(path.join(at, 'cpu.cfs_quota_us'), 'utf8'))
    const period = Number(readFileSync(path.join(at, 'cpu.cfs_period_us'), 'utf8'))
    if (quota > 0) least = Math.min(least, quota / period)
  }
  return Number.isFinite(least) ? least : null
}

/** @param {Record<string, string>} folders */
function distinct(folders) {
  return [...new Set(Object.values(folders))]
}
