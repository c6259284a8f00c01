import { describe, expect, it } from 'vitest'
import { describeFirst } from '../../../src/kinds/search/course.js'
import { createArm } from '../../fakes/fake-records.js'

const MIB = 2 ** 20
const template = createArm({ load: { kind: 'open', ratePerSecond: 500 } })

describe('describeFirst', () => {
  it('says limits that held, with their p99', () => {
    expect(describeFirst(template, { limits: { cores: 0.1515, bytes: 33 * MIB }, p99Ms: 12.34 })).toBe(
      'first answer, pipy: 152m and 33Mi held 500 requests/s twice with a p99 of 12.3 ms; the smallest limits come next',
    )
  })

  it('says an estimate with what it is from, as not confirmed, and why', () => {
    const need = { cores: 0.112, bytes: 22 * MIB }
    const estimate = { limits: { cores: 0.1515, bytes: 33 * MIB }, trials: 6, coresLeast: 0.095, need }
    expect(describeFirst(template, { why: 'something else used 1.20 cores of this machine', estimate })).toBe(
      'first answer, pipy: about 152m and 33Mi, an estimate that is not confirmed: something else used 1.20 cores of this machine. In 6 trials at 500 requests/s the busiest sidecar took 95m to 112m and 22Mi',
    )
  })

  it('says why there is none', () => {
    expect(describeFirst(template, { why: 'bound by the worker', estimate: null })).toBe(
      'first answer, pipy: none yet: bound by the worker',
    )
  })
})
