import os from 'node:os'
import { findCgroupPath, joinExistingPath, parseMounts, parseNumberAfter } from './kernel/cgroup.js'
import { listPids, listProcEntries, readProcFile, readProcLink, readStatus } from './kernel/proc-files.js'
import { readPortRange } from './kernel/sockets.js'

/**
 * Reads facts about this machine for the manifest.
 * @returns facts by name; null: the kernel does not show the fact; cpuModel: as `chooseCpuName`; cpus, physicalCores: those that
 *   this process may use
 */
export function readMachine() {
  const cpus = os.cpus()
  return {
    kernel: `${os.type()} ${os.release()}`,
    architecture: os.arch(),
    cpuModel: chooseCpuName(cpus[0]?.model ?? ''),
    cpus: os.availableParallelism(),
    physicalCores: readCores().length,
    smt: readOptionalText('/sys/devices/system/cpu/smt/control'),
    memoryBytes: os.totalmem(),
    transparentHugePages: parseBracketed(readOptionalText('/sys/kernel/mm/transparent_hugepage/enabled')),
    governor: readOptionalText('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'),
    node: process.version,
  }
}

/**
 * Chooses the name of the CPU. ARM kernels show no model, so the name of the board in the device tree replaces it.
 * @param {string} model the kernel's; empty, or `unknown`: it shows none
 * @param {string | null} [board] null: unknown; by default that of this machine
 * @returns {string} `unknown`: there is neither
 */
export function chooseCpuName(model, board = readOptionalText('/proc/device-tree/model')) {
  const name = model.trim()
  if (name !== '' && name !== 'unknown') return name
  return board?.replaceAll('\0', '') || 'unknown'
}

/**
 * Parses the choice in brackets, as in `always [madvise] never`.
 * @param {string | null} text null: the file could not be read
 * @returns {string | null} null: there is none, or no text
 */
export function parseBracketed(text) {
  return /\[(\w+)\]/.exec(text ?? '')?.[1] ?? null
}

/**
 * Reads the memory that is available to a run: that of the machine (MemAvailable), or the whole limit of this process if that
 * is less.
 * @returns {number} bytes
 */
export function readAvailableBytes() {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(os.freemem(), limit) : os.freemem()
}

/**
 * Reads the memory that is left to this process, including file pages that the kernel can free, as a fraction of all that it
 * may use. What is left is at most what the machine has.
 * @returns {number} from 0 to 1
 */
export function readFreeMemoryFraction() {
  const { v1, v2 } = parseMounts(readProcFile('/proc/self/mountinfo'))
  const [controller, mount, prefix] = v1.has('memory') ? ['memory', v1.get('memory'), 'total_'] : ['', v2 ?? '', '']
  const cgroup = joinExistingPath(mount, findCgroupPath(readProcFile('/proc/self/cgroup'), controller))
  const stat = readProcFile(`${cgroup}/memory.stat`)
  const fileBytes = parseNumberAfter(stat, `${prefix}inactive_file`) || 0
  const limitBytes = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(os.freemem(), process.availableMemory() + fileBytes) / limitBytes
}

/**
 * Reads the room that this machine has for a run.
 * @returns {import('../model/types.ts').Limits} MAX_SAFE_INTEGER: no limit can be read
 */
export function readLimits() {
  const { first, last } = readPortRange()
  return {
    memoryBytes: readAvailableBytes(),
    ...readThreadLimit(),
    files: readProcessLimit('Max open files') ?? Number.MAX_SAFE_INTEGER,
    ports: last - first + 1,
    inotifyInstances: readInteger('/proc/sys/fs/inotify/max_user_instances') ?? Number.MAX_SAFE_INTEGER,
    inotifyInstancesUsed: countInotifyInstances(),
  }
}

/**
 * Reads the thread limits of the machine, the user and a container, and chooses the one that leaves fewest threads.
 * @returns {{ threads: number, threadsUsed: number }} MAX_SAFE_INTEGER and 0: no limit can be read
 */
function readThreadLimit() {
  // The fourth of five fields is `runnable/all` threads (proc(5), loadavg).
  const running = Number(/ \d+\/(\d+) /.exec(readProcFile('/proc/loadavg'))?.[1] ?? 0)
  const machineLimits = [
    readInteger('/proc/sys/kernel/threads-max'),
    readInteger('/proc/sys/kernel/pid_max'),
    readProcessLimit('Max processes'),
  ]
  // A container's limit is in its cgroup, of version 2 or 1, and counts only the container's threads.
  const containerLimits = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids'].map(folder => ({
    threads: readInteger(`${folder}/pids.max`),
    threadsUsed: readInteger(`${folder}/pids.current`) ?? 0,
  }))
  const limits = [...machineLimits.map(threads => ({ threads, threadsUsed: running })), ...containerLimits]
  let tightest = { threads: Number.MAX_SAFE_INTEGER, threadsUsed: 0 }
  for (const { threads, threadsUsed } of limits) {
    // A limit of 0 does not hold for root.
    if (!threads) continue
    if (threads - threadsUsed < tightest.threads - tightest.threadsUsed) tightest = { threads, threadsUsed }
  }
  return tightest
}

/**
 * Reads a limit of this process (proc(5), limits).
 * @param {string} name
 * @returns {number | undefined} the soft limit; undefined: unlimited, or it cannot be read
 */
function readProcessLimit(name) {
  const limit = new RegExp(`^${name} +(\\d+)`, 'm').exec(readProcFile('/proc/self/limits'))?.[1]
  return limit === undefined ? undefined : Number(limit)
}

/**
 * Reads the first whole number in a file of the kernel.
 * @param {string} file
 * @returns {number | undefined} undefined: it has none, such as `max`, or cannot be read
 */
function readInteger(file) {
  const number = /\d+/.exec(readProcFile(file))?.[0]
  return number === undefined ? undefined : Number(number)
}

/**
 * Counts the inotify instances of the processes that this user may look into: others do not show their open files, and add none.
 * @returns {number}
 */
function countInotifyInstances() {
  const openFiles = listPids().flatMap(pid => listProcEntries(`/proc/${pid}/fd`).map(fd => `/proc/${pid}/fd/${fd}`))
  return openFiles.filter(file => readProcLink(file) === 'anon_inode:inotify').length
}

/**
 * Reads the CPUs that this process may use, grouped by physical core. A CPU whose siblings the kernel does not show is a core
 * of its own; if the allowed CPUs cannot be read, there is only CPU 0.
 * @returns {number[][]} CPU numbers of each core
 */
export function readCores() {
  const cores = new Map()
  // The list has the form `0-3,8` (cpuset(7)).
  const cpus = (readStatus('self', 'Cpus_allowed_list') || '0').split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
  for (const cpu of cpus) {
    const siblings = readOptionalText(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`) ?? `${cpu}`
    cores.set(siblings, [...(cores.get(siblings) ?? []), cpu])
  }
  return [...cores.values()]
}

/**
 * Reads a text file of the kernel, without the blanks around it.
 * @param {string} file
 * @returns {string | null} null: it is empty, or cannot be read
 */
function readOptionalText(file) {
  return readProcFile(file).trim() || null
}
