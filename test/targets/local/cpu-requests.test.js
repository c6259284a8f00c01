import { expect, it } from 'vitest'
import { computeCpuShares, computeCpuWeight } from '../../../src/targets/local/cgroup-folders.js'

// MilliCPUToShares of the kubelet, and the table of TestConvertCPUSharesToCgroupV2Value in opencontainers/cgroups.
it.each([
  [0.001, 2, 1],
  [0.002, 2, 1],
  [0.1, 102, 17],
  [1, 1024, 100],
  [2, 2048, 174],
  [256, 262_144, 10_000],
  [1000, 262_144, 10_000],
])('gives a request of %d cores %d shares, or the weight %d', (cores, shares, weight) => {
  expect([computeCpuShares(cores), computeCpuWeight(cores)]).toEqual([shares, weight])
})
