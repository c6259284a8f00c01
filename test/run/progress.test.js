import { describe, expect, it } from 'vitest'
import { createTimeEstimator } from '../../src/run/rounds.js'
import { createArm } from '../fakes/fake-records.js'

describe('createTimeEstimator', () => {
  const arm = /** @type {any} */ (createArm({ id: 'a' }))
  const trials = [1, 2].map(round => ({
    id: `r${round}-a`,
    kind: 'capacity',
    round,
    arm,
    repeats: null,
    searchOf: null,
  }))
  const again = { ...trials[0], id: 'r1-a-again', repeats: 'r1-a' }

  it('has the time that is left if a resumed run begins with a trial that is run again', () => {
    const estimateLeft = createTimeEstimator(trials)
    expect(estimateLeft(again, false)).toBeGreaterThan(0)
    expect(Number.isFinite(estimateLeft(again, true))).toBe(true)
    expect(Number.isFinite(estimateLeft(trials[1], false))).toBe(true)
    expect(estimateLeft(trials[1], true)).toBe(0)
  })
})
