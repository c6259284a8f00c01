import { describe, expect, it } from 'vitest'
import { breakDown, compareCounts, findCrossed, parseLabThreshold } from '../../src/lab/comparison.js'

/** @param {number[]} counts @param {import('../../src/lab/profile.js').Stack[]} [stacks] */
const createCount = (counts, stacks = []) => ({
  ...{ link: 'pair', service: 'client', handshake: null, stacks },
  instructions: { value: (counts[0] + counts[1]) / 2, counts },
})
const stack = (/** @type {string[]} */ frames, /** @type {number} */ self) => ({ frames, object: '/bin/pipy', self })

describe('a comparison of counts', () => {
  it('has both sides, their ratio, and how far two counts of one side are apart', () => {
    const rows = compareCounts({ old: [createCount([99, 101])], new: [createCount([110, 110])] })
    expect(rows).toEqual([
      { link: 'pair', service: 'client', quantity: 'instructions', old: 100, new: 110, ratio: 1.1, spread: 0.02 },
    ])
  })

  it('names by group, by filter and by function what changed', () => {
    const main = stack(['main'], 5)
    const old = [createCount([100, 100], [main, stack(['pjs::eval', 'pipy::Handle::process'], 20)])]
    const next = [createCount([100, 100], [main, stack(['malloc', 'pjs::eval', 'pipy::Handle::process'], 30)])]
    const [{ groups, filters, functions }] = breakDown({ old, new: next }, { functions: 1 })
    expect(groups).toContainEqual({ name: 'memory', old: 0, new: 30 })
    expect(groups).toContainEqual({ name: 'script interpreter', old: 20, new: 0 })
    expect(filters).toContainEqual({ name: 'handle…', old: 20, new: 30 })
    expect(functions).toEqual([{ name: 'malloc', old: 0, new: 30, inclusive: 30 }])
  })
})

describe('a threshold of the lab', () => {
  const rows = compareCounts({ old: [createCount([100, 100])], new: [createCount([102, 102])] })
  const cross = (/** @type {string} */ text) => findCrossed(parseLabThreshold(text, ['client']), rows)

  it('is crossed by each sidecar whose ratio it does not allow', () => {
    expect(cross('new/old instructions <= 1.03')).toEqual([])
    expect(cross('new/old instructions@client <= 1.01')).toEqual([
      "--threshold 'new/old instructions@client <= 1.01' is crossed by client of pair: 1.02000",
    ])
    expect(cross('old/new instructions < 0.99')).toEqual([])
  })

  it('is crossed where its quantity was not counted', () => {
    expect(cross('new/old handshake <= 1.01')).toEqual([
      "--threshold 'new/old handshake <= 1.01': handshake was not counted",
    ])
  })

  it.each([
    ['instructions <= 1', 'it is no condition on new/old'],
    ['new/old cpu <= 1', 'unknown quantity "cpu", only instructions and handshake are counted'],
    ['new/old instructions@x <= 1', 'unknown sidecar "x", only client are counted'],
    ['new/old instructions <= -1', '"-1" is no ratio above 0'],
  ])('is refused as %s', (text, why) => {
    expect(() => parseLabThreshold(text, ['client'])).toThrow(why)
  })
})
