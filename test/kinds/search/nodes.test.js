import { describe, expect, it } from 'vitest'
import { computeLimitsFound } from '../../../src/kinds/search/found-limits.js'
import {
  computeNodeFit,
  parseNode,
  parseNodeOptions,
  parseReserve,
  renderKnownNodes,
} from '../../../src/kinds/search/nodes.js'
import { createSearchResult } from '../../../src/kinds/search/step.js'
import { createArm } from '../../fakes/fake-records.js'

const MIB = 2 ** 20

describe('parseNode', () => {
  it.each([
    ['2c4g', 2, 4096 * MIB, null],
    ['0.5c0.25g', 0.5, 256 * MIB, null],
    ['pi4', 4, 4096 * MIB, 'Cortex-A72, 1.5 to 1.8 GHz, arm64'],
  ])('reads %s', (name, cores, bytes, cpu) => expect(parseNode(name)).toEqual({ name, cores, bytes, cpu }))

  const wrong = ['', '2c', '4g', '2c4', '0c4g', '2c0g', '2C4G', '-2c4g', '2c4gb', ' 2c4g', 'constructor']
  it.each(wrong)('refuses "%s"', text =>
    expect(() => parseNode(text)).toThrow(`--node ${text}: write cores and GiB, such as 2c4g, or the name of`))

  it('knows every node that it lists, and names the nearest', () => {
    const names = renderKnownNodes().map(line => line.trim().split(' ')[0])
    expect(names).toContain('pi3')
    for (const name of names) expect(parseNode(name).cpu).not.toBeNull()
    expect(() => parseNode('p4')).toThrow('did you mean "pi4"?')
  })
})

describe('parseReserve', () => {
  it.each([
    ['0.5c', 0.5, 0],
    ['512m', 0, 512 * MIB],
    ['0.5c,512m', 0.5, 512 * MIB],
    ['1g,2c', 2, 1024 * MIB],
  ])('reads %s', (text, cores, bytes) => expect(parseReserve(text)).toEqual({ cores, bytes }))

  it.each(['', '0c', '512', '1c,2c', '1g,1m', '1c;1g', '0.5c, 512m', '1c,'])('refuses "%s"', text =>
    expect(() => parseReserve(text)).toThrow(`--reserve ${text}: write cores, memory in m (MiB) or g (GiB)`))
})

describe('parseNodeOptions', () => {
  it('says what is left', () => {
    expect(parseNodeOptions('pi4', '0.7c,512m').left).toEqual({ cores: 3.3, bytes: 3584 * MIB })
    expect(parseNodeOptions('2c4g', null).left).toEqual({ cores: 2, bytes: 4096 * MIB })
  })

  it.each(['2c', '1g', '3c,2g'])('refuses to reserve all of a node: %s', text =>
    expect(() => parseNodeOptions('2c1g', text)).toThrow(
      'nothing is left of 2c1g, which has 2 cores and 1024 MiB: reserve less',
    ))
})

/** @param {'cpu' | 'memory'} looksFor @param {number | null} held */
const resultOf = (looksFor, held) =>
  createSearchResult({ template: createArm({}), looksFor, held, failed: null, steps: [], why: '', isFound: true })
/** @param {number | null} cores @param {number | null} bytes */
const sizeOf = (cores, bytes) => ({
  cpu: resultOf('cpu', cores),
  memory: bytes === null ? null : { ...resultOf('memory', bytes), unchargedBytes: 3e6 },
})

describe('limitsOf', () => {
  // 5 MiB and 3000000 bytes are 8 MiB, in whole limits.
  it('rounds up to what can be pasted', () =>
    expect(computeLimitsFound(sizeOf(0.3273, 5 * MIB))).toEqual({ millicores: 328, mebibytes: 8 }))

  it('says nothing if no answer was found', () => {
    expect(computeLimitsFound(sizeOf(null, 5 * MIB))).toBeNull()
    expect(computeLimitsFound(sizeOf(1, null))).toBeNull()
    const { cpu, memory } = sizeOf(1, 5 * MIB)
    expect(computeLimitsFound({ cpu, memory: memory && { ...memory, isFound: false } })).toBeNull()
  })
})

describe('computeNodeFit', () => {
  it('counts by what runs out first', () => {
    const limits = { millicores: 300, mebibytes: 8 }
    expect(computeNodeFit(limits, { cores: 2, bytes: 4096 * MIB })).toEqual({
      ...{ count: 6, limit: 'CPU', byCpu: 2000 / 300, byMemory: 512 },
    })
    expect(computeNodeFit(limits, { cores: 16, bytes: 64 * MIB })).toMatchObject({ count: 8, limit: 'memory' })
    expect(computeNodeFit({ ...limits, millicores: 3000 }, { cores: 2, bytes: 64 * MIB })).toMatchObject({ count: 0 })
  })

  it('loses none to a rounding error', () =>
    expect(computeNodeFit({ millicores: 300, mebibytes: 1 }, { cores: 3.3, bytes: 64 * MIB }).count).toBe(11))
})
