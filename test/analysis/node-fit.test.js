import { describe, expect, it } from 'vitest'
import { fitOnNode } from '../../src/analysis/nodes.js'
import { limitsOf } from '../../src/kinds/search/memory-floor.js'
import { describeSearch } from '../../src/kinds/search/step.js'
import { createArm } from '../fakes/fake-records.js'

const MIB = 2 ** 20
/** @param {'cpu' | 'memory'} looksFor @param {number | null} held */
const found = (looksFor, held) =>
  describeSearch({ template: createArm({}), looksFor, held, failed: null, steps: [], why: '', isFound: true })
/** @param {number | null} cores @param {number | null} bytes */
const sizeOf = (cores, bytes) => ({
  cpu: found('cpu', cores),
  memory: bytes === null ? null : { ...found('memory', bytes), unchargedBytes: 3e6 },
})

describe('limitsOf', () => {
  // 5 MiB and 3000000 bytes are 8 MiB, in whole limits.
  it('rounds up to what can be pasted', () =>
    expect(limitsOf(sizeOf(0.3273, 5 * MIB))).toEqual({ millicores: 328, mebibytes: 8 }))

  it('says nothing where no answer was found', () => {
    expect(limitsOf(sizeOf(null, 5 * MIB))).toBeNull()
    expect(limitsOf(sizeOf(1, null))).toBeNull()
    const { cpu, memory } = sizeOf(1, 5 * MIB)
    expect(limitsOf({ cpu, memory: memory && { ...memory, isFound: false } })).toBeNull()
  })
})

describe('fitOnNode', () => {
  it('counts by what runs out first', () => {
    const limits = { millicores: 300, mebibytes: 8 }
    expect(fitOnNode(limits, { cores: 2, bytes: 4096 * MIB })).toEqual({
      ...{ count: 6, limit: 'CPU', byCpu: 2000 / 300, byMemory: 512 },
    })
    expect(fitOnNode(limits, { cores: 16, bytes: 64 * MIB })).toMatchObject({ count: 8, limit: 'memory' })
    expect(fitOnNode({ ...limits, millicores: 3000 }, { cores: 2, bytes: 64 * MIB })).toMatchObject({ count: 0 })
  })

  it('loses none to a rounding error', () =>
    expect(fitOnNode({ millicores: 300, mebibytes: 1 }, { cores: 3.3, bytes: 64 * MIB }).count).toBe(11))
})
