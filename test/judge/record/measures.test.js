import { describe, expect, it } from 'vitest'
import {
  computeCpuPerRequestMicros,
  computeRatePerSecond,
  countGoodUses,
  findCapacityPerSecond,
  findLargestValue,
  findQuantileMs,
  findRoundValue,
  groupByRound,
  hasTail,
  listCountedTrials,
  listSidecars,
  readStartSeconds,
  sumValues,
} from '../../../src/judge/record/measures.js'
import { createFakeProcess, createRecord } from '../../fakes/fake-records.js'

/** @param {(number | null)[]} values of processes, as their cpuLimitCores */
const processesOf = values => values.map(cpuLimitCores => createFakeProcess({ cpuLimitCores }))
const capOf = (/** @type {{ cpuLimitCores: number | null }} */ p) => p.cpuLimitCores

describe('hasTail', () => {
  it.each([
    [20, 0.5, true],
    [19, 0.5, false],
    [1000, 0.99, true],
    [999, 0.99, false],
    [1e9, 1, false],
  ])('of %i requests at %f is %s: ten are beyond the quantile, or fewer', (requests, q, isThere) => {
    expect(hasTail(requests, q)).toBe(isThere)
  })
})

describe('findQuantileMs', () => {
  it('is the time at the quantile itself, and none between two of the grid', () => {
    expect(findQuantileMs(createRecord(), 0.99)).toBe(9.9)
    expect(findQuantileMs(createRecord(), 0.5)).toBe(5)
    expect(findQuantileMs(createRecord(), 0.98)).toBeNull()
    expect(findQuantileMs(createRecord({ load: { distribution: null } }), 0.5)).toBeNull()
  })
})

describe('sumOf', () => {
  it('is null if a process has no value, or there is no process', () => {
    expect(sumValues(processesOf([1, 2, 4]), capOf)).toBe(7)
    expect(sumValues(processesOf([1, null]), capOf)).toBeNull()
    expect(sumValues([], capOf)).toBeNull()
  })
})

describe('mostOf', () => {
  it('leaves out a process without a value, and is null if no process has one', () => {
    expect(findLargestValue(processesOf([1, null, 3]), capOf)).toBe(3)
    expect(findLargestValue(processesOf([null]), capOf)).toBeNull()
    expect(findLargestValue([], capOf)).toBeNull()
  })
})

describe('valueOfRound', () => {
  const measure = computeRatePerSecond

  const failed = createRecord({ outcome: 'failed', load: { verified: 1 } })
  const without = createRecord({ window: null })
  const good = createRecord({ load: { verified: 700 } })
  /** @param {ReturnType<typeof createRecord>} record */
  const again = record => ({ ...record, trial: { ...record.trial, repeats: 'first', isExclusive: true } })

  it('is that of the first good trial: not of a failed one, nor of one without a number', () => {
    expect(findRoundValue([failed, without, good, createRecord()], 'throughput', measure)).toBe(700)
    expect(findRoundValue([failed, without], 'throughput', measure)).toBeNull()
    expect(findRoundValue([good], 'throughput', () => Infinity)).toBeNull()
  })

  it('never puts the rate of a repeat beside the CPU time of a trial that was stopped for a while', () => {
    /** @type {import('../../../src/model/types.ts').Use[]} */
    const spoils = ['throughput', 'capacity', 'latency']
    const gates = [{ gate: 'steady', spoils, reason: 'stopped' }]
    const stopped = createRecord({ load: { verified: 100 }, gates })
    expect(findRoundValue([stopped, again(good)], 'throughput', measure)).toBe(700)
    expect(findRoundValue([stopped, again(good)], 'cpuPerRequest', measure)).toBe(700)
    expect(listCountedTrials([stopped, again(good)], countGoodUses)).toEqual([again(good)])
    // Both were stopped: the first stands for the round, with what it is good for.
    expect(findRoundValue([stopped, again({ ...good, gates })], 'throughput', measure)).toBeNull()
    expect(findRoundValue([stopped, again({ ...good, gates })], 'cpuPerRequest', measure)).toBe(100)
    expect(findRoundValue([failed, again(good)], 'cpuPerRequest', measure)).toBe(700)
    // A run of an older kit keeps its numbers.
    expect(findRoundValue([stopped, good], 'cpuPerRequest', measure)).toBe(100)
  })
})

describe('groupByRound', () => {
  it('gives each round its trials, and an empty list to one that has none', () => {
    const records = [createRecord({ round: 3 }), createRecord({ round: 1 }), createRecord({ round: 3 })]
    expect(groupByRound(records, 3).map(trials => trials.length)).toEqual([1, 0, 2])
  })
})

describe('sidecarsOf', () => {
  it('are those of one service if it is named, and never an application', () => {
    const processes = [
      createFakeProcess({ service: 'a' }),
      createFakeProcess({ service: 'b' }),
      createFakeProcess({ service: 'a', role: 'application' }),
    ]
    const record = createRecord({ processes })
    expect(listSidecars(record)).toEqual(processes.slice(0, 2))
    expect(listSidecars(record, 'b')).toEqual([processes[1]])
  })
})

describe('the rates of a window', () => {
  it('are requests over its seconds, and CPU time over requests', () => {
    const record = createRecord({ window: { startMs: 0, endMs: 2000, seconds: 2, startLateMs: 0, endLateMs: 0 } })
    expect(computeRatePerSecond(record)).toBe(500)
    // 0.1 cores at 500 requests a second.
    expect(computeCpuPerRequestMicros(record, listSidecars(record))).toBe(200)
    expect(computeRatePerSecond(createRecord({ window: null }))).toBeNull()
    expect(computeCpuPerRequestMicros(createRecord({ load: { verified: 0 } }), listSidecars(record))).toBeNull()
  })

  it('are a capacity only if the sidecar bound a closed loop', () => {
    expect(findCapacityPerSecond(createRecord({ boundBy: 'sidecar' }))).toBe(1000)
    expect(findCapacityPerSecond(createRecord({ boundBy: 'users' }))).toBeNull()
    expect(findCapacityPerSecond(createRecord({ boundBy: 'sidecar', arm: { load: { kind: 'open' } } }))).toBeNull()
  })
})

describe('readStartSeconds', () => {
  it('is of sidecars alone, and of no rollout', () => {
    const phasesSeconds = { start: 2 }
    expect(readStartSeconds(createRecord({ phasesSeconds }))).toBe(2)
    expect(readStartSeconds(createRecord({ phasesSeconds, arm: { plane: 'none' } }))).toBeNull()
    expect(readStartSeconds(createRecord())).toBeNull()
  })
})
