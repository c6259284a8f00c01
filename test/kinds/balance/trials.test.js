import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseBalanceExperiment } from '../../../src/kinds/balance/experiment.js'
import { computeBalanceTrials, computeMoves, summariseBalance } from '../../../src/kinds/balance/trials.js'

const file = 'bench/experiments/balance.yaml'
const text = readFileSync(file, 'utf8')
const form = parseBalanceExperiment(text, file)

describe('parseBalanceExperiment', () => {
  it('reads the experiment of the kit', () => {
    expect(parseBalanceExperiment(text, file)).toMatchObject({ name: 'balance', items: 100, shards: 10, seeds: 100 })
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
    expect(() => parseBalanceExperiment(text.replace(from, to), 'x.yaml')).toThrow(message)
  })
})

describe('computeBalanceTrials', () => {
  const run = { id: 'b', startedAt: '', experiment: 'balance', seed: 1 }
  const randomForm = { ...form, sizes: [/** @type {const} */ ('random')] }
  const trials = computeBalanceTrials({ form: randomForm, seed: 1 })
  const { rows } = summariseBalance({ manifest: /** @type {any} */ ({ run, question: '', form: randomForm }), trials })

  it.each([
    ['bounded-loads', 14, 2],
    ['greedy-minimum', 72, 3],
    ['legacy-hash', 81, 3],
    // Of ranks 0 to 99, 10 are on the shard that is removed, and 18 have one remainder by 10 and by 9.
    ['round-robin', 72, 0],
  ])('moves items by %s as the published comparison: %i, within %i', (algorithm, moves, within) => {
    const median = rows.find(row => row.algorithm === algorithm)?.quantities.moves.median
    expect(Math.abs(Number(median) - moves)).toBeLessThanOrEqual(within)
  })

  it('counts every item of the shard that goes, and of the one that comes', () => {
    expect(trials.filter(({ algorithm }) => algorithm === 'round-robin').length).toBeGreaterThan(0)
    for (const { removed, added, algorithm } of trials) {
      if (algorithm === 'round-robin') expect([removed.own, added.own]).toEqual([10, 9])
      expect(removed.moves + removed.own).toBeLessThanOrEqual(100)
      expect(added.moves + added.own).toBeLessThanOrEqual(100)
    }
  })

  it('has no spread if equal items can be shared out evenly', () => {
    const [trial] = computeBalanceTrials({
      form: { items: 6, shards: 3, seeds: 1, sizes: ['equal'], algorithms: ['round-robin'] },
      seed: 1,
    })
    // By 2 shards: ranks 0 to 5 go to 0 1 0 1 0 1, and were on 0 1 2 0 1 2. By 4: 0 1 2 3 0 1.
    expect(trial).toEqual({
      ...{ algorithm: 'round-robin', sizes: 'equal', seed: 1, spread: 0, spreadItems: 0 },
      ...{ removed: { moves: 2, own: 2 }, added: { moves: 2, own: 1 } },
    })
  })
})

describe('computeMoves', () => {
  const from = new Map([
    ['a', 0],
    ['b', 1],
    ['c', 2],
    ['d', 2],
    ['e', 0],
  ])

  it('leaves out the items of a shard that was removed', () => {
    const to = new Map([...from, ['b', 0], ['c', 0], ['d', 1]])
    expect(computeMoves({ from, to, kept: 2 })).toEqual({ moves: 1, own: 2 })
  })

  it('leaves out the items of a shard that was added', () => {
    const to = new Map([...from, ['a', 3], ['b', 0], ['c', 3]])
    expect(computeMoves({ from, to, kept: 3 })).toEqual({ moves: 1, own: 2 })
  })
})
