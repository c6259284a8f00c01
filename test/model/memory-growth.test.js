import { expect, it } from 'vitest'
import { computeSteadyGrowth, renderGrowthPerRequest } from '../../src/model/memory-growth.js'

const MIB = 2 ** 20

it('memory grows with the requests where it grows in each part of them, and not where a heap takes a step', () => {
  expect(computeSteadyGrowth([8 * MIB, 8 * MIB + 102_400, 8 * MIB + 204_800, 8 * MIB + 307_200])).toBe(307_200)
  expect(computeSteadyGrowth([8 * MIB, 8 * MIB, 8 * MIB + 135_168, 8 * MIB + 135_168])).toBeNull()
  expect(computeSteadyGrowth([8 * MIB, 8 * MIB + 4096, 8 * MIB + 8192, 8 * MIB + 12_288])).toBeNull()
  // A heap that fills up grows ever less.
  expect(computeSteadyGrowth([8 * MIB, 8 * MIB + 500_000, 8 * MIB + 600_000, 8 * MIB + 620_000])).toBeNull()
  expect(computeSteadyGrowth([Number.NaN, Number.NaN, Number.NaN, Number.NaN])).toBeNull()
})

it('growth is printed in KiB, and a little of it in bytes', () => {
  expect(renderGrowthPerRequest(410)).toBe('0.4 KiB a request')
  expect(renderGrowthPerRequest(16.4)).toBe('16 bytes a request')
})
