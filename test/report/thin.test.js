import { describe, expect, it } from 'vitest'
import { thinSeries } from '../../src/report/thin.js'

/** @type {[number, number][]} */
const wave = Array.from({ length: 5000 }, (_, i) => [i, Math.sin(i / 7)])
wave[1234] = [1234, 99]
wave[4321] = [4321, -99]

describe('thinSeries', () => {
  it('leaves a short series as it is', () => {
    expect(thinSeries(wave.slice(0, 10), 10)).toEqual(wave.slice(0, 10))
  })

  it.each([4, 5, 50, 400])('gives at most %i points, and loses neither extreme, nor the ends', most => {
    const thinned = thinSeries(wave, most)
    expect(thinned.length).toBeLessThanOrEqual(most)
    expect(thinned.length).toBeGreaterThan(most / 2)
    expect(thinned).toContainEqual([1234, 99])
    expect(thinned).toContainEqual([4321, -99])
    expect([thinned[0], thinned.at(-1)]).toEqual([wave[0], wave.at(-1)])
  })

  it('keeps the order of time', () => {
    const times = thinSeries(wave, 300).map(([seconds]) => seconds)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })
})
