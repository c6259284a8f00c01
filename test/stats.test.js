import { describe, expect, it } from 'vitest'
import { findDepth, summariseValues } from '../src/stats.js'

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
