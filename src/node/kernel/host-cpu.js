import { readFileSync } from 'node:fs'

/**
 * Clock ticks of all CPUs so far: idle (with iowait), stolen, busy (without interrupts), all; and the number of
 * CPUs. From /proc/stat, proc(5).
 * @returns {import('../../model/types.ts').HostCpu}
 */
export function readHostCpu() {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user, nice, system, idle, iowait, irq, softirq, steal] = lines[0].trim().split(/\s+/).slice(1).map(Number)
  const busy = user + nice + system
  return {
    idle: idle + iowait,
    steal,
    busy,
    total: busy + idle + iowait + irq + softirq + steal,
    cpus: lines.filter(line => /^cpu\d/.test(line)).length,
  }
}

/**
 * The CPUs that a process may run on, as the kernel lists them (proc(5), status); empty when it has ended.
 * @param {number | 'self'} pid
 */
export function readCpuSet(pid) {
  try {
    return /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}
