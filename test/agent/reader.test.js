import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findContainerFolder, openContainerCounters } from '../../src/agent/reader.js'
import { makeFolder } from '../fakes/scratch.js'

const ID = 'a1b2'.repeat(16)
const V1 = {
  cpu: {
    'cpu.stat': 'nr_periods 10\nnr_throttled 4\nthrottled_time 5000000\n',
    'cpu.cfs_quota_us': '25000\n',
    'cpu.cfs_period_us': '100000\n',
  },
  cpuacct: { 'cpuacct.usage': '1500000000\n' },
  memory: {
    ...{ 'memory.stat': 'total_rss 4096\ntotal_inactive_file 100\n', 'memory.usage_in_bytes': '8192\n' },
    ...{ 'memory.max_usage_in_bytes': '9000\n', 'memory.oom_control': 'oom_kill 1\n' },
  },
}
const V2 = {
  'cpu.stat': 'usage_usec 1500000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 5000\n',
  'cpu.max': '25000 100000\n',
  'memory.stat': 'anon 4096\ninactive_file 100\n',
  'memory.current': '8192\n',
  'memory.events': 'oom_kill 1\n',
  'memory.peak': '9000\n',
}
const READING = {
  cpuSeconds: 1.5,
  periods: 10,
  throttledPeriods: 4,
  throttledSeconds: 0.005,
  anonBytes: 4096,
  workingSetBytes: 8092,
  peakBytes: 9000,
  oomKills: 1,
}

describe('openContainerCounters', () => {
  let root = ''
  beforeEach(() => {
    root = makeFolder('containers-test')
  })

  /** @param {string} folder @param {Record<string, string>} files */
  const write = (folder, files) => {
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries({ 'cgroup.procs': '41\n42\n', ...files }))
      writeFileSync(path.join(folder, name), text)
  }

  it.each([
    ['cgroupfs', `kubepods/burstable/podx/${ID}`],
    ['systemd', `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podx.slice/cri-containerd-${ID}.scope`],
  ])('reads a container under cgroup v1 and the driver %s', (_, below) => {
    for (const [controller, files] of Object.entries(V1)) write(path.join(root, controller, below), files)
    const mountinfo = Object.keys(V1)
      .map(name => `30 20 0:30 / ${root}/${name} ro,relatime - cgroup cgroup rw,${name}`)
      .concat(`31 20 0:31 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct,memory`)
      .join('\n')
    const counters = openContainerCounters({ id: ID, root, mountinfo })
    expect(counters?.read()).toMatchObject(READING)
    expect(counters?.readCpuLimitCores()).toBe(0.25)
    expect(counters?.pids()).toEqual([41, 42])
    expect(() => openContainerCounters({ id: 'f'.repeat(64), root, mountinfo })).toThrow('is this its node?')
  })

  it.each([
    ['cgroupfs', `kubepods/podx/${ID}`],
    ['systemd', `kubepods.slice/kubepods-podx.slice/cri-containerd-${ID}.scope`],
  ])('reads a container under cgroup v2 and the driver %s', (_, below) => {
    write(path.join(root, below), V2)
    const mountinfo = `30 20 0:30 / ${root} ro,relatime - cgroup2 cgroup2 rw\n31 20 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw`
    const counters = openContainerCounters({ id: ID, root, mountinfo })
    expect(counters?.read()).toMatchObject(READING)
    expect(counters?.readCpuLimitCores()).toBe(0.25)
  })

  it('takes the folder of the container, not what is named after it further down', () => {
    mkdirSync(path.join(root, 'a/b/c', ID), { recursive: true })
    mkdirSync(path.join(root, 'z', `cri-${ID}.scope`, ID), { recursive: true })
    expect(findContainerFolder(root, ID)).toBe(path.join(root, 'z', `cri-${ID}.scope`))
  })
})
