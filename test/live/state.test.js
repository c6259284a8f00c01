import { describe, expect, it } from 'vitest'
import { createRunState } from '../../src/live/state.js'
import { createArm, createFakeProcess } from '../fakes/fake-records.js'
import { ARMS, createSidecarSpec, endTrial, plan, START_MS, sample, startTrial } from './fake-events.js'

/** @import { RunEvent } from '../../src/run/events.js' */

const [none, cheap, dear, control] = ARMS

/** @param {RunEvent[]} events */
function applyAll(...events) {
  const state = createRunState()
  for (const event of events) state.apply(event)
  return state
}

describe('the state of a run', () => {
  it('is empty before a run is planned', () => {
    const state = createRunState()
    expect(state.version()).toBe(0)
    expect(state.snapshot()).toEqual({
      ...{ runId: null, experiment: null, question: null, phase: null, progress: null },
      ...{ done: 0, nth: null, trials: null, secondsLeft: null, arm: null, sidecars: [], ratePerSecond: null },
      ...{ failed: null, failedInAll: 0, outcomes: { completed: 0, failed: 0, invalid: 0 }, ending: null },
      parts: [],
    })
    expect([state.series(), state.results(), state.rows()]).toEqual([[], [], []])
  })

  it('shows where the run is', () => {
    const state = applyAll(
      plan(),
      endTrial({ arm: none }),
      startTrial(cheap, { atMs: START_MS + 60_000, secondsLeft: 100 }),
      { kind: 'phase', phase: 'warm-up', atMs: START_MS + 62_500 },
    )
    expect(state.snapshot()).toMatchObject({
      ...{ runId: 'run-1', experiment: 'cap', question: 'what does it cost?' },
      ...{ phase: 'warm-up', progress: 'repeat 1 of 2', done: 1, nth: 2, trials: 8, secondsLeft: 97.5 },
      arm: { name: 'cheap', variedAxes: '', link: 'link' },
      outcomes: { completed: 1, failed: 0, invalid: 0 },
    })
    expect(state.version()).toBe(4)
  })

  it('counts the trials of the plan, not those that are run again or look for the capacity', () => {
    const calibration = createArm({ plane: 'cheap', id: 'link-cheap-closed' })
    const state = applyAll(plan(), startTrial(calibration, { progress: 'finding the capacity' }))
    expect(state.snapshot()).toMatchObject({ nth: null, done: 0, progress: 'finding the capacity' })
    state.apply(endTrial({ arm: calibration }))
    state.apply(startTrial(cheap))
    state.apply(endTrial({ arm: cheap }))
    expect(state.snapshot()).toMatchObject({ nth: 1, done: 1 })
    const again = startTrial(cheap, { repeats: `r1-${cheap.id}` })
    state.apply(again)
    expect(state.snapshot()).toMatchObject({ nth: 1, done: 1 })
    const { record } = /** @type {any} */ (endTrial({ arm: cheap }))
    const { trial } = /** @type {any} */ (again)
    state.apply({ kind: 'trial-ended', record: { ...record, trial }, progress: null, atMs: START_MS })
    expect(state.snapshot()).toMatchObject({ nth: 1, done: 1, outcomes: { completed: 3 } })
    expect(state.rows().map(row => row.armId)).not.toContain(calibration.id)
  })

  it('says how it ended', () => {
    const state = applyAll(plan(), startTrial(cheap), {
      ...{ kind: 'ended', outcome: 'interrupted', atMs: START_MS + 5 },
    })
    const ending = { outcome: 'interrupted' }
    expect(state.snapshot()).toMatchObject({ phase: null, secondsLeft: null, ending })
  })

  it('starts anew with another run, and goes on with the same', () => {
    const state = applyAll(plan(), startTrial(cheap), endTrial({ arm: cheap }))
    state.apply(plan({ arms: [cheap, dear], trials: 4, seconds: 60 }))
    expect(state.snapshot()).toMatchObject({ done: 1, trials: 4, secondsLeft: 60, arm: { name: 'cheap' } })
    expect(state.rows().map(row => row.label)).toEqual(['cheap', 'dear'])
    expect(state.rows().map(row => row.colour)).toEqual([1, 2])
    state.apply(plan({ run: { id: 'run-2', experiment: 'link', question: '' } }))
    expect(state.snapshot()).toMatchObject({ runId: 'run-2', experiment: 'link', done: 0, nth: null, arm: null })
    expect(state.results()).toEqual([])
  })
})

describe('a sidecar', () => {
  const first = { atSeconds: 10, cpuSeconds: 5, periods: 100, throttledPeriods: 40 }
  const second = { atSeconds: 10.1, cpuSeconds: 5.025, periods: 101, throttledPeriods: 41, anonBytes: 31e6 }
  const third = { atSeconds: 10.3, cpuSeconds: 5.035, periods: 103, throttledPeriods: 41 }

  it('has the CPU of its last two readings, and throttling since the first', () => {
    const state = applyAll(plan(), startTrial(cheap), sample({ seconds: -0.1, reading: first }))
    expect(state.snapshot().sidecars).toEqual([
      {
        ...{ service: 'gateway', cores: null, cpuLimitCores: 0.25, ofCap: null, isThrottled: null },
        ...{ throttledFraction: null, anonBytes: 30e6, workingSetBytes: 40e6 },
      },
    ])
    state.apply(sample({ seconds: 0, reading: second }))
    const [after] = state.snapshot().sidecars
    expect(after).toMatchObject({ isThrottled: true, throttledFraction: 1, anonBytes: 31e6 })
    expect(after.cores).toBeCloseTo(0.25, 9)
    expect(after.ofCap).toBeCloseTo(1, 9)
    state.apply(sample({ seconds: 0.2, reading: third }))
    const [last] = state.snapshot().sidecars
    expect(last.cores).toBeCloseTo(0.05, 9)
    expect(last.ofCap).toBeCloseTo(0.2, 9)
    expect(last).toMatchObject({ isThrottled: false, throttledFraction: 1 / 3 })
    const [series] = state.series()
    expect(series).toMatchObject({ service: 'gateway', cpuLimitCores: 0.25, throttled: [[-0.1, 0]] })
    expect(series.cores.map(([at]) => at)).toEqual([0, 0.2])
    expect(series.anonBytes).toEqual([
      [-0.1, 30e6],
      [0, 31e6],
      [0.2, 30e6],
    ])
  })

  it('is not known if a number is missing, never 0', () => {
    const nothing = { cpuSeconds: Number.NaN, anonBytes: Number.NaN, workingSetBytes: null, periods: Number.NaN }
    const state = applyAll(plan(), startTrial(cheap))
    state.apply(sample({ seconds: 0, reading: first }))
    state.apply(sample({ seconds: 0.1, reading: { ...second, ...nothing } }))
    expect(state.snapshot().sidecars[0]).toMatchObject({
      ...{ cores: null, ofCap: null, isThrottled: null, throttledFraction: null },
      ...{ anonBytes: null, workingSetBytes: null },
    })
    state.apply(sample({ seconds: 0.3, reading: { ...third, periods: Number.NaN } }))
    const [{ cores, throttledFraction }] = state.snapshot().sidecars
    expect(cores).toBeCloseTo(0.035 / 0.3, 9)
    expect(throttledFraction).toBeNull()
    expect(state.series()[0].cores.map(([at]) => at)).toEqual([0.3])
    expect(state.series()[0].anonBytes.map(([at]) => at)).toEqual([0, 0.3])
  })

  it('is not known right after another process took its place', () => {
    const state = applyAll(plan(), startTrial(cheap))
    state.apply(sample({ seconds: 0, reading: first }))
    state.apply(sample({ seconds: 0.1, reading: { atSeconds: 10.1, cpuSeconds: 0.1 } }))
    expect(state.snapshot().sidecars[0]).toMatchObject({ cores: null, throttledFraction: null })
    state.apply(sample({ seconds: 0.2, reading: { atSeconds: 10.2, cpuSeconds: 0.11, periods: 1 } }))
    expect(state.snapshot().sidecars[0].cores).toBeCloseTo(0.1, 9)
    expect(state.snapshot().sidecars[0].throttledFraction).toBe(0)
    expect(state.series()[0].cores.map(([at]) => at)).toEqual([0.2])
  })

  it('is not computed from readings of the same moment, as an edge of the window gives them', () => {
    const state = applyAll(plan(), startTrial(cheap))
    state.apply(sample({ seconds: 0, reading: { atSeconds: 10, cpuSeconds: 5 } }))
    state.apply(sample({ seconds: 0.1, reading: { atSeconds: 10.1, cpuSeconds: 5.01 } }))
    state.apply(sample({ seconds: 0.103, reading: { atSeconds: 10.103, cpuSeconds: 5.013 } }))
    expect(state.snapshot().sidecars[0].cores).toBeCloseTo(0.1, 9)
    state.apply(sample({ seconds: 0.2, reading: { atSeconds: 10.2, cpuSeconds: 5.03 } }))
    expect(state.snapshot().sidecars[0].cores).toBeCloseTo(0.2, 9)
    expect(state.series()[0].cores).toHaveLength(2)
  })

  it('has no share of a cap that it has not', () => {
    const specs = [createSidecarSpec('gateway', null), createSidecarSpec('ratings', null)]
    const state = applyAll(plan(), startTrial(cheap))
    state.apply(sample({ seconds: 0, reading: { ...first, periods: null, throttledPeriods: null }, specs }))
    state.apply(sample({ seconds: 0.1, reading: { ...second, periods: null, throttledPeriods: null }, specs }))
    const { sidecars } = state.snapshot()
    expect(sidecars.map(s => s.service)).toEqual(['gateway', 'ratings'])
    expect(sidecars[1]).toMatchObject({ cpuLimitCores: null, ofCap: null, isThrottled: null, throttledFraction: null })
    expect(sidecars[1].cores).toBeCloseTo(0.25, 9)
  })

  it('is forgotten when the next trial starts', () => {
    const state = applyAll(plan(), startTrial(cheap), sample({ seconds: 0, reading: first }), endTrial({ arm: cheap }))
    expect(state.series()).toHaveLength(1)
    state.apply(startTrial(dear))
    expect([state.series(), state.snapshot().sidecars]).toEqual([[], []])
  })
})

describe('requests', () => {
  it('are a rate between the last two counts, and failures are of the trial and of all', () => {
    const count = (/** @type {number} */ requests, /** @type {number} */ failed, /** @type {number} */ atMs) =>
      /** @type {RunEvent} */ ({ kind: 'counted', requests, failed, atMs })
    const state = applyAll(plan(), startTrial(cheap), count(1000, 0, 1000))
    expect(state.snapshot()).toMatchObject({ ratePerSecond: null, failed: 0, failedInAll: 0 })
    state.apply(count(2790, 3, 2250))
    expect(state.snapshot()).toMatchObject({ ratePerSecond: 1432, failed: 3, failedInAll: 3 })
    state.apply(endTrial({ arm: cheap, load: { failed: 1 } }))
    expect(state.snapshot()).toMatchObject({ ratePerSecond: null, failed: 3, failedInAll: 3 })
    state.apply(startTrial(dear))
    expect(state.snapshot()).toMatchObject({ ratePerSecond: null, failed: null, failedInAll: 3 })
    state.apply(count(10, 2, 3000))
    expect(state.snapshot()).toMatchObject({ ratePerSecond: null, failed: 2, failedInAll: 5 })
  })

  it('that failed if nothing counted them are those of the record', () => {
    const state = applyAll(plan(), startTrial(cheap), endTrial({ arm: cheap, load: { failed: 7 } }))
    expect(state.snapshot()).toMatchObject({ failed: null, failedInAll: 7 })
  })
})

describe('trials that ended', () => {
  it('are listed with their numbers', () => {
    const state = applyAll(
      plan(),
      endTrial({ arm: none, processes: [] }),
      endTrial({ arm: cheap, round: 2, boundBy: 'sidecar', load: { verified: 500 } }),
      endTrial({ arm: dear, outcome: 'failed', reasons: ['it died'], load: undefined, window: null, processes: [] }),
    )
    expect(state.results()).toEqual([
      {
        ...{ id: `r1-${none.id}`, round: 1, arm: none.id, name: 'none', variedAxes: '' },
        ...{ outcome: 'completed', reason: null },
        ...{ boundBy: 'users', ratePerSecond: 1000, cpuPerRequestMicros: null, p99Ms: 9.9 },
      },
      {
        ...{ id: `r2-${cheap.id}`, round: 2, arm: cheap.id, name: 'cheap', variedAxes: '', outcome: 'completed' },
        ...{ boundBy: 'sidecar', ratePerSecond: 500, cpuPerRequestMicros: 200, p99Ms: 9.9, reason: null },
      },
      {
        ...{ id: `r1-${dear.id}`, round: 1, arm: dear.id, name: 'dear', variedAxes: '', outcome: 'failed' },
        ...{ boundBy: 'users', ratePerSecond: null, cpuPerRequestMicros: null, p99Ms: 9.9, reason: 'it died' },
      },
    ])
    expect(state.snapshot().outcomes).toEqual({ completed: 2, failed: 1, invalid: 0 })
  })

  it('are not known if a number is missing, never 0', () => {
    const processes = [createFakeProcess({ cpuCores: Number.NaN })]
    const state = applyAll(plan(), endTrial({ arm: cheap, processes }))
    expect(state.results()[0]).toMatchObject({ ratePerSecond: 1000, cpuPerRequestMicros: null })
    expect(state.rows()[1].cpuPerRequest).toEqual({ median: null, low: null, high: null, values: [null, null] })
  })

  it('make a row per arm, a value a round: that of its first trial that is good for it', () => {
    const gates = [{ gate: 'answers', spoils: /** @type {any} */ (['throughput']), reason: 'wrong' }]
    const state = applyAll(
      plan({ rounds: 3 }),
      endTrial({ arm: cheap, round: 1, load: { verified: 800 }, gates }),
      endTrial({ arm: cheap, round: 1, load: { verified: 1000 } }),
      endTrial({ arm: cheap, round: 1, load: { verified: 1 } }),
      endTrial({ arm: cheap, round: 2, load: { verified: 2000 }, outcome: 'failed' }),
      endTrial({ arm: cheap, round: 3, load: { verified: 2000 } }),
    )
    const [ofNone, ofCheap, ofDear, ofControl] = state.rows()
    expect(ofNone).toMatchObject({ armId: none.id, label: 'none', colour: 0 })
    expect(ofDear).toMatchObject({ armId: dear.id, label: 'dear', colour: 2 })
    expect(ofControl).toMatchObject({ armId: control.id, label: 'cheap (A/A)', colour: 1 })
    expect(ofDear.throughput).toEqual({ median: null, low: null, high: null, values: [null, null, null] })
    expect(ofCheap).toEqual({
      ...{ armId: cheap.id, label: 'cheap', colour: 1 },
      throughput: { median: 1500, low: null, high: null, values: [1000, null, 2000] },
      cpuPerRequest: { median: 87.5, low: null, high: null, values: [125, null, 50] },
    })
  })

  it('are named by what varies between arms that have it', () => {
    const rated = (
      /** @type {string} */ plane,
      /** @type {number} */ ratePerSecond,
      /** @type {number | null} */ cap,
    ) =>
      createArm({
        plane,
        id: `${plane}-${ratePerSecond}-${cap}`,
        cpuLimitCores: cap,
        load: { kind: 'open', ratePerSecond },
      })
    const arms = [rated('none', 100, null), rated('cheap', 100, 0.25), rated('cheap', 200, 0.5)]
    const closed = createArm({ plane: 'cheap', id: 'closed', cpuLimitCores: 0.25 })
    const state = applyAll(plan({ arms }), startTrial(closed))
    expect(state.snapshot().arm).toEqual({ name: 'cheap', variedAxes: '0.25 cores', link: 'link' })
    expect(state.rows().map(row => row.label)).toEqual([
      'none, 100 requests/s',
      'cheap, 100 requests/s, 0.25 cores',
      'cheap, 200 requests/s, 0.5 cores',
    ])
  })
})

describe('a search', () => {
  it('has a row for each arm that it came by, and no number of trials', () => {
    const template = createArm({ plane: 'cheap', id: 'cheap', load: { kind: 'open', ratePerSecond: 100 } })
    const at = (/** @type {number} */ rate) => ({
      ...template,
      id: `cheap@${rate}`,
      load: { ...template.load, ratePerSecond: rate },
    })
    const state = applyAll(plan({ arms: [template], rounds: 1, trials: null }))
    expect(state.rows()).toEqual([])
    state.apply(startTrial(at(100), { progress: 'looking for the knee', secondsLeft: null }))
    state.apply(endTrial({ arm: at(100), load: { verified: 100 } }))
    state.apply(startTrial(at(200), { progress: 'looking for the knee', secondsLeft: null }))
    expect(state.snapshot()).toMatchObject({ done: 1, nth: 2, trials: null, secondsLeft: null })
    expect(state.snapshot().arm).toMatchObject({ name: 'cheap', variedAxes: '200 requests/s' })
    state.apply(endTrial({ arm: at(200), round: 2, load: { verified: 200 } }))
    expect(state.rows().map(({ label, colour, throughput }) => [label, colour, throughput.values])).toEqual([
      ['cheap, 100 requests/s', 1, [100, null]],
      ['cheap, 200 requests/s', 1, [null, 200]],
    ])
    expect(state.results().map(({ variedAxes }) => variedAxes)).toEqual(['100 requests/s', '200 requests/s'])
  })

  it('has no interval of seven repeats, which a viewer may end', () => {
    const ended = Array.from({ length: 8 }, (_, i) => endTrial({ arm: cheap, round: i + 1 }))
    const costOf = (/** @type {number} */ repeats) => {
      const rows = applyAll(plan({ rounds: 20 }), ...ended.slice(0, repeats)).rows()
      return rows.find(row => row.armId === cheap.id)?.cpuPerRequest
    }
    expect(costOf(7)).toMatchObject({ low: null, median: costOf(8)?.median })
    expect(costOf(8)?.low).toBeGreaterThan(0)
  })
})
