import { execa } from 'execa'
import { describe, expect, it } from 'vitest'

const MIB = 2 ** 20

// In a process of its own, which has no garbage and no free memory of other tests.
const run = async (/** @type {string} */ script) => {
  const all = `import { collectGarbage, readOwnPeakBytes, resetOwnPeakMemory } from './src/node/observer.js'\n${script}`
  return JSON.parse((await execa('node', ['--input-type=module', '-e', all])).stdout)
}

describe('collectGarbage', () => {
  it('gives back what nothing needs any more', async () => {
    const [before, full, after] = await run(`
      const read = () => process.memoryUsage().heapUsed
      const used = [read()]
      let texts = Array.from({ length: 100_000 }, (_, i) => String(i).padEnd(300, 'x'))
      used.push(read())
      texts = []
      collectGarbage()
      console.log(JSON.stringify([...used, read()]))`)
    expect(full - before).toBeGreaterThan(20 * MIB)
    expect(after - before).toBeLessThan(10 * MIB)
  })
})

describe('readOwnPeakBytes', () => {
  it('counts from the last reset on', async () => {
    const [before, after] = await run(`
      resetOwnPeakMemory()
      const before = readOwnPeakBytes()
      const bytes = Buffer.alloc(${64 * MIB}, 1)
      console.log(JSON.stringify([before, readOwnPeakBytes(), bytes.length]))`)
    expect(before).toBeGreaterThan(MIB)
    expect(after - before).toBeGreaterThan(32 * MIB)
  })
})
