import os from 'node:os'
import { findCgroupPath, joinExistingPath, parseMounts, parseNumberAfter } from './kernel/cgroup.js'
import { listPids, listProcEntries, readProcFile, readProcLink, readStatus } from './kernel/proc-files.js'
import { readPortRange } from './kernel/sockets.js'

/** Reads facts about this machine for the manifest; a fact that the kernel does not show is null. */
export function readMachine() {
  const cpus = os.cpus()
  return {
    kernel: `${os.type()} ${os.release()}`,
    architecture: os.arch(),
    cpuModel: chooseCpuName(cpus[0]?.model ?? ''),
    cpus: os.availableParallelism(),
    physicalCores: readCores().length,
    smt: readText('/sys/devices/system/cpu/smt/control'),
    memoryBytes: os.totalmem(),
    transparentHugePages: parseBracketed(readText('/sys/kernel/mm/transparent_hugepage/enabled')),
    governor: readText('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'),
    node: process.version,
  }
}

/**
 * Chooses the name of the CPU. ARM kernels show no model, so the board's name in the device tree stands in; `unknown`: there is neither.
 * @param {string} model
 * @param {string | null} [board]
 */
export function chooseCpuName(model, board = readText('/proc/device-tree/model')) {
  const name = model.trim()
  return (name === '' || name === 'unknown' ? board?.replaceAll('\0', '') : name) || 'unknown'
}

/**
 * Finds the choice in brackets, as in `always [madvise] never`; null: there is none.
 * @param {string | null} text
 */
export function parseBracketed(text) {
  return /\[(\w+)\]/.exec(text ?? '')?.[1] ?? null
}

/** Reads the memory available to a run, in bytes: that of the machine (MemAvailable), or this process's whole limit if that is less. */
export function readRoomBytes() {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(os.freemem(), limit) : os.freemem()
}

/**
 * Reads the memory left to this process, with file pages that the kernel can free, as a fraction of all that it may use. What is
 * left is never more than what the machine has.
 */
export function readRoomFraction() {
  const { v1, v2 } = parseMounts(readProcFile('/proc/self/mountinfo'))
  const [controller, mount, prefix] = v1.has('memory') ? ['memory', v1.get('memory'), 'total_'] : ['', v2 ?? '', '']
  const cgroup = joinExistingPath(mount, findCgroupPath(readProcFile('/proc/self/cgroup'), controller))
  const stat = readProcFile(`${cgroup}/memory.stat`)
  const ofFiles = parseNumberAfter(stat, `${prefix}inactive_file`) || 0
  const most = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(os.freemem(), process.availableMemory() + ofFiles) / most
}

/**
 * Reads what this machine still has for a run. Of the limits of threads, that of the machine, the user or a container which leaves
 * fewest counts.
 * @returns {import('../model/types.ts').Limits} MAX_SAFE_INTEGER: no limit can be read
 */
export function readLimits() {
  const parseIntegers = (/** @type {string | null} */ text) => (text ?? '').match(/\d+/g)?.map(Number) ?? []
  const read = (/** @type {string} */ name) => parseIntegers(readText(`/proc/sys/${name}`))
  const readLimit = (/** @type {string} */ name) =>
    parseIntegers(new RegExp(`^${name} +(\\d+)`, 'm').exec(readText('/proc/self/limits') ?? '')?.[1] ?? null)[0]
  const { first, last } = readPortRange()
  // The fourth of five fields is `runnable/all` threads (proc(5), loadavg).
  const running = parseIntegers(readText('/proc/loadavg')?.split(' ')[3].split('/')[1] ?? null)[0] ?? 0
  const ofMachine = [...read('kernel/threads-max'), ...read('kernel/pid_max'), readLimit('Max processes')]
  // A container's limit is in its cgroup, of version 2 or 1, and counts only the container's threads.
  const ofContainer = ['', 'pids/'].flatMap(folder => {
    const [most, used] = ['max', 'current'].map(
      name => parseIntegers(readText(`/sys/fs/cgroup/${folder}pids.${name}`))[0],
    )
    return most === undefined ? [] : [{ threads: most, threadsUsed: used ?? 0 }]
  })
  const rows = [
    { threads: Number.MAX_SAFE_INTEGER, threadsUsed: 0 },
    ...ofMachine.filter(Boolean).map(count => ({ threads: Number(count), threadsUsed: running })),
    ...ofContainer,
  ]
  // Only processes that this user may look into show their open files; inotify instances of others are not counted.
  const open = listPids().flatMap(pid => listProcEntries(`/proc/${pid}/fd`).map(fd => `/proc/${pid}/fd/${fd}`))
  return {
    memoryBytes: readRoomBytes(),
    ...rows.reduce((least, row) => (row.threads - row.threadsUsed < least.threads - least.threadsUsed ? row : least)),
    files: readLimit('Max open files') ?? Number.MAX_SAFE_INTEGER,
    ports: last - first + 1,
    inotifyInstances: read('fs/inotify/max_user_instances')[0] ?? Number.MAX_SAFE_INTEGER,
    inotifyInstancesUsed: open.filter(file => readProcLink(file) === 'anon_inode:inotify').length,
  }
}

/**
 * Lists the CPUs that this process may use, those of one physical core together. A CPU whose siblings the kernel does not show is
 * a core of its own; if the allowed CPUs cannot be read, only CPU 0 is listed.
 * @returns {number[][]}
 */
export function readCores() {
  const cores = new Map()
  // The list has the form `0-3,8` (cpuset(7)).
  const cpus = (readStatus('self', 'Cpus_allowed_list') || '0').split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
  for (const cpu of cpus) {
    const siblings = readText(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`) ?? `${cpu}`
    cores.set(siblings, [...(cores.get(siblings) ?? []), cpu])
  }
  return [...cores.values()]
}

/** @param {string} file */
function readText(file) {
  return readProcFile(file).trim() || null
}
