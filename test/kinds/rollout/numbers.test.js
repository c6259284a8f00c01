import { describe, expect, it } from 'vitest'
import { listGateFindings } from '../../../src/judge/gates.js'
import { QUANTITIES } from '../../../src/judge/quantities.js'
import { computeRolloutNumbers } from '../../../src/kinds/rollout/numbers.js'
import { createFakeProcess, createRecord, DEFAULT_CONDITIONS } from '../../fakes/fake-records.js'

/** @import { RolloutRecord } from '../../../src/model/types.ts' */

const host = (/** @type {number} */ idle, /** @type {number} */ total) => ({
  ...{ idle, total, steal: 0, busy: total - idle, cpus: 2 },
})
const control = (/** @type {number} */ epochMs, /** @type {number} */ cpuSeconds, /** @type {number} */ anonBytes) => ({
  ...{ epochMs, cpuSeconds, anonBytes, peakBytes: 2 * anonBytes },
})

/** Two batches of two, 1 s apart; then a change. @type {RolloutRecord} */
const SEEN = {
  schemaVersion: /** @type {any} */ (1),
  cpus: 2,
  askedPerSecondMost: 400,
  members: [
    { name: 'client-1', first: convergence(1000, null, 1200), change: convergence(5000, 5010, 5110) },
    { name: 'client-2', first: convergence(1000, 1100, 1300), change: convergence(5100, 5140, 5300) },
    { name: 'client-3', first: convergence(2000, 2100, 2400), change: convergence(5200, 5300, 5400) },
    { name: 'client-4', first: convergence(2000, 2900, 3000), change: convergence(5300, 5900, 6000) },
  ],
  first: {
    ...{ startMs: 900, endMs: 3000, host: { start: host(0, 0), end: host(50, 200) }, ownCpuSeconds: 0.21 },
    control: { start: control(890, 0.2, 15e6), end: control(3001, 0.6, 20e6) },
  },
  change: {
    ...{ startMs: 4900, endMs: 6100, host: { start: host(50, 200), end: host(50, 300) }, ownCpuSeconds: 0.6 },
    control: { start: control(4890, 0.7, 21e6), end: control(6101, 1.1, 25e6) },
  },
  control: [
    ...[control(100, 0.1, 10e6), control(850, 0.2, 15e6), control(2950, 0.6, 20e6)],
    ...[control(4850, 0.7, 21e6), control(5500, 0.8, 30e6), control(6050, 1.1, 25e6)],
  ],
}

const CHANGE = /** @type {RolloutRecord['first']} */ (SEEN.change)

/** @param {number} sinceMs @param {number | null} lastNoMs @param {number | null} yesMs */
function convergence(sinceMs, lastNoMs, yesMs) {
  return { sinceMs, lastNoMs, yesMs, asked: 2 }
}

describe('the memory of services that came and went', () => {
  const withdrawal = {
    ...CHANGE,
    sidecarBytes: { before: 40e6, told: 80e6, toldAgain: 84e6 },
    controlBytes: { before: 20e6, told: 25e6, toldAgain: 25e6 },
  }
  const members = SEEN.members.map(member => ({ ...member, withdrawn: convergence(6500, 6510, 6600) }))
  const memory = { ...createFakeProcess({}).memory, anonBytes: 50e6 }
  const record = createRecord({
    arm: { conditions: { ...DEFAULT_CONDITIONS, configuredServices: 100, sidecars: 4 } },
    processes: [
      createFakeProcess({ memory }),
      createFakeProcess({ role: 'control', memory: { ...memory, anonBytes: 22e6 } }),
    ],
    rollout: computeRolloutNumbers({ ...SEEN, members, withdrawal }),
  })
  const measure = (/** @type {string} */ name, measuredRecord = record) =>
    QUANTITIES[name].measure({ record: measuredRecord })

  it('is that of a sidecar a service, and what of it stays to the end of the window', () => {
    expect(measure('sidecarTold')).toBe(20e6)
    expect(measure('toldPerService')).toBe(100e3)
    expect(measure('keptOfServices')).toBe(0.25)
    expect(measure('toldAgain')).toBe(1.1)
  })

  it('is that of the control plane likewise', () => {
    // 20, 25 and 22 MB.
    expect(measure('controlPerService')).toBe(12_500)
    expect(measure('controlKept')).toBeCloseTo(0.4)
  })

  it('has no value if services took none', () => {
    const controlBytes = { before: 25e6, told: 25e6, toldAgain: 25e6 }
    const rollout = computeRolloutNumbers({ ...SEEN, members, withdrawal: { ...withdrawal, controlBytes } })
    expect(measure('controlKept', { ...record, rollout })).toBeNull()
    expect(measure('keptOfServices', { ...record, rollout })).toBe(0.25)
  })
})

describe('the numbers of a rollout', () => {
  const { first, change: changed, ...numbers } = computeRolloutNumbers(SEEN)
  const change = /** @type {typeof first} */ (changed)

  it('are from the first start to the last yes, and of each sidecar from its own start', () => {
    expect(first).toMatchObject({ converged: 4, missing: [], seconds: 2, toldSeconds: 1 })
    // 0.2, 0.3, 0.4 and 1 s.
    expect(first.each).toEqual({ p50: 0.3, p99: 1, max: 1 })
    expect(change).toMatchObject({ converged: 4, seconds: 1, toldSeconds: 0.3 })
    expect(change.each.p50).toBeCloseTo(0.2)
  })

  describe('where a sample was asked', () => {
    const sample = ['client-1', 'client-4']
    const afterwards = (/** @type {number | null} */ lastNoMs, /** @type {number} */ requests) =>
      SEEN.members.map(member =>
        sample.includes(member.name)
          ? member
          : { ...member, change: { ...convergence(6100, lastNoMs, 6200), asked: requests } },
      )
    const judge = (/** @type {number | null} */ lastNoMs, requests = 1) =>
      computeRolloutNumbers({ ...SEEN, members: afterwards(lastNoMs, requests), change: { ...CHANGE, sample } })

    it('are its times, without the ends of each, while all have to have it', () => {
      const rollout = judge(null)
      expect(rollout.change).toMatchObject({ converged: 4, missing: [], sampled: 2, late: 0, seconds: 1 })
      expect(rollout.change?.each).toMatchObject({ p99: null, max: null })
      expect(rollout.change?.each.p50).toBeCloseTo(0.11)
      // Two asked twice, in 1.2 s.
      expect(rollout.change?.askedPerSecond).toBeCloseTo(4 / 1.2)
      expect(QUANTITIES.changeAsked.measure({ record: createRecord({ rollout }) })).toBe(2)
    })

    it('have no time of all if another one did not say so at once', () =>
      expect(judge(null, 2).change).toMatchObject({ late: 2, seconds: null }))

    it('have no time of all if another one had it later', () => {
      const rollout = judge(6150)
      expect(rollout.change).toMatchObject({ converged: 4, late: 2, seconds: null })
      const record = createRecord({ rollout })
      expect(listGateFindings(record).find(gate => gate.reason?.includes('of the sample'))?.reason).toMatch(
        'all sidecars had the change: 2 did not have it when the 2 of the sample had',
      )
    })
  })

  it('say what is not known of a time: since the last no, or the start', () => {
    // 0.2 from the start, 0.2, 0.3 and 0.1 from the last no.
    expect(first.censoredSeconds).toBeCloseTo(0.2)
    // Of client-4.
    expect(first.lastCensoredSeconds).toBeCloseTo(0.1)
  })

  it('have what control plane, machine and kit used meanwhile', () => {
    expect(first.controlCpuSeconds).toBeCloseTo(0.4)
    expect(change.controlCpuSeconds).toBeCloseTo(0.4)
    expect([first.hostIdleFraction, change.hostIdleFraction]).toEqual([0.25, 0])
    expect([first.ownCores, change.ownCores].map(cores => cores.toFixed(3))).toEqual(['0.100', '0.500'])
    expect(numbers).toEqual({
      ...{ sidecars: 4, cpus: 2, askedPerSecondMost: 400, controlPeakBytes: 50e6 },
      controlAnonBytes: { empty: 10e6, stable: 20e6, peak: 30e6 },
    })
  })

  it('have the CPU of each shard, and for how much of a phase the busiest was at its limit', () => {
    /** A counter of a shard at both edges. @typedef {[number | null, number | null]} Counted */
    /** @param {{ cpu: Counted, periods: Counted, seconds?: Counted }[]} shards */
    const of = shards => {
      const [start, end] = [0, 1].map(at => ({
        ...control(890, 0.2, 15e6),
        each: shards.map(({ cpu, periods, seconds }) => ({
          ...{ cpuSeconds: cpu[at], throttledPeriods: periods[at], throttledSeconds: seconds?.[at], workers: 1 },
        })),
      }))
      return computeRolloutNumbers({ ...SEEN, first: { ...SEEN.first, control: { start, end } } })
    }
    // In 2.1 s: 7 periods of 0.1 s; without a cap, 1.05 s of CPU.
    const capped = of([
      { cpu: [1, 1.03], periods: [2, 9] },
      { cpu: [1, 1.01], periods: [0, 3] },
    ])
    expect(capped.first.controlAtLimit).toBeCloseTo(0.7 / 2.1)
    const busy = of([
      { cpu: [1, 2.05], periods: [0, 0] },
      { cpu: [1, 1.2], periods: [null, null] },
    ])
    expect(busy.first.controlAtLimit).toBeCloseTo(0.5)
    // At a quota of 1 ms, a short burst in each of 15 periods: 0.3 s of 2.1. Of two CPUs at once no more than the periods.
    const shareOf = (/** @type {number} */ seconds) =>
      of([{ cpu: [1, 1], periods: [5, 20], seconds: [1, 1 + seconds] }]).first.controlAtLimit
    expect(shareOf(0.3)).toBeCloseTo(0.3 / 2.1)
    expect(shareOf(1.9)).toBeCloseTo(1.5 / 2.1)
    // 1.05 and 0.2, of a mean of 0.625.
    const record = createRecord({})
    const measure = (/** @type {string} */ name) => QUANTITIES[name].measure({ record: { ...record, rollout: busy } })
    expect(measure('shardSpread')).toBeCloseTo(0.85 / 0.625)
    expect(measure('controlAtLimitRollout')).toBeCloseTo(0.5)
    expect(measure('controlAtLimitChange')).toBeNull()
  })

  it('have, of pods, how soon they were ready, by a clock of their own', () => {
    const members = SEEN.members.map((member, i) => ({
      ...member,
      pod: { createdMs: 90_000, readyMs: i === 3 ? null : 91_000 + 500 * i },
    }))
    const { pods, first: same } = computeRolloutNumbers({ ...SEEN, members })
    expect(pods).toEqual({ ready: 3, readySeconds: { p50: 1.5, p99: 2, max: 2 } })
    expect(same).toEqual(first)
    const rollout = computeRolloutNumbers({ ...SEEN, members })
    const record = createRecord({ rollout })
    expect(QUANTITIES.podReadyMax.measure({ record })).toBe(2)
    const withoutPods = createRecord({ rollout: computeRolloutNumbers(SEEN) })
    expect(QUANTITIES.podReadyMax.measure({ record: withoutPods })).toBeNull()
  })

  it('name the sidecars that lack it, and then have no time of all', () => {
    const [one, two, ...others] = SEEN.members
    const members = [one, { ...two, change: convergence(5100, 9000, null) }, ...others]
    const { change } = computeRolloutNumbers({ ...SEEN, members })
    expect(change).toMatchObject({ converged: 3, missing: ['client-2'], seconds: null })
    expect(change?.each.max).toBeCloseTo(0.7)
  })

  it('are of the first configuration alone where not all had it, or were started', () => {
    const members = SEEN.members.slice(0, 3).map(({ name, first }) => ({ name, first }))
    const numbers = computeRolloutNumbers({ ...SEEN, members: [...members, { name: 'client-4' }], change: undefined })
    expect(numbers.first).toMatchObject({ converged: 3, missing: ['client-4'], seconds: null })
    expect(numbers.first.curve.at(-1)?.[1]).toBe(0.75)
    expect(numbers.change).toBeUndefined()
    expect(QUANTITIES.changeAllSeconds.measure({ record: createRecord({ rollout: numbers }) })).toBeNull()
  })

  it('are without those of a control plane if none runs', () => {
    const none = { control: { start: null, end: null } }
    const first = { ...SEEN.first, ...none }
    const { first: numbers, controlAnonBytes } = computeRolloutNumbers({ ...SEEN, first, control: null })
    expect(numbers.controlCpuSeconds).toBeNull()
    expect(controlAnonBytes).toEqual({ empty: null, stable: null, peak: null })
  })

  it('are a curve of the share that has it', () => {
    const { curve } = first
    expect(curve.map(([seconds]) => seconds)).toEqual([0.2, 0.3, 1.4, 2])
    expect(curve.map(([, share]) => share)).toEqual([0.25, 0.5, 0.75, 1])
  })

  it('are quantities of the table, those of the control plane over the sidecars', () => {
    const record = createRecord({ rollout: computeRolloutNumbers(SEEN) })
    const measure = (/** @type {string} */ name) => QUANTITIES[name].measure({ record })
    expect(measure('rolloutSeconds')).toBe(2)
    // The kit itself took half a core of two in the change.
    expect(measure('changeMax')).toBeNull()
    expect(measure('controlCpuRollout')).toBeCloseTo(100)
    expect(measure('controlPeak')).toBe(30e6)
    // One batch with 1 MB.
    expect(measure('sidecarAnon')).toBe(250e3)
    expect(measure('controlPerSidecar')).toBe(2.5e6)
    expect(QUANTITIES.rolloutSeconds.measure({ record: createRecord() })).toBeNull()
  })

  it('have the memory of a service known, against the same round without', () => {
    const rollout = computeRolloutNumbers(SEEN)
    const knows = (/** @type {number} */ configuredServices, /** @type {number} */ anonBytes) => {
      const conditions = { ...DEFAULT_CONDITIONS, configuredServices }
      const processes = [createFakeProcess({ memory: { ...createFakeProcess({}).memory, anonBytes } })]
      return createRecord({ rollout, processes, arm: { conditions } })
    }
    const { measure } = QUANTITIES.anonPerService
    // 400 MB of four sidecars more.
    expect(measure({ record: knows(1000, 440e6), unconfigured: [knows(0, 40e6)] })).toBe(100e3)
    expect(measure({ record: knows(0, 40e6), unconfigured: [] })).toBeNull()
  })

  it('have no value if a tenth of this time is unknown, even if the others are known', () => {
    const rollout = computeRolloutNumbers(SEEN)
    const record = createRecord({ rollout })
    const measure = (/** @type {string} */ name) => QUANTITIES[name].measure({ record })
    // Of the median 200 of 300 ms, of the last 100 of 2000 ms; of the longest 200 of 1000 ms.
    expect(['rolloutSeconds', 'startingSeconds', 'firstConfigP50', 'firstConfigMax'].map(measure)).toEqual([
      ...[2, 1, null, null],
    ])
    expect(listGateFindings(record).map(({ gate, reason }) => [gate, reason])).toEqual([
      [
        'resolution',
        'until all sidecars had their first configuration: unknown are 200 of 300 ms of p50, 200 of 1000 ms of p99, 200 of 1000 ms of max',
      ],
      [
        'resolution',
        'until all sidecars had the change: unknown are 100 of 200 ms of p50, 100 of 700 ms of p99, 100 of 700 ms of max',
      ],
      ['probe-cost', 'until all sidecars had the change, the kit itself used 0.50 of 2 cores'],
    ])
  })

  it('have no value if the budget of requests may be what was measured', () => {
    const members = SEEN.members.map(member => ({ ...member, first: convergence(1000, 1900, 2000) }))
    const busyMembers = members.map(member => ({ ...member, first: { ...member.first, asked: 190 } }))
    // 760 in 2.1 s are 362 a second.
    const record = createRecord({ rollout: computeRolloutNumbers({ ...SEEN, members: busyMembers }) })
    expect(QUANTITIES.rolloutSeconds.measure({ record })).toBeNull()
    expect(listGateFindings(record).map(({ reason }) => reason)).toContain(
      'until all sidecars had their first configuration, the sidecars were asked 362 times a second, of at most 400: asking may be what was measured',
    )
  })
})

describe('the numbers of a shard that is removed', () => {
  // client-3 had the last shard, client-2 is assigned anew; the others are asked on.
  const moves = [
    { stayed: { asked: 30, answered: 30 } },
    { movedTo: 0, moved: convergence(7400, 7680, 7700) },
    { movedTo: 1, moved: convergence(7400, 7900, 8000) },
    { stayed: { asked: 30, answered: 30 } },
  ]
  const rolloutOf = (/** @type {any[]} */ moves) => ({
    ...SEEN,
    members: SEEN.members.map((member, i) => ({ ...member, ...moves[i] })),
    removal: {
      ...{ startMs: 6990, endMs: 8010, endedMs: 7000, host: SEEN.first.host, ownCpuSeconds: 0.1 },
      control: { start: control(6990, 1, 20e6), end: control(8010, 1.2, 20e6) },
    },
  })
  const recordOf = (/** @type {any[]} */ moves) => createRecord({ rollout: computeRolloutNumbers(rolloutOf(moves)) })
  const measureOf = (/** @type {any[]} */ moves) => (/** @type {string} */ name) =>
    QUANTITIES[name].measure({ record: recordOf(moves) })
  const gatesOf = (/** @type {any[]} */ moves) =>
    listGateFindings(recordOf(moves)).filter(({ gate, reason }) => gate === 'removal' || reason.includes('moved'))

  it('are from its end, of those that move alone, and leave rollout and change as they are', () => {
    const { removal, ...others } = computeRolloutNumbers(rolloutOf(moves))
    expect(others).toEqual(computeRolloutNumbers(SEEN))
    expect(removal).toMatchObject({ moved: 2, converged: 2, seconds: 1, stayed: 2, silent: [], missing: [] })
    expect(removal?.each).toEqual({ p50: 0.7, p99: 1, max: 1 })
    expect(removal?.curve).toEqual([
      [0.7, 0.5],
      [1, 1],
    ])
    // 4 requests to those that moved, 60 to the others, in 1.02 s.
    expect(removal?.askedPerSecond).toBeCloseTo(64 / 1.02)
    expect(['movedSidecars', 'moveSeconds', 'moveP50', 'stayedAnswering'].map(measureOf(moves))).toEqual([2, 1, 0.7, 2])
    expect(gatesOf(moves)).toEqual([])
  })

  it('have no value if a tenth of it is not known, as those of the other phases', () => {
    const coarse = moves.with(2, { movedTo: 1, moved: convergence(7400, 7800, 8000) })
    expect(measureOf(coarse)('moveSeconds')).toBeNull()
    expect(measureOf(coarse)('movedSidecars')).toBe(2)
    expect(gatesOf(coarse).map(({ reason }) => reason)).toEqual([
      expect.stringMatching(
        /^until all sidecars that moved had the configuration of their new shard: unknown are 200 of 1000 ms of all/,
      ),
    ])
  })

  it('name a sidecar that did not move, and then have no time', () => {
    const missing = moves.with(1, { movedTo: 0, moved: convergence(7400, 7900, null) })
    expect(computeRolloutNumbers(rolloutOf(missing)).removal).toMatchObject({
      ...{ converged: 1, moved: 2, seconds: null, missing: ['client-2'] },
    })
    expect(measureOf(missing)('moveSeconds')).toBeNull()
  })

  it('spoil the trial if a sidecar that need not move missed one request', () => {
    const silent = moves.with(3, { stayed: { asked: 30, answered: 29 } })
    expect(gatesOf(silent)).toEqual([
      {
        ...{ gate: 'removal', spoils: ['throughput', 'capacity', 'latency', 'cpuPerRequest', 'memory'] },
        reason: '1 of 2 sidecars that need not move did not go on answering: client-4',
      },
    ])
    expect(measureOf(silent)('stayedAnswering')).toBe(1)
  })

  it('do not exist if no shard is removed', () => {
    const record = createRecord({ rollout: computeRolloutNumbers(SEEN) })
    for (const name of ['movedSidecars', 'moveSeconds', 'moveP50', 'stayedAnswering'])
      expect(QUANTITIES[name].measure({ record })).toBeNull()
  })
})

describe('simulated sidecars', () => {
  /** @param {{ rolloutCpu?: number, changeCpu?: number, memory?: number }} factors of what real ones take */
  const rolloutOf = ({ rolloutCpu = 1, changeCpu = 1, memory = 1 }) => {
    const times = (/** @type {any} */ read, cpu = 1) =>
      read && { ...read, anonBytes: memory * read.anonBytes, cpuSeconds: cpu * read.cpuSeconds }
    const scale = (/** @type {RolloutRecord['first']} */ phase, /** @type {number} */ cpu) => ({
      ...phase,
      control: { start: times(phase.control.start, cpu), end: times(phase.control.end, cpu) },
    })
    const simulated = {
      ...{ ...SEEN, members: SEEN.members.slice(0, 1), simulated: { count: 3, first: convergence(1000, null, 1200) } },
      ...{ first: scale(SEEN.first, rolloutCpu), control: SEEN.control?.map(read => times(read)) ?? null },
      ...(SEEN.change && { change: scale(SEEN.change, changeCpu) }),
    }
    return computeRolloutNumbers({
      ...SEEN,
      simulated: { count: 12, first: convergence(1, null, 2) },
      fidelity: { real: SEEN, simulated },
    })
  }
  const gatesOf = (/** @type {Parameters<typeof rolloutOf>[0]} */ factors) =>
    listGateFindings(createRecord({ rollout: rolloutOf(factors) })).filter(({ gate }) => gate === 'fidelity')
  const NAMES = ['rolloutSeconds', 'startingSeconds', 'controlCpuRollout', 'controlCpuChange', 'controlEmpty']
  const MEMORY = ['controlStable', 'controlPeak', 'controlPerSidecar']
  const listKnown = (/** @type {Parameters<typeof rolloutOf>[0]} */ factors) => {
    const record = createRecord({ rollout: rolloutOf(factors) })
    return [...NAMES, ...MEMORY].filter(name => QUANTITIES[name].measure({ record }) !== null)
  }

  it('count as sidecars, and for nothing that is measured of a sidecar', () => {
    const rollout = rolloutOf({})
    expect(rollout).toMatchObject({ sidecars: 16, simulated: 12, first: { converged: 4, isOfSimulated: true } })
    expect(rollout.change?.isOfSimulated).toBe(false)
    expect(rollout.first.each).toEqual(computeRolloutNumbers(SEEN).first.each)
  })

  it('are held against real ones: less than 15 % apart, they count for the control plane, and for no time of all', () => {
    expect(gatesOf({})).toEqual([])
    expect(gatesOf({ rolloutCpu: 1.14, changeCpu: 0.86, memory: 0.86 })).toEqual([])
    expect(listKnown({})).toEqual([...NAMES.filter(name => name !== 'rolloutSeconds'), ...MEMORY])
    const ofReal = createRecord({ rollout: computeRolloutNumbers(SEEN) })
    expect(QUANTITIES.rolloutSeconds.measure({ record: ofReal })).toBe(2)
  })

  it('take away the CPU time of the control plane in the phase in which that is another, and no other value', () => {
    expect(gatesOf({ rolloutCpu: 0.84 })).toEqual([
      {
        ...{ gate: 'fidelity', part: 'CPU time in the rollout', spoils: [] },
        reason:
          'the control plane took 336 ms for 4 sidecars of which 1 is real, and 400 ms where all are, more than 15 % apart: its CPU time in the rollout has no value',
      },
    ])
    expect(listKnown({ rolloutCpu: 0.84 })).toEqual(['startingSeconds', 'controlCpuChange', 'controlEmpty', ...MEMORY])
    const [{ reason }, ...others] = gatesOf({ changeCpu: 0.84 })
    expect(others).toEqual([])
    expect(reason).toMatch(/: its CPU time in the change has no value$/)
    expect(listKnown({ changeCpu: 0.84 })).toEqual(['startingSeconds', 'controlCpuRollout', 'controlEmpty', ...MEMORY])
  })

  it('take away its memory if that is another, and no CPU time', () => {
    const [{ reason }, ...others] = gatesOf({ memory: 1.16 })
    expect(others).toEqual([])
    expect(reason).toMatch(/22\.1 MiB more than empty .* 19\.1 MiB .*: its memory has no value/)
    expect(listKnown({ memory: 1.16 })).toEqual(NAMES.slice(1))
  })

  it('take away both where nothing could be compared', () => {
    const rollout = rolloutOf({})
    const fidelity = {
      ...{ sidecars: 4, rolloutCpuSeconds: { real: 1, simulated: null }, changeCpuSeconds: { real: 1, simulated: 1 } },
      anonBytes: { real: null, simulated: 1 },
    }
    const reasons = listGateFindings(createRecord({ rollout: { ...rollout, fidelity } })).map(({ reason }) => reason)
    expect(reasons.filter(reason => reason.includes('was not measured'))).toHaveLength(2)
  })
})
