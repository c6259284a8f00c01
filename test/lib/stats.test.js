import { describe, expect, it } from 'vitest'
import { createRandom } from '../../src/lib/random.js'
import {
  findIntervalDepth,
  findSlopeInterval,
  fitLine,
  hasTrend,
  summariseRatios,
  summariseValues,
} from '../../src/lib/stats.js'

describe('findIntervalDepth', () => {
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
    expect(findIntervalDepth(n)).toBe(depth)
  })

  it('takes about n/2 - 0.98 √n of many: 2 to the power of their number is infinite', () => {
    for (const n of [1000, 1023, 1024, 2000, 10_000]) {
      const normal = n / 2 - (1.96 * Math.sqrt(n)) / 2
      expect(Math.abs(findIntervalDepth(n) - normal)).toBeLessThan(2)
    }
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

/** @param {number[]} ys at 0, 1, 2, … @returns {[number, number][]} */
const pointsOf = ys => ys.map((y, x) => [x, y])

describe('fitLine', () => {
  it('gives the line that points are on, in any order', () => {
    expect(fitLine(pointsOf([3, 5, 7, 9]))).toEqual({ base: 3, slope: 2 })
    expect(fitLine(pointsOf([3, 5, 7, 9]).reverse())).toEqual({ base: 3, slope: 2 })
    expect(
      fitLine([
        [2, 1],
        [4, 0],
      ]),
    ).toEqual({ base: 2, slope: -0.5 })
  })

  it('takes the median of the slopes of all pairs', () => {
    // The slopes are 1, 1.5 and 2; 1.5 leaves 0, -0.5 and 0.
    expect(fitLine(pointsOf([0, 1, 3]))).toEqual({ base: 0, slope: 1.5 })
  })

  it('is not moved by one outlier of four points', () => {
    expect(fitLine(pointsOf([0, 1, 2, 3, 1e6, 5, 6, 7]))).toEqual({ base: 0, slope: 1 })
    expect(fitLine(pointsOf([0, -1e6, 2, 3, 4, 5, 1e6, 7, 8]))).toEqual({ base: 0, slope: 1 })
  })

  it('leaves out pairs at the same place', () => {
    expect(
      fitLine([
        [1, 1],
        [1, 3],
        [2, 3],
      ]),
    ).toEqual({ base: 1, slope: 1 })
  })
})

describe('findSlopeInterval', () => {
  it('gives none below six points', () => {
    expect(findSlopeInterval(pointsOf([1, 2, 3, 4, 5]))).toEqual({ low: null, high: null })
  })

  it('gives none of points that are all at one place', () => {
    expect(findSlopeInterval(pointsOf([1, 2, 3, 4, 5, 6]).map(([, y]) => [0, y]))).toEqual({ low: null, high: null })
  })

  it('is all slopes if there are too few of them', () => {
    // Nine slopes, 1 to 3, and a reach of 10.43.
    expect(
      findSlopeInterval([
        [0, 0],
        [0, 0],
        [0, 0],
        [1, 1],
        [1, 2],
        [1, 3],
      ]),
    ).toEqual({ low: 1, high: 3 })
  })

  it('is the slope alone where all points are on a line', () => {
    expect(findSlopeInterval(pointsOf([1, 3, 5, 7, 9, 11]))).toEqual({ low: 2, high: 2 })
  })

  it('takes, of six points, the second smallest and the second largest of 15 slopes', () => {
    // Kendall's variance 6 × 5 × 17 / 18 = 28.33, × 1.96: 10.43. M1 = 2.28, M2 = 12.72: the 2nd and the 14th.
    const points = pointsOf([0, 10, 21, 33, 46, 60])
    // Slopes of neighbours 10 to 14, of two apart 10.5 to 13.5, …: the smallest are 10, 10.5, the largest 14, 13.5.
    expect(findSlopeInterval(points)).toEqual({ low: 10.5, high: 13.5 })
  })

  it('covers the true slope in about 95 of 100 samples of twelve', () => {
    const random = createRandom(5)
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    let covered = 0
    for (let i = 0; i < 400; i++) {
      const { low, high } = findSlopeInterval(pointsOf(Array.from({ length: 12 }, (_, x) => 2 * x + normal())))
      if (Number(low) <= 2 && Number(high) >= 2) covered++
    }
    expect(covered).toBeGreaterThanOrEqual(372)
    expect(covered).toBeLessThanOrEqual(398)
  })
})
