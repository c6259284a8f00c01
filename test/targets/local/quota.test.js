import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCgroupSubtree } from '../../../src/targets/local/cgroup-folders.js'
import { findCapWay } from '../../../src/targets/local/cgroups.js'
import { findSmallestQuota, probeLargestCap } from '../../../src/targets/local/quota.js'
import { makeFolder } from '../../fakes/scratch.js'

const here = await findCapWay()

/** Makes a group of cgroup v2 as files, below one that has a quota. @param {string} quota */
function makeV2(quota) {
  const job = path.join(makeFolder('quota'), 'job')
  const home = path.join(job, 'home')
  mkdirSync(home, { recursive: true })
  for (const folder of [job, home]) writeFileSync(path.join(folder, 'cgroup.procs'), '')
  writeFileSync(path.join(job, 'cpu.max'), quota)
  writeFileSync(path.join(home, 'cpu.max'), 'max 100000\n')
  const parents = { cpu: home, cpuacct: home, memory: home }
  return { job, way: /** @type {const} */ ({ how: 'v2', version: 2, parents, isRoot: false }) }
}

describe('findSmallestQuota', () => {
  it('is the least of every group above, and none where nothing limits', () => {
    const { job, way } = makeV2('50000 100000\n')
    expect(findSmallestQuota(way)).toEqual({ cores: 0.5, folder: job })
    expect(findSmallestQuota(makeV2('max 100000\n').way)).toBeNull()
    expect(findSmallestQuota({ how: 'none', version: 1, reason: 'a test' })).toBeNull()
  })
})

describe.skipIf(here.how !== 'v1')('a quota of the job under cgroup v1', () => {
  it('is found, and a larger cap is refused with what EINVAL means and the size that fits', async () => {
    if (here.how !== 'v1') return
    const name = `sidecar-bench-test-${process.pid}`
    const below = (/** @type {string} */ folder) => path.join(folder, name)
    const { cpu, cpuacct, memory } = here.parents
    const parents = { cpu: below(cpu), cpuacct: below(cpuacct), memory: below(memory) }
    const folders = [...new Set(Object.values(parents))]
    for (const folder of folders) mkdirSync(folder)
    onTestFinished(() => {
      for (const at of [
        ...folders.map(folder => path.join(folder, 'run/group')),
        ...folders.map(folder => path.join(folder, 'run')),
        ...folders,
      ])
        rmdirSync(at)
    })
    writeFileSync(path.join(parents.cpu, 'cpu.cfs_quota_us'), '50000')
    const way = { ...here, parents }
    expect(findSmallestQuota(way)).toEqual({ cores: 0.5, folder: parents.cpu })
    expect(probeLargestCap(way, 2)).toBe(0.5)
    expect(probeLargestCap(way, 0.25)).toBe(0.25)
    const create = await createCgroupSubtree({ way, name: 'run' })
    await expect(create('group', { cpuLimitCores: 1, memoryLimitBytes: null })).rejects.toThrow(
      /^the kernel refused a cap of 1 cores for .*\/run\/group \(EINVAL\): a group above it, of this job or container, has a smaller quota, which may not be visible from here; at most 0\.5 cores fit: give --cpu 0\.5, or raise that quota$/,
    )
  })
})
