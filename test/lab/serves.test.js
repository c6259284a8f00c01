import { expect, it } from 'vitest'
import { computeGrowth } from '../../src/lab/serves.js'

const MIB = 2 ** 20

it('memory grows with the requests where it grows in each part of them, and not where a heap takes a step', () => {
  expect(computeGrowth([8 * MIB, 8 * MIB + 102_400, 8 * MIB + 204_800, 8 * MIB + 307_200], 25)).toBe(4096)
  expect(computeGrowth([8 * MIB, 8 * MIB, 8 * MIB + 135_168, 8 * MIB + 135_168], 25)).toBeNull()
  expect(computeGrowth([8 * MIB, 8 * MIB + 4096, 8 * MIB + 8192, 8 * MIB + 12_288], 25)).toBeNull()
  expect(computeGrowth([Number.NaN, Number.NaN, Number.NaN, Number.NaN], 25)).toBeNull()
})
