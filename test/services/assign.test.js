import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hashText, hashTo64Bits } from '../../src/lib/hash.js'
import { createRandom, shuffleItems } from '../../src/lib/random.js'
import { ALGORITHMS } from '../../src/model/balance.js'
import { assignItems, chooseShard, drawItems, hashFnv } from '../../src/services/assign.js'

/** @import { BalanceTrial } from '../../src/model/types.ts' */

const NAMES = /** @type {BalanceTrial['algorithm'][]} */ (Object.keys(ALGORITHMS))
const below = createRandom(7)
/** Forms of many kinds: fewer items than shards, one item, as many shards as names collide with. */
const FORMS = Array.from({ length: 40 }, (_, i) => ({
  items: drawItems({
    count: 1 + Math.floor(below() * 150),
    sizes: i % 2 === 0 ? 'random' : 'equal',
    seed: i,
  }),
  shards: 2 + Math.floor(below() * 13),
}))

describe('the hashes', () => {
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('is the published FNV-1a of "%s"', (text, hash) => {
    expect(hashFnv(text)).toBe(hash)
  })

  it('begins as the published BLAKE2b-512 of "abc" does (RFC 7693, appendix A)', () => {
    expect(hashTo64Bits('abc')).toBe(0x0d4d1c983fa580ban)
  })
})

describe.each(NAMES)('%s', algorithm => {
  it('assigns every item once, to a shard that there is', () => {
    for (const { items, shards } of FORMS) {
      const assigned = assignItems(algorithm, { items, shards })
      expect([...assigned.keys()].sort()).toEqual(items.map(({ id }) => id))
      for (const shard of assigned.values()) expect(shard).toSatisfy(n => Number.isInteger(n) && n >= 0 && n < shards)
    }
  })

  it('does not depend on the order in which items are given', () => {
    for (const { items, shards } of FORMS) {
      const shuffled = shuffleItems(items, createRandom(1))
      expect(assignItems(algorithm, { items: shuffled, shards })).toEqual(assignItems(algorithm, { items, shards }))
    }
  })
})

describe('assignItems', () => {
  it('gives all shards as many items by round-robin, one more or less', () => {
    for (const { items, shards } of FORMS) {
      const counts = Array(shards).fill(0)
      for (const shard of assignItems('round-robin', { items, shards }).values()) counts[shard]++
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }
  })

  it('is round-robin for items of one size by greedy minimum', () => {
    for (const { items, shards } of FORMS) {
      const equal = items.map(({ id }) => ({ id, size: 5 }))
      const [greedy, round] = /** @type {const} */ (['greedy-minimum', 'round-robin']).map(name =>
        assignItems(name, { items: equal, shards }),
      )
      expect(greedy).toEqual(round)
    }
  })

  it('leaves shards by greedy minimum no further apart than the largest item', () => {
    for (const { items, shards } of FORMS) {
      const loads = loadsOf(assignItems('greedy-minimum', { items, shards }), items, shards)
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(Math.max(...items.map(item => item.size)))
    }
  })

  it('exceeds 1.25 times the mean by one item at most, with bounded loads', () => {
    for (const { items, shards } of FORMS) {
      const loads = loadsOf(assignItems('bounded-loads', { items, shards }), items, shards)
      const mean = loads.reduce((sum, load) => sum + load, 0) / shards
      const largest = Math.max(...items.map(item => item.size))
      expect(Math.max(...loads)).toBeLessThanOrEqual(Math.ceil(1.25 * Math.max(1, mean)) + largest)
    }
  })

  it('spreads more evenly by the weighted ring than by a ring without weights', () => {
    const accepts = () => true
    const spread = (/** @type {number[]} */ loads) => Math.max(...loads) - Math.min(...loads)
    const many = FORMS.filter(({ items, shards }) => items.length > 5 * shards)
    const better = many.filter(({ items, shards }) => {
      const plain = new Map(items.map(({ id }) => [id, chooseShard(id, { shards, accepts })]))
      const weighted = assignItems('weighted-ring', { items, shards })
      return spread(loadsOf(weighted, items, shards)) < spread(loadsOf(plain, items, shards))
    })
    expect(better.length / many.length).toBeGreaterThan(0.8)
  })
})

describe('a hash ring', () => {
  const accepts = () => true

  it('moves no item but those of the shard that is removed', () => {
    let staying = 0
    for (const { items, shards } of FORMS.filter(form => form.shards > 2 && form.shards < 12)) {
      for (const { id } of items) {
        const before = chooseShard(id, { shards, accepts })
        if (before === shards - 1) continue
        expect(chooseShard(id, { shards: shards - 1, accepts })).toBe(before)
        staying++
      }
    }
    expect(staying).toBeGreaterThan(1000)
  })

  it('goes on from the last point to the first', () => {
    const ids = FORMS.flatMap(({ items }) => items.map(({ id }) => id))
    const last = ids.reduce((a, b) => (hashTo64Bits(a) > hashTo64Bits(b) ? a : b))
    // Of one point alone, wherever an id stands.
    const only = (/** @type {{ shard: number, index: number }} */ { shard, index }) => shard === 3 && index === 500
    expect(chooseShard(last, { shards: 5, accepts: only })).toBe(3)
  })

  it('says which item no point is accepted for', () => {
    expect(() => chooseShard('x', { shards: 2, accepts: () => false })).toThrow('no point of 2 shards')
  })
})

describe("Argo CD's own assignments", () => {
  const { cases, inputs } = JSON.parse(readFileSync('test/fixtures/argo-cd-3.5.1-assignments.json', 'utf8'))

  it('are of the items that these seeds draw', () => {
    const drawn = cases.map((/** @type {any} */ { items, sizes, seed }) => drawItems({ count: items, sizes, seed }))
    expect(hashText(JSON.stringify(drawn)), 'drawItems has changed: make the fixture again').toBe(inputs.sha256)
  })

  it('are, of more than 4000, all those of this kit', () => {
    let compared = 0
    for (const { seed, sizes, shards, assigned, ...fields } of cases) {
      const items = drawItems({ count: fields.items, sizes, seed })
      for (const [algorithm, letters] of Object.entries(assigned)) {
        const ours = assignItems(/** @type {'legacy-hash'} */ (algorithm), { items, shards })
        const theirs = [.../** @type {string} */ (letters)].map(letter => Number.parseInt(letter, 36))
        expect([...ours.values()], `${algorithm}, ${sizes}, seed ${seed}, ${shards} shards`).toEqual(theirs)
        compared += theirs.length
      }
    }
    expect(compared).toBeGreaterThan(4000)
  })
})

/** @param {Map<string, number>} assigned @param {{ id: string, size: number }[]} items @param {number} shards */
function loadsOf(assigned, items, shards) {
  const loads = Array(shards).fill(0)
  for (const { id, size } of items) loads[Number(assigned.get(id))] += size
  return loads
}
