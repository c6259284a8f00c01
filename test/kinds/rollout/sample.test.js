import { describe, expect, it } from 'vitest'
import { drawSample } from '../../../src/kinds/rollout/phases.js'

/** @param {number} count @returns {any[]} */
const membersOf = count => Array.from({ length: count }, (_, i) => ({ name: `client-${i + 1}` }))

describe('the sample of the sidecars that a change is timed on', () => {
  it('is all of few', () => {
    expect([...drawSample(membersOf(30), 1)].sort()).toEqual(
      membersOf(30)
        .map(({ name }) => name)
        .sort(),
    )
  })

  it('is 30 of many drawn by the seed, and those that are changed first and last', () => {
    const drawn = [1, 1, 2].map(seed => [...drawSample(membersOf(200), seed)])
    expect(drawn[0]).toEqual(drawn[1])
    expect(drawn[2]).not.toEqual(drawn[0])
    for (const names of drawn) expect([30, 31, 32]).toContain(names.length)
    for (const names of drawn) expect(names).toEqual(expect.arrayContaining(['client-1', 'client-200']))
    // Spread over all, as a random draw is.
    expect(drawn[0].filter(name => Number(name.slice(7)) > 100).length).toBeGreaterThan(5)
  })

  it('has the simulated ones, which are asked by one of them', () => {
    const simulated = { name: 'simulated', standsFor: 100 }
    expect(drawSample([...membersOf(50), simulated], 1)).toContain('simulated')
  })
})
