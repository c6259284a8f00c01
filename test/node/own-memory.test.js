import { describe, expect, it } from 'vitest'
import { collectGarbage, readOwnPeak, resetOwnPeak } from '../../src/node/observer.js'

const MIB = 2 ** 20

describe('collectGarbage', () => {
  it('gives back what nothing needs any more', () => {
    const before = process.memoryUsage().heapUsed
    let texts = Array.from({ length: 100_000 }, (_, i) => `${i}`.padEnd(300, 'x'))
    expect(texts.length).toBe(100_000)
    texts = []
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * MIB)
  })
})

describe('readOwnPeak', () => {
  it('counts from the last reset on', () => {
    resetOwnPeak()
    const before = Number(readOwnPeak())
    const bytes = Buffer.alloc(64 * MIB, 1)
    expect(Number(readOwnPeak()) - before).toBeGreaterThan(32 * MIB)
    expect(bytes.length).toBe(64 * MIB)
  })
})
