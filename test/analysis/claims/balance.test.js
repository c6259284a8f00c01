import { describe, expect, it } from 'vitest'
import { testBalance } from '../../../src/analysis/claims/balance.js'
import { evaluateClaims, parseClaims } from '../../../src/analysis/claims/claims.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { BALANCE_NAMES } from '../../../src/model/balance-quantities.js'
import { createSummary } from '../../fakes/fake-summary.js'

/**
 * @import { BalanceRow, BalanceSummary } from '../../../src/model/types.ts'
 * @import { BalanceRatio } from '../../../src/analysis/claims/schema.js'
 */

/** Published: a fifth of the moves. @type {BalanceRatio} */
const fifth = {
  quantity: 'moves',
  of: { algorithm: 'bounded-loads', sizes: 'random' },
  to: { algorithm: 'greedy-minimum', sizes: 'random' },
  items: 100,
  shards: 10,
  ratio: 0.2,
  tolerance: 0.25,
}

/**
 * @param {number[]} bounded a value of each seed, of every quantity @param {number[]} greedy @returns {BalanceSummary}
 */
function summaryOf(bounded, greedy) {
  const row = (/** @type {BalanceRow['algorithm']} */ algorithm, /** @type {number[]} */ values) => ({
    algorithm,
    sizes: /** @type {const} */ ('random'),
    quantities: /** @type {BalanceRow['quantities']} */ (
      Object.fromEntries(BALANCE_NAMES.map(name => [name, summariseValues(values)]))
    ),
  })
  return {
    schemaVersion: 4,
    kind: 'balance',
    run: { id: 'b1', startedAt: '2026-01-01T00:00:00.000Z', experiment: 'balance', seed: 1 },
    question: 'how evenly?',
    form: { items: 100, shards: 10, seeds: 6, sizes: ['random'], algorithms: ['bounded-loads', 'greedy-minimum'] },
    rows: [row('bounded-loads', bounded), row('greedy-minimum', greedy)],
  }
}
const seventy = [70, 71, 72, 72, 73, 74]

describe('testBalance', () => {
  it.each([
    ['reproduced', [13, 14, 14, 14, 15, 16], { ours: '0.19 (14 to 72)', reason: '' }],
    ['direction only', [40, 41, 42, 42, 43, 44], { ours: '0.58 (42 to 72)', reason: 'outside of the tolerance' }],
    ['contradicted', [80, 81, 82, 82, 83, 84], { reason: 'on the other side of 1' }],
    ['not testable here', [70, 71, 72, 73, 72, 74], { reason: 'no difference shown' }],
    ['not testable here', [14, 14, 14], { ours: null, reason: '6 seeds are too few' }],
  ])('is %s', (status, bounded, answer) => {
    const greedy = seventy.slice(0, bounded.length)
    expect(testBalance(fifth, summaryOf(bounded, greedy))).toMatchObject({ status, ...answer })
  })

  it('has a direction and no ratio to 0', () => {
    const relation = { ...fifth, of: fifth.to, to: fifth.of, ratio: 16 }
    expect(testBalance(relation, summaryOf(Array(6).fill(0), seventy))).toEqual({
      ...{ status: 'direction only', ours: '72 to 0', reason: 'no ratio to 0' },
    })
  })

  it('is of the published form alone, and of assignments that were computed', () => {
    const summary = summaryOf(seventy, seventy)
    expect(testBalance({ ...fifth, items: 500 }, summary).reason).toBe('of 500 items on 10 shards, here 100 on 10')
    const other = { ...fifth, of: /** @type {const} */ ({ algorithm: 'legacy-hash', sizes: 'equal' }) }
    expect(testBalance(other, summary).reason).toBe('not computed here: legacy hash, equal sizes')
  })
})

describe('a claim of assignments', () => {
  const text = `source: { title: t, publisher: p, did: d, hardware: null, read: text }
experiment: balance
claims:
  moves:
    says: a fifth
    published: []
    relation:
      balance:
        quantity: moves
        of: { algorithm: bounded-loads, sizes: random }
        to: { algorithm: greedy-minimum, sizes: random }
        items: 100
        shards: 10
        ratio: 0.2
        tolerance: 0.25
`

  it('is tested by runs of balance, and by no others of that name', () => {
    const files = [parseClaims(text, 'a.yaml')]
    const measured = createSummary([{ plane: 'pipy', cpuLimitCores: 1 }])
    const strange = { ...measured, run: { ...measured.run, experiment: 'balance' } }
    expect(evaluateClaims({ files, summaries: [strange] })[0]).toMatchObject({ reason: 'no run of balance' })
    const fifths = seventy.map(value => value / 5)
    const [result] = evaluateClaims({ files, summaries: [strange, summaryOf(fifths, seventy)] })
    expect(result).toMatchObject({ status: 'reproduced', theirs: '0.2 (±25 %)', runId: 'b1' })
  })

  it('names what is right for an algorithm that there is not', () => {
    const wrong = text.replace('bounded-loads', 'bounded-load')
    expect(() => parseClaims(wrong, 'a.yaml')).toThrow(
      'unknown algorithm "bounded-load"; did you mean "bounded-loads"?',
    )
  })
})
