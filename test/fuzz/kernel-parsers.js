import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openCountersV1, openCountersV2, parseMounts } from '../../src/node/kernel/cgroup.js'
import { parseHostCpu } from '../../src/node/kernel/proc-files.js'
import { parseListeners } from '../../src/node/kernel/sockets.js'
import { findInfinite } from './harness.js'
import { mutateText, pick } from './mutate.js'

/** Parsers of what the kernel tells. NaN is a value that could not be read. @import { Parser } from './harness.js' */

const V1 = {
  'cpuacct.usage': '12345678901\n',
  'cpu.stat': 'nr_periods 100\nnr_throttled 7\nthrottled_time 123456789\n',
  'memory.stat': 'cache 4096\nrss 8192\ntotal_rss 8192\ntotal_inactive_file 1024\n',
  'memory.usage_in_bytes': '16384\n',
  'memory.max_usage_in_bytes': '32768\n',
  'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
  'cpu.cfs_quota_us': '25000\n',
  'cpu.cfs_period_us': '100000\n',
  'cgroup.procs': '1\n2\n',
}
const V2 = {
  'cpu.stat': 'usage_usec 12345678\nuser_usec 1\nnr_periods 100\nnr_throttled 7\nthrottled_usec 12345\n',
  'memory.stat': 'anon 8192\nfile 4096\ninactive_file 1024\n',
  'memory.current': '16384\n',
  'memory.peak': '32768\n',
  'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n',
  'cpu.max': '25000 100000\n',
  'cgroup.procs': '1\n2\n',
}
const STAT =
  'cpu  10132153 290696 3084719 46828483 16683 0 25195 175628 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 1\n'
const TCP = readFileSync('test/fixtures/proc-net-tcp.txt', 'utf8')
const MOUNTS = [
  readFileSync('test/fixtures/mountinfo-v1.txt', 'utf8'),
  '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n',
]
const folder = mkdtempSync(path.join(os.tmpdir(), 'fuzz-cgroup-'))
export const KERNEL_FOLDER = folder
const allowMissing = (/** @type {unknown} */ value) => findInfinite(value, { mayBeMissing: true })

/**
 * One file of a cgroup is not as the kernel writes it.
 * @param {string} name @param {Record<string, string>} files
 * @param {(at: string) => import('../../src/node/kernel/cgroup.js').Counters} open @returns {Parser}
 */
function ofCgroup(name, files, open) {
  const at = path.join(folder, name.replaceAll(' ', '-'))
  mkdirSync(at)
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(at, file), text)
  return {
    name,
    make: random => {
      const file = pick(Object.keys(files), random)
      return { file, text: random() < 0.05 ? '' : mutateText(files[file], random) }
    },
    parse: ({ file, text }) => {
      writeFileSync(path.join(at, file), text)
      const counters = open(at)
      try {
        const { atSeconds, ...reading } = counters.read()
        return { ...reading, cap: counters.readCpuLimitCores(), pids: counters.pids() }
      } finally {
        counters.close()
        writeFileSync(path.join(at, file), files[file])
      }
    },
    findFault: value =>
      allowMissing(value) ?? (value.cap === null || value.cap >= 0 ? null : 'a cap is a number of cores'),
  }
}

/** @type {Parser[]} */
export const KERNEL_PARSERS = [
  ofCgroup('cgroup v1', V1, at => openCountersV1({ cpu: at, cpuacct: at, memory: at })),
  ofCgroup('cgroup v2', V2, openCountersV2),
  {
    name: '/proc/stat',
    make: random => mutateText(STAT, random),
    parse: parseHostCpu,
    findFault: allowMissing,
  },
  {
    name: '/proc/net/tcp',
    make: random => ({ tcp: mutateText(TCP, random), tcp6: mutateText(TCP, random) }),
    parse: parseListeners,
    findFault: findInfinite,
  },
  {
    name: '/proc/self/mountinfo',
    make: random => mutateText(pick(MOUNTS, random), random),
    parse: parseMounts,
    findFault: ({ v1, v2 }) =>
      [...v1.values(), v2 ?? ''].every(at => typeof at === 'string') ? null : 'a place is a path',
  },
]
