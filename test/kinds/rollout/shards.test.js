import { describe, expect, it } from 'vitest'
import { assignMovingSidecars, assignSidecars } from '../../../src/kinds/rollout/services.js'
import { drawItems } from '../../../src/services/assign.js'

const names = Array.from({ length: 60 }, (_, i) => `client-${i + 1}`)
const defaults = { shards: 3, configuredServices: 100 }
const assign = (/** @type {object} */ conditions, seed = 1) =>
  assignSidecars(names, { conditions: { ...defaults, ...conditions }, seed })

describe('assignSidecars', () => {
  it('gives every sidecar to the one control plane if there are no shards', () => {
    const assigned = assign({ shards: undefined })
    expect(assigned.map(({ name }) => name)).toEqual(names)
    expect(new Set(assigned.map(({ shard }) => shard))).toEqual(new Set([0]))
  })

  it('deals them out one by one where nothing else is asked, each with as many services', () => {
    expect(assign({}).slice(0, 4)).toEqual([
      { name: 'client-1', shard: 0, known: 100 },
      { name: 'client-2', shard: 1, known: 100 },
      { name: 'client-3', shard: 2, known: 100 },
      { name: 'client-4', shard: 0, known: 100 },
    ])
  })

  it('draws random sizes as balance does, about the requested mean', () => {
    const known = assign({ sizes: 'random', configuredServices: 50 }, 7).map(sidecar => sidecar.known)
    const sizes = drawItems({ count: 60, sizes: 'random', seed: 7 }).map(({ size }) => Math.round(size / 2))
    expect(known).toEqual(sizes)
    expect(assign({ sizes: 'random' }, 7)).toEqual(assign({ sizes: 'random' }, 7))
    expect(assign({ sizes: 'random' }, 8)).not.toEqual(assign({ sizes: 'random' }, 7))
  })

  it('says which move when the last shard is removed: its own, and those that the algorithm assigns anew', () => {
    const move = (/** @type {any} */ assignment) =>
      assignMovingSidecars(names, { conditions: { ...defaults, assignment, isShardRemoved: true }, seed: 1 })
    // Ranks 0 and 1 of 6 have the same rank modulo 3 and 2.
    expect(
      move('round-robin')
        .map(({ movesTo }) => movesTo)
        .slice(0, 6),
    ).toEqual([...Array(2), 0, 1, 0, 1])
    const ofLastShard = move('bounded-loads').filter(({ shard }) => shard === 2)
    const moving = move('bounded-loads').filter(({ movesTo }) => movesTo !== undefined)
    expect(ofLastShard.every(sidecar => moving.some(({ name }) => name === sidecar.name))).toBe(true)
    expect(moving.length).toBeLessThan(40)
    for (const { shard, movesTo } of moving) expect([0, 1].filter(left => left !== shard)).toContain(movesTo)
  })

  it('moves none where none is removed', () => {
    expect(assignMovingSidecars(names, { conditions: defaults, seed: 1 })).toEqual(assign({}))
  })

  it('balances the services by greedy minimum better than by legacy hash', () => {
    const spread = (/** @type {string} */ assignment) => {
      const loads = [0, 0, 0]
      for (const { shard, known } of assign({ assignment, sizes: 'random' })) loads[shard] += known
      return Math.max(...loads) - Math.min(...loads)
    }
    expect(spread('greedy-minimum')).toBeLessThan(spread('legacy-hash') / 2)
  })
})
