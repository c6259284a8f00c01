import { describe, expect, it } from 'vitest'
import { findShortage } from '../../src/plan/holds.js'

const LIMITS = { memoryBytes: 24 * 2 ** 30, threads: 32768, threadsUsed: 200, files: 20000, ports: 28232 }
const PIPY = { sidecarBytes: 4e6, controlBytes: 120e3, threads: 3 }
const ENVOY = { sidecarBytes: 22e6, controlBytes: 0, threads: 12 }

describe('what a machine holds', () => {
  it('is 1600 Pipy in 24 GiB, and not as many Envoy: with the arithmetic, and how many fit', () => {
    expect(findShortage({ sidecars: 1600, needs: PIPY, limits: LIMITS })).toBeNull()
    expect(findShortage({ sidecars: 1600, needs: ENVOY, limits: LIMITS })).toBe(
      '1600 sidecars take 33855.4 MiB of memory (1600 × 21.0 MiB + 286.1 MiB), and this machine has 24576.0 MiB: at most 1157 fit',
    )
    expect(findShortage({ sidecars: 1157, needs: ENVOY, limits: LIMITS })).toBeNull()
    expect(findShortage({ sidecars: 1158, needs: ENVOY, limits: LIMITS })).not.toBeNull()
  })

  it.each([
    [
      'threads',
      { threads: 4000 },
      '1600 sidecars take 5000 of threads (1600 × 3 + 200), and this machine has 4000: at most 1266 fit',
    ],
    [
      'files',
      { files: 1024 },
      'take 5000 of open files of one process (1600 × 3 + 200), and this machine has 1024: at most 274 fit',
    ],
    [
      'ports',
      { ports: 1000 },
      'take 4800 of ports for connections (1600 × 3), and this machine has 1000: at most 333 fit',
    ],
  ])('is as many as its %s are enough for', (_, limit, words) => {
    expect(findShortage({ sidecars: 1600, needs: PIPY, limits: { ...LIMITS, ...limit } })).toContain(words)
  })

  it('is no matter of a few', () => {
    expect(findShortage({ sidecars: 10, needs: PIPY, limits: { ...LIMITS, memoryBytes: 1 } })).toBeNull()
  })
})
