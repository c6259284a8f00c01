import { describe, expect, it } from 'vitest'
import { extrapolateCount, findSequenceDepth, SEQUENCE_LEAST } from '../../src/lib/confidence-sequence.js'
import { createRandom } from '../../src/lib/random.js'
import { findIntervalDepth } from '../../src/lib/stats.js'

describe('findSequenceDepth', () => {
  it('has an interval from eight values on, from the smallest to the largest', () => {
    const first = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(findSequenceDepth)
    expect(first).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1])
    expect(first.indexOf(1) + 1).toBe(SEQUENCE_LEAST)
  })

  it('spends no more than 5 % over 400 looks, by the exact chance of each count below the median', () => {
    let alive = [1]
    for (let n = 1; n <= 400; n++) {
      const k = findSequenceDepth(n)
      const next = Array.from({ length: n + 1 }, (_, j) => ((alive[j - 1] ?? 0) + (alive[j] ?? 0)) / 2)
      // The median lies below the k-th smallest, or above the k-th largest.
      alive = next.map((chance, j) => (j < k || n - j < k ? 0 : chance))
    }
    const kept = alive.reduce((sum, chance) => sum + chance, 0)
    expect(kept).toBeGreaterThan(0.95)
    expect(kept).toBeLessThan(0.965)
  })

  it('is wider than an interval of a fixed number of values, and by less than half as much again in its reach', () => {
    for (let n = SEQUENCE_LEAST; n <= 200; n++) expect(findSequenceDepth(n)).toBeLessThanOrEqual(findIntervalDepth(n))
    const reach = (/** @type {number} */ depth) => 100 - 2 * depth
    expect(reach(findSequenceDepth(100)) / reach(findIntervalDepth(100))).toBeLessThan(1.55)
  })
})

describe('extrapolateCount', () => {
  const random = createRandom(2)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const values = Array.from({ length: 400 }, () => 0.03 * normal())

  it('says how many values a width takes, as many as it then does', () => {
    const count = Number(extrapolateCount({ values, width: 0.03, most: 1000 }))
    const starts = Array.from({ length: 40 }, (_, i) => 5 * i)
    const needed = starts
      .map(start => {
        for (let n = SEQUENCE_LEAST; ; n++) {
          const sorted = values.slice(start, start + n).sort((a, b) => a - b)
          const k = findSequenceDepth(n)
          if (sorted[n - k] - sorted[k - 1] <= 0.03) return n
        }
      })
      .sort((a, b) => a - b)
    expect(count).toBeGreaterThan(0.6 * needed[20])
    expect(count).toBeLessThan(1.6 * needed[20])
  })

  it('takes four times as many for half the width, and says where that is more than there may be', () => {
    const [whole, half] = [0.02, 0.01].map(width => Number(extrapolateCount({ values, width, most: 10_000 })))
    expect(half / whole).toBeGreaterThan(3.5)
    expect(half / whole).toBeLessThan(5.5)
    expect(extrapolateCount({ values, width: 0.01, most: 100 })).toBe(null)
  })
})
