import { describe, expect, it } from 'vitest'
import { describeFirst, measureSearches } from '../../../src/kinds/search/course.js'
import { createArm, createRecord } from '../../fakes/fake-records.js'

/** @import { Arm, TrialRecord } from '../../../src/model/types.ts' */

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

describe('measureSearches', () => {
  it('takes trials that were judged from an earlier run, and measures the others again', async () => {
    const arm = createArm({ load: { kind: 'open', ratePerSecond: 500, users: 64 } })
    const createTrial = (/** @type {boolean} */ isSpoiled) =>
      createRecord({
        arm,
        boundBy: 'rate',
        load: { reportedUsers: null, verified: 500 },
        gates: isSpoiled ? [{ gate: 'neighbour', spoils: ['latency'], reason: 'a neighbour' }] : [],
      })
    const earlier = [true, false, true, true].map(createTrial)
    const adopted = /** @type {TrialRecord[]} */ ([])
    let measured = 0
    await measureSearches(
      /** @type {any} */ ({
        plan: { arms: [arm], search: { kind: 'knee', p99Ms: 50, precision: 0.5, startPerSecond: 500 } },
        cpus: 2,
        reusable: {
          take(/** @type {Arm} */ _, /** @type {(record: TrialRecord) => boolean} */ isUsable) {
            const record = earlier.find(other => !adopted.includes(other) && isUsable(other))
            return record ? { folder: 'earlier', record } : null
          },
        },
        adopt(/** @type {{ record: TrialRecord }} */ { record }, /** @type {TrialRecord['trial']} */ trial) {
          adopted.push(record)
          return { ...record, trial }
        },
        async run(/** @type {Pick<TrialRecord, 'trial'>} */ { trial }) {
          measured++
          return {
            ...createTrial(false),
            trial,
            boundBy: 'sidecar',
            load: null,
            outcome: 'failed',
            reasons: ['died'],
            ended: [{ service: 'a', role: 'sidecar', how: 'x', isOutOfMemory: false }],
          }
        },
        turns: { pass() {} },
        say() {},
        signal: new AbortController().signal,
      }),
    )
    expect(adopted).toEqual([earlier[1]])
    expect(measured).toBeGreaterThan(0)
  })
})
