import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseBalance } from '../../../src/kinds/balance/trials.js'

const file = 'bench/experiments/balance.yaml'
const text = readFileSync(file, 'utf8')

describe('parseBalance', () => {
  it('reads the experiment of the kit', () => {
    expect(parseBalance(text, file)).toMatchObject({ name: 'balance', items: 100, shards: 10, seeds: 100 })
  })

  it.each([
    ['items: 100', 'items: 0', /x\.yaml:5: items: /],
    ['shards: 10', 'shards: 1', /x\.yaml:6: shards: at least 2 shards: one of them is removed/],
    ['seeds: 100', 'seeds: 1001', /x\.yaml:7: seeds: at most 1000 seeds/],
    ['items: 100', 'items: 2000', /x\.yaml:7: seeds: items × seeds is at most 100000/],
    ['[random, equal]', '[random, random]', /x\.yaml:8: sizes: a kind of sizes stands twice/],
    ['round-robin', 'round-robn', /unknown value "round-robn"; did you mean "round-robin"\?/],
    ['seeds:', 'rounds:', /unknown name "rounds"/],
    ['kind: balance', 'kind: balanse', /unknown value "balanse"; did you mean "balance"\?/],
  ])('refuses %s as %s', (from, to, message) => {
    expect(() => parseBalance(text.replace(from, to), 'x.yaml')).toThrow(message)
  })
})
