import { readFileSync } from 'node:fs'
import { numberOf } from './cgroup.js'
import { readSafely } from './proc-files.js'

/** @import { HostCpu } from '../../model/types.ts' */

/** Clock ticks of all CPUs so far, from /proc/stat: idle (with iowait), stolen, busy (without interrupts), all. */
export function readHostCpu() {
  return parseHostCpu(readFileSync('/proc/stat', 'utf8'))
}

/** @param {string} stat the text of /proc/stat @returns {HostCpu} NaN: what cannot be read */
export function parseHostCpu(stat) {
  const lines = stat.split('\n')
  const ticks = (/^cpu\s+(.*)$/.exec(lines[0])?.[1] ?? '').split(/\s+/).map(numberOf)
  const [user, nice, system, idle, iowait, irq, softirq, steal = Number.NaN] = ticks
  const busy = user + nice + system
  return {
    idle: idle + iowait,
    steal,
    busy,
    total: busy + idle + iowait + irq + softirq + steal,
    cpus: lines.filter(line => /^cpu\d/.test(line)).length,
  }
}

/** Reads the CPUs that a process may run on, as the kernel lists them; empty when it has ended. @param {number | 'self'} pid */
export function readCpuSet(pid) {
  return /^Cpus_allowed_list:\s+(\S+)/m.exec(readSafely(`/proc/${pid}/status`))?.[1] ?? ''
}
