import { describe, expect, it } from 'vitest'
import { describeTrial } from '../../src/run/progress.js'
import { createRecord } from '../fakes/fake-records.js'

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
