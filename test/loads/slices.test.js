import { describe, expect, it } from 'vitest'
import { orderSlices } from '../../src/loads/slices.js'

describe('orderSlices', () => {
  const order = orderSlices({ arms: 3, slices: 3000, seed: 7 })

  it('gives every arm one slice of each round of slices', () => {
    expect(order).toHaveLength(3000)
    for (let at = 0; at < order.length; at += 3) expect([...order.slice(at, at + 3)].sort().join('')).toBe('012')
  })

  it('has each arm follow each other about equally often', () => {
    const counts = new Map()
    for (let i = 1; i < order.length; i++) {
      const step = order.slice(i - 1, i + 1)
      counts.set(step, (counts.get(step) ?? 0) + 1)
    }
    expect(counts.size).toBe(9)
    const others = [...counts].filter(([step]) => step[0] !== step[1]).map(([, count]) => count)
    expect(Math.max(...others) - Math.min(...others)).toBeLessThan(30)
  })

  it.each([2, 3, 8, 9])('leaves none of %i arms idle for longer than all arms have a slice', arms => {
    const turns = orderSlices({ arms, slices: 400 * arms, seed: 3 })
    const idle = Array.from({ length: arms }, (_, arm) =>
      Math.max(
        ...turns
          .split(`${arm}`)
          .slice(1, -1)
          .map(({ length }) => length),
      ),
    )
    expect(Math.max(...idle)).toBe(arms)
  })

  it('is another with another seed, and the same with the same', () => {
    expect(orderSlices({ arms: 3, slices: 3000, seed: 7 })).toBe(order)
    expect(orderSlices({ arms: 3, slices: 3000, seed: 8 })).not.toBe(order)
  })
})
