import { describe, expect, it } from 'vitest'
import { createRandom } from '../src/lib/random.js'
import { findDepth, hasTrend, summariseRatios, summariseValues } from '../src/stats.js'

describe('findDepth', () => {
  // Conover, Practical Nonparametric Statistics, table A3 (p = 1/2): the depths of 95 % intervals of the median.
  it.each([
    [5, 0],
    [6, 1],
    [7, 1],
    [8, 1],
    [9, 2],
    [10, 2],
    [12, 3],
    [20, 6],
    [25, 8],
  ])('takes, of %i values, the interval of depth %i', (n, depth) => {
    expect(findDepth(n)).toBe(depth)
  })
})

describe('summariseValues', () => {
  it('gives the minimum and the maximum as the interval of six rounds', () => {
    expect(summariseValues([3, 1, 2, 6, 5, 4])).toEqual({ median: 3.5, low: 1, high: 6, values: [3, 1, 2, 6, 5, 4] })
  })

  it('gives no interval below six rounds', () => {
    expect(summariseValues([2, 1, 3])).toEqual({ median: 2, low: null, high: null, values: [2, 1, 3] })
  })

  it('leaves spoiled rounds out and keeps their place', () => {
    expect(summariseValues([null, 4, null])).toEqual({ median: 4, low: null, high: null, values: [null, 4, null] })
  })

  it('has no median without a value', () => {
    expect(summariseValues([null]).median).toBeNull()
  })
})

describe('summariseRatios', () => {
  it('is exact below ten rounds', () => {
    const ratios = [0.5, 0.6, 0.55, 0.52, 0.58, 0.54]
    expect(summariseRatios(ratios, 1)).toEqual(summariseValues(ratios))
  })

  it('is a bootstrap from ten rounds on, the same for the same seed, and the inverse for inverse ratios', () => {
    const ratios = [0.5, 0.6, 0.55, 0.52, 0.58, 0.54, 0.56, 0.51, 0.57, 0.53]
    const { median, low, high } = summariseRatios(ratios, 1)
    expect(summariseRatios(ratios, 1)).toMatchObject({ median, low, high })
    expect(median).toBeCloseTo(Math.sqrt(0.54 * 0.55), 9)
    expect(low).toBeGreaterThan(0.5)
    expect(low).toBeLessThan(0.54)
    expect(high).toBeGreaterThan(0.55)
    expect(high).toBeLessThan(0.6)
    const inverse = summariseRatios(
      ratios.map(r => 1 / r),
      1,
    )
    expect(inverse.median).toBeCloseTo(1 / Number(median), 9)
    expect(inverse.low).toBeCloseTo(1 / Number(high), 1)
  })

  it('covers the true median in about 95 of 100 samples of twelve', () => {
    const random = createRandom(3)
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    let covered = 0
    for (let i = 0; i < 200; i++) {
      const ratios = Array.from({ length: 12 }, () => Math.exp(0.05 * normal()))
      const { low, high } = summariseRatios(ratios, i)
      if (Number(low) <= 1 && Number(high) >= 1) covered++
    }
    expect(covered).toBeGreaterThanOrEqual(184)
    expect(covered).toBeLessThanOrEqual(199)
  })
})

describe('hasTrend', () => {
  it('sees values that rise or fall in every one of six rounds, and no less', () => {
    expect(hasTrend([1, 2, 3, 4, 5, 6])).toBe(true)
    expect(hasTrend([6, 5, 4, 3, 2, 1])).toBe(true)
    expect(hasTrend([1, 2, 3, 4, 6, 5])).toBe(false)
    expect(hasTrend([1, 2, 3, 4, 5])).toBe(false)
  })
})
