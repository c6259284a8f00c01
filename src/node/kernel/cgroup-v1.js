import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { numberAfter, numberOf, openCounterFile } from './counter-file.js'
import { readPids } from './proc-files.js'

/**
 * Opens the counters of a cgroup v1: one folder in each hierarchy (some may be the same).
 * @param {{ cpu: string, cpuacct: string, memory: string }} folders
 * @returns {import('./counter-file.js').Counters}
 */
export function openCountersV1(folders) {
  const files = {
    usage: openCounterFile(path.join(folders.cpuacct, 'cpuacct.usage')),
    cpu: openCounterFile(path.join(folders.cpu, 'cpu.stat')),
    stat: openCounterFile(path.join(folders.memory, 'memory.stat')),
    current: openCounterFile(path.join(folders.memory, 'memory.usage_in_bytes')),
    peak: openCounterFile(path.join(folders.memory, 'memory.max_usage_in_bytes')),
    oom: openCounterFile(path.join(folders.memory, 'memory.oom_control')),
  }
  return {
    read() {
      const before = performance.now()
      const usage = files.usage.read()
      const after = performance.now()
      const cpu = files.cpu.read()
      const stat = files.stat.read()
      return {
        atSeconds: (before + after) / 2000,
        cpuSeconds: numberOf(usage) / 1e9,
        periods: numberAfter(cpu, 'nr_periods'),
        throttledPeriods: numberAfter(cpu, 'nr_throttled'),
        throttledSeconds: numberAfter(cpu, 'throttled_time') / 1e9,
        anonBytes: numberAfter(stat, 'total_rss'),
        workingSetBytes: Math.max(0, numberOf(files.current.read()) - numberAfter(stat, 'total_inactive_file')),
        peakBytes: numberOf(files.peak.read()),
        oomKills: numberAfter(files.oom.read(), 'oom_kill'),
      }
    },
    readCapCores: () => readCap(folders.cpu),
    pids: () => readPids(folders.cpu),
    close() {
      for (const file of Object.values(files)) file.close()
    },
  }
}

/** The least quota of a group and its ancestors, in cores; null when none has one. @param {string} folder */
function readCap(folder) {
  let least = Number.POSITIVE_INFINITY
  for (let at = folder; existsSync(path.join(at, 'cpu.cfs_quota_us')); at = path.dirname(at)) {
    const quota = numberOf(readFileSync(path.join(at, 'cpu.cfs_quota_us'), 'utf8'))
    const period = numberOf(readFileSync(path.join(at, 'cpu.cfs_period_us'), 'utf8'))
    if (quota > 0) least = Math.min(least, quota / period)
  }
  return Number.isFinite(least) ? least : null
}
