import { describe, expect, it } from 'vitest'
import { createPace, describeTrial } from '../../src/run/progress.js'
import { createArm, createRecord } from '../fakes/fake-records.js'

describe('describeTrial', () => {
  const withGap = (/** @type {number} */ largestGapSeconds) => {
    const record = /** @type {any} */ (createRecord())
    return describeTrial({ ...record, samples: { ...record.samples, source: 'cgroup', largestGapSeconds } })
  }

  it('says that samples came late, where one was missed by more than 0.1 s', () => {
    expect(withGap(0.19)).not.toContain('gap')
    expect(withGap(0.42)).toContain(', sampled with a gap of 0.4 s')
  })
})

describe('createPace', () => {
  const arm = /** @type {any} */ (createArm({ id: 'a' }))
  const trials = [1, 2].map(round => ({ id: `r${round}-a`, round, arm, repeats: null, searchOf: null }))
  const again = { ...trials[0], id: 'r1-a-again', repeats: 'r1-a' }

  it('knows the time that is left where a resumed run begins with a trial that is run again', () => {
    const estimateLeft = createPace(trials)
    expect(estimateLeft(again, false)).toBeGreaterThan(0)
    expect(Number.isFinite(estimateLeft(again, true))).toBe(true)
    expect(Number.isFinite(estimateLeft(trials[1], false))).toBe(true)
    expect(estimateLeft(trials[1], true)).toBe(0)
  })
})
