import { describe, expect, it } from 'vitest'
import { measureSearches } from '../../../src/kinds/search/course.js'
import { estimateSeconds } from '../../../src/plan/plan.js'
import { createArm, createRecord } from '../../fakes/fake-records.js'

/** @import { Arm, TrialRecord } from '../../../src/model/types.ts' */

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
    const said = /** @type {string[]} */ ([])
    const left = /** @type {number[]} */ ([])
    let measured = 0
    await measureSearches(
      /** @type {any} */ ({
        plan: { arms: [arm], search: { kind: 'knee', p99Ms: 50, precision: 0.5, startPerSecond: 500 } },
        cpus: 2,
        reusable: {
          takeRecord(/** @type {Arm} */ _, /** @type {(record: TrialRecord) => boolean} */ isUsable) {
            const record = earlier.find(other => !adopted.includes(other) && isUsable(other))
            return record ? { folder: 'earlier', record } : null
          },
        },
        adopt(/** @type {{ record: TrialRecord }} */ { record }, /** @type {TrialRecord['trial']} */ trial) {
          adopted.push(record)
          return { ...record, trial }
        },
        async run(/** @type {Pick<TrialRecord, 'trial'> & { progress: string, secondsLeft: number }} */ options) {
          const { trial, progress, secondsLeft } = options
          measured++
          expect(progress).toBe('looking for the knee')
          left.push(secondsLeft)
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
        isRecorded: () => false,
        turns: { endTurn() {} },
        say: (/** @type {string} */ line) => said.push(line),
        signal: new AbortController().signal,
      }),
    )
    expect(adopted).toEqual([earlier[1]])
    expect(measured).toBeGreaterThan(0)
    expect(left[0]).toBeCloseTo(19 * estimateSeconds([{ arm }]), 6)
    expect(said.find(line => line.includes('met:'))).toMatch(/ \(about \d+ (s|min) left\)$/)
    expect(said.at(-1)).not.toContain('left)')
  })

  it('estimates the time left of a resumed search by the trials that it measures', async () => {
    const arm = createArm({ load: { kind: 'open', ratePerSecond: 500, users: 64 } })
    const record = createRecord({ arm, boundBy: 'rate', load: { reportedUsers: null, verified: 500 } })
    const RECORDED = 3
    const left = /** @type {number[]} */ ([])
    await measureSearches(
      /** @type {any} */ ({
        plan: { arms: [arm], search: { kind: 'knee', p99Ms: 50, precision: 0.5, startPerSecond: 500 } },
        cpus: 2,
        reusable: { takeRecord: () => null },
        isRecorded: () => left.length <= RECORDED,
        async run(/** @type {Pick<TrialRecord, 'trial'> & { secondsLeft: number }} */ { trial, secondsLeft }) {
          left.push(secondsLeft)
          const isOver = left.length > RECORDED + 2
          return { ...record, trial, ...(isOver && { outcome: 'failed', reasons: ['died'], load: null }) }
        },
        turns: { endTurn() {} },
        say() {},
        signal: new AbortController().signal,
      }),
    )
    // Reading a record back takes no time, which says nothing about the pace of those to come.
    const trialSeconds = estimateSeconds([{ arm }])
    for (const [trials, seconds] of left.slice(0, RECORDED + 1).entries())
      expect(seconds).toBeCloseTo((20 - trials) * trialSeconds, 6)
  })
})
