import { describe, expect, it } from 'vitest'
import { appendPoint, appendStretch, POINTS_MOST } from '../../src/lib/bounded.js'

/** @typedef {[number, number][]} Points */

describe('a series that grows', () => {
  it('keeps every point up to its limit, then every second one of the older half', () => {
    const points = /** @type {Points} */ ([])
    for (let i = 0; i < POINTS_MOST; i++) appendPoint(points, [i, 2 * i])
    expect(points).toHaveLength(2000)
    appendPoint(points, [2000, 4000])
    expect(points).toHaveLength(1501)
    expect(points.slice(0, 3).map(([at]) => at)).toEqual([0, 2, 4])
    expect(points.slice(499, 502).map(([at]) => at)).toEqual([998, 1000, 1001])
    expect(points.at(-1)).toEqual([2000, 4000])
  })

  it('stays small and in order for hours', () => {
    const points = /** @type {Points} */ ([])
    for (let i = 0; i < 100_000; i++) appendPoint(points, [i, 0])
    expect(points.length).toBeLessThanOrEqual(POINTS_MOST)
    expect(points.map(([at]) => at)).toEqual(points.map(([at]) => at).toSorted((a, b) => a - b))
    expect(points.slice(-1000).map(([at]) => at)).toEqual(Array.from({ length: 1000 }, (_, i) => 99_000 + i))
  })
})

describe('stretches of time', () => {
  it('grow where they go on, and where one comes again longer', () => {
    const stretches = /** @type {Points} */ ([])
    for (const stretch of /** @type {Points} */ ([
      [0, 0.1],
      [0.1, 0.2],
      [0.5, 0.6],
      [0.5, 0.8],
    ])) {
      appendStretch(stretches, stretch)
    }
    expect(stretches).toEqual([
      [0, 0.2],
      [0.5, 0.8],
    ])
  })

  it('become coarser when they are too many', () => {
    const stretches = /** @type {Points} */ ([])
    for (let i = 0; i <= POINTS_MOST; i++) appendStretch(stretches, [i, i + 0.5])
    expect(stretches).toHaveLength(1501)
    expect(stretches.slice(0, 2)).toEqual([
      [0, 1.5],
      [2, 3.5],
    ])
    expect(stretches.slice(499, 501)).toEqual([
      [998, 999.5],
      [1000, 1000.5],
    ])
  })
})
