import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createCgroupSubtree } from '../../../src/targets/local/cgroup-folders.js'
import { makeFolder } from '../../fakes/scratch.js'

it('writes the CPU request of a process and of its pod as weights, and none where there is no request', async () => {
  const home = path.join(makeFolder('weights'), 'home')
  mkdirSync(home)
  writeFileSync(path.join(home, 'cgroup.procs'), '')
  const parents = { cpu: home, cpuacct: home, memory: home }
  const create = await createCgroupSubtree({ way: { how: 'v2', version: 2, parents, isRoot: false }, name: 'run' })
  const usual = { cpuLimitCores: null, memoryLimitBytes: null }
  const weightOf = (/** @type {string[]} */ ...names) =>
    readFileSync(path.join(home, 'run', ...names, 'cpu.weight'), 'utf8')

  // These are folders of no kernel, which would have made the counters.
  const begin = (/** @type {Parameters<typeof create>} */ ...options) =>
    expect(create(...options)).rejects.toThrow('cpu.stat')

  await begin('sidecar', {
    ...usual,
    cpuRequestCores: 2,
    pod: { name: 'pod', cpuLimitCores: 0.5 },
  })
  // 512 shares have the weight 59 of a curve through 1024 shares and 100.
  expect([weightOf('pod'), weightOf('pod', 'sidecar')]).toEqual(['59', '174'])

  await begin('application', { ...usual, pod: { name: 'other', cpuLimitCores: 0.5 } })
  expect(() => weightOf('other')).toThrow('ENOENT')
  expect(() => weightOf('other', 'application')).toThrow('ENOENT')
})
