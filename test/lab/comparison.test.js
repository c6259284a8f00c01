import { describe, expect, it } from 'vitest'
import { breakDownCosts, compareCounts } from '../../src/lab/comparison.js'

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

  it('has the system calls of both sides by name', () => {
    const withCalls = (/** @type {[string, number][]} */ ...calls) => [
      { ...createCount([100, 100]), kinds: calls.map(([name, calls]) => ({ name, calls })) },
    ]
    const sides = { old: withCalls(['read', 1], ['write', 2]), new: withCalls(['write', 3]) }
    const [{ calls }] = breakDownCosts(sides, { functions: 1 })
    expect(calls).toEqual([
      { name: 'write', old: 2, new: 3 },
      { name: 'read', old: 1, new: 0 },
    ])
  })

  it('names by group, by filter and by function what changed', () => {
    const main = stack(['main'], 5)
    const old = [createCount([100, 100], [main, stack(['pjs::eval', 'pipy::Handle::process'], 20)])]
    const next = [createCount([100, 100], [main, stack(['malloc', 'pjs::eval', 'pipy::Handle::process'], 30)])]
    const [{ groups, filters, functions }] = breakDownCosts({ old, new: next }, { functions: 1 })
    expect(groups).toContainEqual({ name: 'memory', old: 0, new: 30 })
    expect(groups).toContainEqual({ name: 'script interpreter', old: 20, new: 0 })
    expect(filters).toContainEqual({ name: 'handle…', old: 20, new: 30 })
    expect(functions).toEqual([
      { name: 'malloc', old: 0, new: 30, inclusive: 30 },
      { name: 'pjs::eval', old: 20, new: 0, inclusive: 30 },
    ])
  })
})
