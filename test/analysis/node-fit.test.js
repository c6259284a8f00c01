import { describe, expect, it } from 'vitest'
import { fitOnNode, parseNode } from '../../src/analysis/node-fit.js'
import { describeSearch } from '../../src/search/step.js'
import { createArm } from '../fakes/fake-records.js'

/** @import { SizeResult } from '../../src/model/types.ts' */

const MIB = 2 ** 20
/** @param {'cpu' | 'memory'} looksFor @param {number | null} held */
const found = (looksFor, held) =>
  describeSearch({ template: createArm({}), looksFor, held, failed: null, steps: [], why: '', isFound: true })
/** @param {number | null} cores @param {number | null} bytes @returns {SizeResult} */
const sizeOf = (cores, bytes) => ({
  ...{ plane: 'pipy', variant: null, profile: null, checks: [], isChecked: true, extrapolated: null },
  cpu: found('cpu', cores),
  memory: bytes === null ? null : { ...found('memory', bytes), unchargedBytes: 3e6 },
})

describe('parseNode', () => {
  it.each([
    ['2c4g', 2, 4096 * MIB],
    ['0.5c0.25g', 0.5, 256 * MIB],
  ])('reads %s', (text, cores, bytes) => expect(parseNode(text)).toEqual({ cores, bytes }))

  it.each(['', '2c', '4g', '2c4', '0c4g', '2c0g', '2C4G', '-2c4g', '2c4gb', ' 2c4g'])('refuses "%s"', text =>
    expect(() => parseNode(text)).toThrow(`--node ${text}: write cores and GiB, such as 2c4g`))
})

describe('fitOnNode', () => {
  // 5 MiB and 3000000 bytes are 8 MiB, in whole limits.
  it('counts by what runs out first', () => {
    expect(fitOnNode(sizeOf(0.3273, 5 * MIB), parseNode('2c4g'))).toEqual({
      ...{ count: 6, limit: 'CPU', cpuShare: 0.16365, memoryShare: 8 / 4096 },
    })
    expect(fitOnNode(sizeOf(0.3273, 5 * MIB), parseNode('16c0.0625g'))).toMatchObject({
      ...{ count: 8, limit: 'memory', memoryShare: 8 / 64 },
    })
  })

  it('counts none where one does not fit', () => {
    expect(fitOnNode(sizeOf(3, 5 * MIB), parseNode('2c4g'))).toMatchObject({ count: 0, cpuShare: 1.5 })
  })

  it('says nothing where no answer was found', () => {
    expect(fitOnNode(sizeOf(null, 5 * MIB), parseNode('2c4g'))).toBeNull()
    expect(fitOnNode(sizeOf(1, null), parseNode('2c4g'))).toBeNull()
    const { memory, ...size } = sizeOf(1, 5 * MIB)
    expect(fitOnNode({ ...size, memory: memory && { ...memory, isFound: false } }, parseNode('2c4g'))).toBeNull()
  })
})
