import { readFileSync } from 'node:fs'
import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { ROOT } from './paths.js'

/**
 * Facts about this machine for the manifest; what it does not tell is null.
 * @returns {{ kernel: string, architecture: string, cpuModel: string, cpus: number, physicalCores: number, memoryBytes: number,
 *   smt: string | null, governor: string | null, node: string }}
 */
export function readMachine() {
  const cpus = os.cpus()
  return {
    kernel: `${os.type()} ${os.release()}`,
    architecture: os.arch(),
    cpuModel: cpus[0]?.model.trim() ?? 'unknown',
    cpus: os.availableParallelism(),
    physicalCores: readCores().length,
    smt: readText('/sys/devices/system/cpu/smt/control'),
    memoryBytes: os.totalmem(),
    governor: readText('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'),
    node: process.version,
  }
}

/**
 * The CPUs that this process may use, those of one physical core together.
 * @returns {number[][]}
 */
export function readCores() {
  const cores = new Map()
  for (const cpu of parseCpuList(readCpuSet('self') || '0')) {
    const siblings = readText(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`) ?? `${cpu}`
    cores.set(siblings, [...(cores.get(siblings) ?? []), cpu])
  }
  return [...cores.values()]
}

/**
 * The CPUs that a process may run on, as the kernel lists them (proc(5), status); empty when it has ended.
 * @param {number | 'self'} pid
 */
export function readCpuSet(pid) {
  return /^Cpus_allowed_list:\s+(\S+)/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1] ?? ''
}

/**
 * @param {string} text `0-3,8` (cpuset(7), list format)
 */
export function parseCpuList(text) {
  return text.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
}

/**
 * How idle this machine is while nothing of ours runs.
 * @param {number} seconds
 * @param {AbortSignal} signal
 */
export async function observeHost(seconds, signal) {
  const first = readHostCpu()
  await delay(seconds * 1000, undefined, { signal })
  const last = readHostCpu()
  const total = last.total - first.total
  return { seconds, idleFraction: (last.idle - first.idle) / total, stealFraction: (last.steal - first.steal) / total }
}

/** The kit's version and the state of its checkout (null outside of git). */
export async function readKit() {
  const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'))
  const git = await execa('git', ['describe', '--always', '--dirty', '--abbrev=12'], { cwd: ROOT, reject: false })
  return { version, git: git.exitCode === 0 ? git.stdout : null }
}

/**
 * Clock ticks of all CPUs so far: idle (with iowait), stolen, busy (without interrupts), all; and how many CPUs
 * that are. From /proc/stat, proc(5).
 * @returns {import('../types.ts').HostCpu}
 */
export function readHostCpu() {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user, nice, system, idle, iowait, irq, softirq, steal] = lines[0].trim().split(/\s+/).slice(1).map(Number)
  const busy = user + nice + system
  return {
    ...{ idle: idle + iowait, steal, busy, total: busy + idle + iowait + irq + softirq + steal },
    cpus: lines.filter(line => /^cpu\d/.test(line)).length,
  }
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}
