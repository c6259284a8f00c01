import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { collectGarbage } from '../../src/node/observer.js'

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
  it('counts from the last reset on', async () => {
    // In a process of its own, which has no free memory from other tests.
    const script = `
      import { readOwnPeak, resetOwnPeak } from './src/node/observer.js'
      resetOwnPeak()
      const before = readOwnPeak()
      const bytes = Buffer.alloc(${64 * MIB}, 1)
      console.log(JSON.stringify([before, readOwnPeak(), bytes.length]))`
    const { stdout } = await execa('node', ['--input-type=module', '-e', script])
    const [before, after] = JSON.parse(stdout)
    expect(before).toBeGreaterThan(MIB)
    expect(after - before).toBeGreaterThan(32 * MIB)
  })
})
