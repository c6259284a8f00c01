import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { parseNumber, sumStatusBytes } from './proc-files.js'

/** The kernel's counters of a cgroup, in both versions of cgroups. */

/**
 * @typedef {object} Counters
 * @property {() => import('../../model/types.ts').Reading} read
 * @property {() => number | null} readCpuLimitCores the least quota of the cgroup and its ancestors, in cores; null: none has one
 * @property {() => number[]} pids of the processes in the cgroup
 * @property {(pids: number[]) => string[]} listOutside which of these processes a folder of its controllers lacks, in words
 * @property {() => void} close the files
 */
/** @typedef {{ cpu: string, cpuacct: string, memory: string }} Folders of one cgroup, by controller */

/** The counters that only a cgroup has, for readings without one. */
export const NOT_OFFERED = {
  periods: null,
  throttledPeriods: null,
  throttledSeconds: null,
  anonBytes: null,
  workingSetBytes: null,
  peakBytes: null,
  oomKills: null,
}

// Every counter file is read into this buffer; memory.stat, the longest, has one or two KiB.
const buffer = Buffer.alloc(16384)

/**
 * Opens the counters of a cgroup v1: one folder in each hierarchy (some may be the same). Without a memory controller there,
 * the memory of its processes is read from /proc.
 * @param {Folders} folders
 * @returns {Counters} as `openCounters`
 * @throws the system's error if a counter file cannot be opened
 */
export function openCountersV1({ cpu, cpuacct, memory }) {
  return openCounters({
    folder: cpu,
    folders: [cpu, cpuacct, memory],
    paths: {
      usage: path.join(cpuacct, 'cpuacct.usage'),
      cpu: path.join(cpu, 'cpu.stat'),
      ...(existsSync(path.join(memory, 'memory.stat')) && {
        stat: path.join(memory, 'memory.stat'),
        current: path.join(memory, 'memory.usage_in_bytes'),
        peak: path.join(memory, 'memory.max_usage_in_bytes'),
        events: path.join(memory, 'memory.oom_control'),
      }),
    },
    parseUsage: text => parseNumber(text) / 1e9,
    throttled: { name: 'throttled_time', perSecond: 1e9 },
    prefix: 'total_',
    anon: 'rss',
    quotaFile: 'cpu.cfs_quota_us',
    readQuota: readQuotaV1,
  })
}

/**
 * Opens the counters of a cgroup v2. Without a memory controller there, the memory of its processes is read from /proc; a kernel
 * before 5.19 gives no peak.
 * @param {string} folder
 * @returns {Counters} as `openCounters`
 * @throws the system's error if a counter file cannot be opened
 */
export function openCountersV2(folder) {
  const joinPath = (/** @type {string} */ name) => path.join(folder, name)
  return openCounters({
    folder,
    folders: [folder],
    paths: {
      usage: joinPath('cpu.stat'),
      ...(existsSync(joinPath('memory.stat')) && {
        stat: joinPath('memory.stat'),
        current: joinPath('memory.current'),
        // The file is there since Linux 5.19.
        ...(existsSync(joinPath('memory.peak')) ? { peak: joinPath('memory.peak') } : {}),
        events: joinPath('memory.events'),
      }),
    },
    parseUsage: text => parseNumberAfter(text, 'usage_usec') / 1e6,
    throttled: { name: 'throttled_usec', perSecond: 1e6 },
    prefix: '',
    anon: 'anon',
    quotaFile: 'cgroup.procs',
    readQuota: readQuotaV2,
  })
}

/**
 * Reads the quota of a group of cgroup v1.
 * @param {string} folder
 * @returns {number} cores; Infinity: none
 * @throws the system's error if it cannot be read
 */
export function readQuotaV1(folder) {
  const [quota, period] = ['quota', 'period'].map(name => readCgroupFile(folder, `cpu.cfs_${name}_us`)).map(parseNumber)
  return quota > 0 ? quota / period : Number.POSITIVE_INFINITY
}

/**
 * Reads the quota of a group of cgroup v2.
 * @param {string} folder
 * @returns {number} cores; Infinity: none, as in the root, which has no cpu.max
 * @throws the system's error if it cannot be read
 */
export function readQuotaV2(folder) {
  if (!existsSync(path.join(folder, 'cpu.max'))) return Number.POSITIVE_INFINITY
  const [quota, period = ''] = readCgroupFile(folder, 'cpu.max').trim().split(' ')
  return quota === 'max' ? Number.POSITIVE_INFINITY : parseNumber(quota) / parseNumber(period)
}

/**
 * The paths of the files that have the counters of a group. Without a memory controller there is no `stat`, `current`, `peak` or
 * `events`.
 * @typedef {object} CounterPaths
 * @property {string} usage CPU time
 * @property {string} [cpu] periods and throttling; absent: they are in `usage`
 * @property {string} [stat] the parts of memory
 * @property {string} [current] memory in use
 * @property {string} [peak] the most memory that was in use; absent: the kernel does not count it
 * @property {string} [events] the counter of OOM kills
 */
/**
 * The names and units in which the versions of cgroups differ.
 * @typedef {object} CgroupVersion
 * @property {string} folder that has the quota
 * @property {string[]} folders one of each controller
 * @property {CounterPaths} paths of the counter files
 * @property {(text: string) => number} parseUsage CPU seconds from the file `usage`
 * @property {{ name: string, perSecond: number }} throttled the counter of throttled time, and its units in a second
 * @property {string} prefix of names in memory.stat
 * @property {string} anon the name of anonymous memory there
 * @property {string} quotaFile that is in each group that may have a quota
 * @property {(folder: string) => number} readQuota in cores; infinite: none
 */

/**
 * Opens the counters of a cgroup.
 * @param {CgroupVersion} version
 * @returns {Counters} the caller closes it; once the cgroup has been removed, `readCpuLimitCores` gives null, and other reads throw a
 *   BenchError
 * @throws the system's error if a counter file cannot be opened
 */
function openCounters({ folder, folders, paths, parseUsage, throttled, prefix, anon, quotaFile, readQuota }) {
  const files = openCounterFiles(paths)
  const readMemory = (/** @type {string} */ stat) => ({
    anonBytes: parseNumberAfter(stat, `${prefix}${anon}`),
    workingSetBytes: Math.max(0, parseNumber(readFile('current')) - parseNumberAfter(stat, `${prefix}inactive_file`)),
    peakBytes: files.peak ? parseNumber(readFile('peak')) : null,
    oomKills: parseNumberAfter(readFile('events'), 'oom_kill'),
  })
  // Without the memory controller, which is off on a Raspberry Pi, /proc is read process by process.
  const readProcMemory = () => {
    const pids = readPids(folder)
    const [anonBytes, peakBytes] = ['RssAnon', 'VmHWM'].map(name => sumStatusBytes(pids, name))
    return { anonBytes, workingSetBytes: null, peakBytes, oomKills: null }
  }
  const readFile = (/** @type {keyof typeof paths} */ name) =>
    guardCgroupRead(path.dirname(paths[name] ?? folder), () => files[name]?.read() ?? '')
  return {
    read() {
      const before = performance.now()
      const usage = readFile('usage')
      const after = performance.now()
      const cpu = files.cpu ? readFile('cpu') : usage
      const stat = readFile('stat')
      return {
        atSeconds: (before + after) / 2000,
        cpuSeconds: parseUsage(usage),
        periods: parseNumberAfter(cpu, 'nr_periods'),
        throttledPeriods: parseNumberAfter(cpu, 'nr_throttled'),
        throttledSeconds: parseNumberAfter(cpu, throttled.name) / throttled.perSecond,
        ...(files.stat ? readMemory(stat) : readProcMemory()),
      }
    },
    readCpuLimitCores() {
      let least = Number.POSITIVE_INFINITY
      for (let current = folder; existsSync(path.join(current, quotaFile)); current = path.dirname(current))
        least = Math.min(least, readQuota(current))
      return Number.isFinite(least) ? least : null
    },
    pids: () => guardCgroupRead(folder, () => readPids(folder)),
    listOutside: pids =>
      [...new Set(folders)].flatMap(current => {
        const members = guardCgroupRead(current, () => readPids(current))
        return pids.filter(pid => !members.includes(pid)).map(pid => `process ${pid} is not in ${current}`)
      }),
    close() {
      for (const file of Object.values(files)) file.close()
    },
  }
}

/**
 * Opens counter files. If one cannot be opened, those that are open are closed.
 * @param {CounterPaths} paths
 * @returns {{ [Name in keyof CounterPaths]?: ReturnType<typeof openCounterFile> }}
 * @throws the system's error if one cannot be opened
 */
function openCounterFiles(paths) {
  /** @type {Record<string, ReturnType<typeof openCounterFile>>} */
  const files = {}
  try {
    for (const [name, file] of Object.entries(paths)) files[name] = openCounterFile(file)
    return files
  } catch (error) {
    for (const file of Object.values(files)) file.close()
    throw error
  }
}

/**
 * Calls `read`, and explains the error of a cgroup that has been removed.
 * @template T
 * @param {string} folder
 * @param {() => T} read reads a file of the cgroup
 * @returns {T} the result of `read`
 * @throws {BenchError} if the cgroup is gone (ENODEV, ENOENT); any other error as it is
 */
export function guardCgroupRead(folder, read) {
  try {
    return read()
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'ENODEV' && code !== 'ENOENT') throw error
    const advice = 'something else removed it (systemd, a cleanup job), after it had moved or ended its processes'
    throw new BenchError(`the cgroup ${folder} was removed while it was measured: ${advice}`, { cause: error })
  }
}

/**
 * Opens a kernel file for many readings: opening it for each reading costs more than twice as much. Its text is ASCII, and is
 * read up to the size of the buffer.
 * @param {string} file
 * @returns {{ read: () => string, close: () => void }} `read` throws the system's error if the file is gone
 * @throws the system's error if it cannot be opened
 */
export function openCounterFile(file) {
  const fd = openSync(file, 'r')
  return {
    read: () => buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0)),
    close: () => closeSync(fd),
  }
}

/**
 * Reads the pids of a cgroup.
 * @param {string} folder
 * @returns {number[]} 0: a process of another pid namespace; []: the group is empty
 * @throws the system's error if it is gone
 */
export function readPids(folder) {
  return readCgroupFile(folder, 'cgroup.procs').split('\n').filter(Boolean).map(parseNumber)
}

/**
 * Parses the whole number after a name in lines such as `name value`. Only 22 characters after the name count.
 * @param {string} text
 * @param {string} name at the beginning of a line
 * @returns {number} NaN: no line begins with the name, or no number follows
 */
export function parseNumberAfter(text, name) {
  if (text.startsWith(`${name} `)) return Number.parseInt(text.slice(name.length + 1, name.length + 23), 10)
  const index = text.indexOf(`\n${name} `)
  return index < 0 ? Number.NaN : Number.parseInt(text.slice(index + name.length + 2, index + name.length + 24), 10)
}

/**
 * Parses where cgroups are mounted. The first mount of each counts, since those of a chroot may disappear.
 * @param {string} mountinfo text of /proc/self/mountinfo, proc(5)
 * @returns {{ v1: Map<string, any>, v2: string | null }} v1: mounts by controller, empty without version 1; v2: null without
 *   version 2
 */
export function parseMounts(mountinfo) {
  const v1 = new Map()
  /** @type {string | null} */
  let v2 = null
  for (const line of mountinfo.split('\n').filter(Boolean)) {
    const [mountFields, typeFields = ''] = line.split(' - ')
    const mountPoint = mountFields.split(' ')[4]
    const [type, , options = ''] = typeFields.split(' ')
    if (mountPoint === undefined) continue
    if (type === 'cgroup2') v2 ??= mountPoint
    if (type !== 'cgroup') continue
    for (const option of options.split(',')) if (!v1.has(option)) v1.set(option, mountPoint)
  }
  return { v1, v2 }
}

/**
 * Finds this process's path in a hierarchy.
 * @param {string} text of /proc/self/cgroup
 * @param {string} controller empty: version 2
 * @returns {string} `/`: it is not listed
 */
export function findCgroupPath(text, controller) {
  const line = text.split('\n').find(l => l.split(':')[1]?.split(',').includes(controller))
  return line?.split(':').slice(2).join(':') ?? '/'
}

/**
 * Joins a mount and this process's path. In a container the path may not exist there: the group is then the mount.
 * @param {string} mount
 * @param {string} relative
 * @returns {string} without a slash at its end; `mount` as it is if the path does not exist
 */
export function joinExistingPath(mount, relative) {
  const folder = path.join(mount, relative)
  return existsSync(folder) ? folder.replace(/\/$/, '') : mount
}

/**
 * Reads a file of a cgroup.
 * @param {string} folder of the cgroup
 * @param {string} name of the file
 * @returns {string} its text
 * @throws the system's error if it is gone, or cannot be read
 */
function readCgroupFile(folder, name) {
  return readFileSync(path.join(folder, name), 'utf8')
}
