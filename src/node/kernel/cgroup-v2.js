import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { numberAfter, numberOf, openCounterFile } from './counter-file.js'
import { readPids } from './proc-files.js'

/** Opens the counters of a cgroup v2. @param {string} folder @returns {import('./counter-file.js').Counters} */
export function openCountersV2(folder) {
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
        workingSetBytes: Math.max(0, numberOf(files.current.read()) - numberAfter(stat, 'inactive_file')),
        peakBytes: peak ? numberOf(peak.read()) : null,
        oomKills: numberAfter(files.events.read(), 'oom_kill'),
      }
    },
    readCapCores: () => readCap(folder),
    pids: () => readPids(folder),
    close() {
      for (const file of [...Object.values(files), ...(peak ? [peak] : [])]) file.close()
    },
  }
}

/** The least quota of a group and its ancestors, in cores; null when none has one. @param {string} folder */
function readCap(folder) {
  let least = Number.POSITIVE_INFINITY
  for (let at = folder; existsSync(path.join(at, 'cgroup.procs')); at = path.dirname(at)) {
    const file = path.join(at, 'cpu.max')
    if (!existsSync(file)) continue
    const [quota, period] = readFileSync(file, 'utf8').trim().split(' ')
    if (quota !== 'max') least = Math.min(least, numberOf(quota) / numberOf(period ?? ''))
  }
  return Number.isFinite(least) ? least : null
}
