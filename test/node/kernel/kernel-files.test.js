import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import {
  guardCgroupRead,
  openCounterFile,
  openCountersV1,
  openCountersV2,
  parseMounts,
  parseNumberAfter,
} from '../../../src/node/kernel/cgroup.js'
import { createProbe, readThreads, readUsage } from '../../../src/node/kernel/probe.js'
import { parseHostCpu, parseNumber } from '../../../src/node/kernel/proc-files.js'
import { findPortShortage, parseListeners, parseTcpCounters } from '../../../src/node/kernel/sockets.js'
import { parseBracketed } from '../../../src/node/machine.js'
import { createCgroupSubtree } from '../../../src/targets/local/cgroup-folders.js'
import { findCapWay, wrapInSystemdScope } from '../../../src/targets/local/cgroups.js'
import { listOpenFiles } from '../../fakes/open-files.js'
import { makeFolder } from '../../fakes/scratch.js'

const read = (/** @type {string} */ name) => readFileSync(`test/fixtures/${name}`, 'utf8')
const UNWRITABLE = '31 23 0:28 / /nowhere rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n'

describe('parseListeners', () => {
  const listeners = parseListeners({ tcp: read('proc-net-tcp.txt'), tcp6: '' })

  it('reads address, port and inode of what listens, and nothing else', () => {
    expect(listeners).toEqual([
      { address: '*', port: 2024, inode: '628' },
      { address: '127.9.1.2', port: 15003, inode: '9001' },
      { address: '127.9.1.2', port: 15003, inode: '9002' },
    ])
  })
})

describe('parseChosen', () => {
  it('is the word in brackets', () => {
    expect(parseBracketed('always [madvise] never\n')).toBe('madvise')
    expect(parseBracketed(null)).toBeNull()
  })
})

describe('findPortShortage', () => {
  const range = { first: 40_000, last: 40_019 }
  /** A table with so many closed connections to 127.1.2.3:15001, which still hold their ports. @param {number} count */
  const tableOf = count =>
    Array.from({ length: count }, (_, i) => {
      const port = (40_000 + i).toString(16).toUpperCase()
      return `   ${i}: 0100007F:${port} 0302017F:3A99 06 00000000:00000000 03:00000F00 00000000     0        0 0 3 0000`
    }).join('\n')

  it('counts the ports towards each endpoint, and blames the range if most are used', () => {
    expect(findPortShortage({ tcp: tableOf(17), range })).toBeNull()
    expect(findPortShortage({ tcp: tableOf(18), range })).toContain(
      'this machine ran out of local ports: 18 of 20 (net.ipv4.ip_local_port_range) are in use for connections to 127.1.2.3:15001, so others fail with EADDRNOTAVAIL: wait a minute',
    )
    expect(findPortShortage({ tcp: read('proc-net-tcp.txt'), range })).toBeNull()
    expect(findPortShortage()).toBeNull()
  })
})

describe('numberAfter', () => {
  const stat = 'usage_usec 12\nuser_usec 7\nnr_periods 40\n'
  it('reads the number of a whole name', () => {
    expect(parseNumberAfter(stat, 'usage_usec')).toBe(12)
    expect(parseNumberAfter(stat, 'nr_periods')).toBe(40)
    expect(parseNumberAfter(stat, 'usec')).toBeNaN()
    expect(parseNumberAfter(stat, 'nr_throttled')).toBeNaN()
  })
})

describe('numberOf', () => {
  it('is the number that a file holds alone', () => expect(parseNumber('123456789012\n')).toBe(123456789012))

  it.each(['', '\n', 'max\n', '-1\n', '1 2\n', '1e3', '9'.repeat(400)])('is not known of %j', text =>
    expect(parseNumber(text)).toBeNaN())
})

describe('parseHostCpu', () => {
  it('reports no more than the kernel does', () => {
    expect(parseHostCpu('cpu  1 2 3 40 5 6 7 8 0 0\ncpu0 1\ncpu1 1\n')).toEqual({
      ...{ idle: 45, steal: 8, busy: 6, total: 72, cpus: 2 },
    })
    expect(parseHostCpu('')).toMatchObject({ idle: Number.NaN, steal: Number.NaN, busy: Number.NaN, cpus: 0 })
  })
})

describe('parseMounts', () => {
  it('leaves out lines that are cut off', () => {
    expect(parseMounts('30 23 0:26 / /sys/fs/cgroup rw\n - cgroup2\n')).toEqual({ v1: new Map(), v2: null })
  })

  it('takes the first of several', () => {
    const mount = (/** @type {string} */ at) => `32 31 0:29 / ${at}/cpu rw - cgroup cgroup rw,cpu\n`
    expect(parseMounts(`${mount('/sys/fs/cgroup')}${mount('/a-chroot')}`).v1.get('cpu')).toBe('/sys/fs/cgroup/cpu')
  })
})

describe('openCounterFile', () => {
  it('reads what the file holds now, again and again', () => {
    const file = path.join(makeFolder('counter'), 'counter')
    writeFileSync(file, '1\n')
    const counter = openCounterFile(file)
    expect(counter.read()).toBe('1\n')
    writeFileSync(file, '22\n')
    expect(counter.read()).toBe('22\n')
    counter.close()
  })
})

describe('parseTcpCounters', () => {
  it('reads the resets of TCP by their name', () => {
    const text = [
      'Ip: Forwarding OutRsts\nIp: 1 64',
      'Tcp: RtoAlgorithm MaxConn InErrs OutRsts InCsumErrors\nTcp: 1 -1 3 80847 0',
      'TcpExt: OutRsts\nTcpExt: 5\n',
    ]
    expect(parseTcpCounters(text.join('\n')).OutRsts).toBe(80847)
  })
})

describe('readThreads', () => {
  it('counts the CPU time of this process', () => {
    const readCpuSeconds = () => readThreads(process.pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
    const before = readCpuSeconds()
    // By its own CPU time: a busy machine gives this process little of 50 ms.
    const start = process.cpuUsage()
    while (process.cpuUsage(start).user + process.cpuUsage(start).system < 50_000);
    expect(readCpuSeconds() - before).toBeGreaterThan(0.01)
    expect(readThreads(2 ** 22 + 1)).toEqual([])
  })
})

describe('readUsage', () => {
  it('counts the CPU time of this process, to a clock tick', () => {
    const { user, system } = process.cpuUsage()
    const [{ pid, cpuSeconds }] = readUsage(process.pid)
    expect(pid).toBe(process.pid)
    expect(Math.abs(cpuSeconds - (user + system) / 1e6)).toBeLessThan(0.1)
    expect(readUsage(2 ** 22 + 1)).toEqual([])
  })
})

describe('createProbe', () => {
  it('goes on reading a process that has left its group, and lists the controllers that lack it', async () => {
    const at = makeFolder('probe')
    const folders = { cpu: `${at}/cpu`, cpuacct: `${at}/cpuacct`, memory: `${at}/memory` }
    const child = execa('sleep', ['60'], { reject: false })
    for (const folder of Object.values(folders)) {
      mkdirSync(folder)
      writeFileSync(`${folder}/cgroup.procs`, `${child.pid}\n`)
      for (const name of ['cpuacct.usage', 'memory.usage_in_bytes', 'memory.max_usage_in_bytes'])
        writeFileSync(`${folder}/${name}`, '1\n')
      for (const name of ['cpu.stat', 'memory.stat', 'memory.oom_control']) writeFileSync(`${folder}/${name}`, '')
    }
    const probe = createProbe({ group: openCountersV1(folders), listens: [] })
    expect([probe.listOutside(), probe.readUsage().map(({ pid }) => pid)]).toEqual([[], [child.pid]])
    for (const folder of [folders.cpu, folders.cpuacct]) writeFileSync(`${folder}/cgroup.procs`, '')
    expect(probe.listOutside()).toEqual([
      `process ${child.pid} is not in ${folders.cpu}`,
      `process ${child.pid} is not in ${folders.cpuacct}`,
    ])
    expect(probe.readThreads().map(({ id }) => id)).toEqual([child.pid])
    child.kill()
    await child
    expect(probe.readUsage()).toEqual([])
  })

  it('reads no table of the sockets of a machine for a process that has none, such as one that starts', async () => {
    const child = execa('sleep', ['60'], { reject: false, stdio: 'ignore' })
    const listens = [{ address: '127.0.0.1', port: 80 }]
    const unread = () => {
      throw new Error('a counter is read')
    }
    const probe = createProbe({
      group: { read: unread, readCpuLimitCores: unread, pids: () => [Number(child.pid)] },
      listens,
      listSockets: () => {
        throw new Error('the table is read')
      },
    })
    expect([probe.countListeners(), probe.listListening()]).toEqual([0, []])
    child.kill()
    await child
  })

  it('closes the counters that it opened if another is missing', () => {
    const at = makeFolder('half')
    for (const name of ['cpu.stat', 'memory.stat', 'memory.current']) writeFileSync(`${at}/${name}`, '')
    expect(() => openCountersV2(at)).toThrow('memory.events')
    expect(listOpenFiles(at)).toEqual([])
  })

  it('says that a group was removed, and which', () => {
    const at = makeFolder('gone')
    const gone = Object.assign(new Error('ENODEV: no such device, read'), { code: 'ENODEV' })
    expect(() =>
      guardCgroupRead(at, () => {
        throw gone
      }),
    ).toThrow(`the cgroup ${at} was removed while it was measured`)
  })
})

describe('findCapWay', () => {
  it('sees the v1 hierarchies, each with its mount', () => {
    const { v1, v2 } = parseMounts(read('mountinfo-v1.txt'))
    expect(v1.get('cpu')).toBe('/sys/fs/cgroup/cpu')
    expect(v1.get('memory')).toBe('/sys/fs/cgroup/memory')
    expect(v2).toBe('/sys/fs/cgroup/unified')
  })

  it('caps without the memory controller, whose numbers are then those of the processes', async () => {
    const at = makeFolder('no-memory')
    writeFileSync(`${at}/cgroup.controllers`, 'cpuset cpu io pids\n')
    writeFileSync(`${at}/cgroup.subtree_control`, '')
    const mountinfo = `31 23 0:28 / ${at} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`
    const way = await findCapWay({ mountinfo, membership: '0::/\n', checkSystemd: async () => false })
    expect(way).toMatchObject({ how: 'v2', lacksMemory: true, parents: { cpu: at, memory: at } })

    writeFileSync(`${at}/cpu.stat`, 'usage_usec 2000000\nnr_periods 1\nnr_throttled 0\nthrottled_usec 0\n')
    writeFileSync(`${at}/cgroup.procs`, `${process.pid}\n`)
    const { anonBytes, peakBytes, ...others } = openCountersV2(at).read()
    expect(others).toMatchObject({ cpuSeconds: 2, workingSetBytes: null, oomKills: null })
    expect(anonBytes).toBeGreaterThan(2 ** 20)
    expect(peakBytes).toBeGreaterThan(Number(anonBytes))
    const create = await createCgroupSubtree({ way: /** @type {any} */ (way), name: 'run' })
    await expect(create('group', { cpuLimitCores: null, memoryLimitBytes: 1000 })).rejects.toThrow(
      'no memory limit of 1000 bytes can be set: the memory controller is off in this kernel',
    )
    expect(readFileSync(`${at}/run/cgroup.subtree_control`, 'utf8')).toBe('+cpu')
  })

  it('names the controller cpu if the kernel does not offer it', async () => {
    const at = makeFolder('no-cpu')
    writeFileSync(`${at}/cgroup.controllers`, 'io pids\n')
    writeFileSync(`${at}/cgroup.subtree_control`, '')
    const mountinfo = `31 23 0:28 / ${at} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`
    expect(await findCapWay({ mountinfo, membership: '0::/\n', checkSystemd: async () => false })).toMatchObject({
      how: 'none',
      reason: expect.stringContaining(`the cgroup ${at} has no controller cpu (it offers io, pids)`),
    })
  })

  it('goes through systemd if the own group is not delegated and a user manager runs', async () => {
    const way = await findCapWay({
      mountinfo: UNWRITABLE,
      membership: '0::/user.slice\n',
      checkSystemd: async () => true,
    })
    expect(way).toEqual({ how: 'systemd-run', version: 2 })
    expect(wrapInSystemdScope(['node', 'cli.js'])).toEqual([
      ...['systemd-run', '--user', '--scope', '--quiet', '--property=Delegate=yes', '--'],
      ...['node', 'cli.js'],
    ])
  })

  it('names the three ways out if nothing can be capped', async () => {
    const checkSystemd = async () => false
    expect(await findCapWay({ mountinfo: UNWRITABLE, membership: '0::/\n', checkSystemd })).toMatchObject({
      how: 'none',
      reason: expect.stringMatching(
        /run as root; or in a cgroup v2 subtree delegated .*; or measure without a cap: --cpu none/,
      ),
    })
    expect(await findCapWay({ mountinfo: '', membership: '', checkSystemd })).toMatchObject({
      how: 'none',
      version: null,
    })
  })
})
