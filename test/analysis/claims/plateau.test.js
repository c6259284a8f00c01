import { describe, expect, it } from 'vitest'
import { testPlateau } from '../../../src/analysis/claims/plateau.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @type {import('../../../src/analysis/claims/schema.js').Plateau} */
const CLAIM = {
  quantity: 'changeAllSeconds',
  over: 'commitsPerSecond',
  among: { plane: 'pipy' },
  before: 100,
  from: 150,
}
/**
 * Six rounds of each time of a change, by the commits a second.
 * @param {Record<number, number | null>} times null: spoiled
 * @param {{ rounds?: number, atLimit?: (rate: number) => number | null }} [options] atLimit: of the time of a change
 */
const answer = (times, { rounds = 6, atLimit = () => 0.5 } = {}) =>
  testPlateau(
    CLAIM,
    createSummary(
      Object.entries(times).map(([rate, seconds]) => ({
        plane: 'pipy',
        load: { kind: /** @type {const} */ ('idle') },
        conditions: { sidecars: 200, commitsPerSecond: Number(rate) },
        fields: /** @type {any} */ ({
          rollout: {
            changeAllSeconds: summariseValues(Array.from({ length: rounds }, () => seconds)),
            controlAtLimitChangeFraction: summariseValues([atLimit(Number(rate))]),
          },
        }),
      })),
    ),
  )

describe('testPlateau', () => {
  it('reproduces a plateau that begins where it was published', () => {
    expect(answer({ 50: 4, 100: 2, 150: 1.05, 200: 1 })).toMatchObject({
      status: 'reproduced',
      ours: expect.stringMatching(/^change of all s from 150 on, 1.05 \[1.05, 1.05\] of the least \(.*200 sidecars/),
    })
  })

  it('shows the direction only of one that begins elsewhere', () => {
    expect(answer({ 50: 4, 100: 1.05, 150: 1.05, 200: 1 }).status).toBe('direction only')
  })

  it('contradicts it if there is no plateau', () => {
    const reason = 'no plateau up to 200'
    expect(answer({ 50: 4, 100: 2, 150: 1.5, 200: 1 })).toMatchObject({ status: 'contradicted', reason })
  })

  it('is not testable if the published value, or the one before, was not measured', () => {
    const status = 'not testable here'
    expect(answer({ 50: 4, 100: null, 150: 1.05, 200: 1 })).toMatchObject({ status, reason: 'no value at 100' })
    expect(answer({ 50: 4, 150: 1.05, 200: 1 })).toMatchObject({ status, reason: 'no value at 100' })
    expect(answer({ 50: 4, 100: 2, 200: 1.05, 250: 1 })).toMatchObject({ status, reason: 'no value at 150' })
  })

  it('is not testable if the control plane did not bind at the least value', () => {
    const status = 'not testable here'
    const falling = { 50: 4, 100: 2, 150: 1.5, 200: 1 }
    expect(answer(falling, { atLimit: rate => (rate === 50 ? 0.1 : 0.9) })).toMatchObject({
      ...{ status, reason: 'the control plane did not bind (at most 50 commits/s: at its limit for 10 % of the time)' },
    })
    expect(answer(falling, { atLimit: () => null })).toMatchObject({
      ...{ status, reason: 'whether the control plane bound is not known (at most 50 commits/s)' },
    })
  })

  it('is not testable by too few rounds or values, or by another plane', () => {
    const reason = 'indicative only: too few rounds for an interval'
    expect(answer({ 50: 4, 150: 1, 200: 1 }, { rounds: 3 })).toMatchObject({ status: 'not testable here', reason })
    expect(answer({ 50: 4, 150: 1 }).reason).toBe('fewer than three values were measured')
    expect(testPlateau(CLAIM, createSummary([{ plane: 'envoy' }])).reason).toBe('no arm here is pipy')
  })
})
