import { describe, expect, it } from 'vitest'
import { summariseChanges } from '../../src/analysis/changes.js'
import { createRecord, describeFakeProcess } from '../fakes/fake-records.js'

/** @import { Change, GateFinding, TrialRecord } from '../../src/model/types.ts' */

/** @param {(number | null)[]} effects seconds @returns {Change[]} */
const changes = effects => effects.map((effectSeconds, i) => ({ atSeconds: i, effectSeconds }))
/**
 * A window of 20 s of two sidecars.
 * @param {{ effects?: (number | null)[] | null, failed?: number, cores?: number, gates?: GateFinding[] }} fields
 * @returns {TrialRecord}
 */
const trial = ({ effects = null, failed = 0, cores = 0.1, gates = [] }) =>
  createRecord({
    window: { startMs: 0, endMs: 20_000, seconds: 20, startLateMs: 0, endLateMs: 0 },
    load: { failed },
    ...{ gates, changes: effects && changes(effects) },
    processes: [
      describeFakeProcess({ cpuCores: cores }),
      describeFakeProcess({ service: 'ratings', cpuCores: 0.1 }),
      describeFakeProcess({ role: 'application', cpuCores: 1 }),
    ],
  })
const SPOILED = [{ gate: 'clock', spoils: /** @type {GateFinding['spoils']} */ (['memory']), reason: 'apart' }]

describe('summariseChanges', () => {
  it('gives, round by round, the median and the longest time to effect', () => {
    const rounds = [[trial({ effects: [0.3, 0.1, 0.2] })], [trial({ effects: [0.5, 0.4, 0.9] })]]
    const found = summariseChanges({ rounds, baseline: null })
    expect(found?.effectSeconds.values).toEqual([0.2, 0.5])
    expect(found?.effectSeconds.median).toBe(0.35)
    expect(found?.effectMostSeconds.values).toEqual([0.3, 0.9])
  })

  it('gives no time of a trial in which a change took no effect, and keeps the rest of it', () => {
    const rounds = [[trial({ effects: [0.1, null], failed: 3 })], [trial({ effects: [0.1, 0.1], failed: 1 })]]
    const found = summariseChanges({ rounds, baseline: null })
    expect(found?.effectSeconds.values).toEqual([null, 0.1])
    expect(found?.effectMostSeconds.values).toEqual([null, 0.1])
    expect(found?.failedPerChange.values).toEqual([1.5, 0.5])
  })

  it('gives the CPU of all sidecars beyond that without changes, a change', () => {
    const rounds = [[trial({ effects: [0.1, 0.1], cores: 0.15 })], [trial({ effects: [0.1], cores: 0.11 })]]
    const baseline = [[trial({})], [trial({})]]
    const found = summariseChanges({ rounds, baseline })
    // 50 and 10 millicores more for 20 s: 1000 ms over two changes, 200 ms over one.
    expect(found?.cpuMillisPerChange.values).toEqual([500, 200].map(ms => expect.closeTo(ms, 9)))
  })

  it('has no CPU of a round without a good baseline', () => {
    const rounds = [0, 1, 2].map(() => [trial({ effects: [0.1], cores: 0.2 })])
    const baseline = [[trial({ gates: SPOILED })], [trial({})]]
    const found = summariseChanges({ rounds, baseline })
    expect(found?.cpuMillisPerChange.values).toEqual([null, expect.closeTo(2000, 9), null])
    expect(summariseChanges({ rounds, baseline: null })?.cpuMillisPerChange.median).toBeNull()
  })

  it('leaves out spoiled trials, and takes the one that was run again', () => {
    const rounds = [[trial({ effects: [9], gates: SPOILED }), trial({ effects: [0.1] })], [trial({ effects: [0.1] })]]
    expect(summariseChanges({ rounds, baseline: null })?.effectSeconds.values).toEqual([0.1, 0.1])
  })

  it('is nothing for an arm without changes', () => {
    expect(summariseChanges({ rounds: [[trial({})]], baseline: null })).toBeNull()
    expect(summariseChanges({ rounds: [[trial({ effects: [] })]], baseline: null })).toBeNull()
    expect(summariseChanges({ rounds: [[], []], baseline: null })).toBeNull()
  })
})
