import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { none } from '../../src/dataplanes/none/index.js'
import { BenchError } from '../../src/lib/errors.js'
import { listArms, listComparisons } from '../../src/model/results.js'
import { checkEqualWork } from '../../src/parity/check-equal-work.js'
import { writeSummary } from '../../src/prepare/write-summary.js'
import { readRun } from '../../src/records/records.js'
import { createAnswer } from '../../src/report/answer/answer.js'
import { renderDetailsText } from '../../src/report/details.js'
import { renderUnfinishedRun } from '../../src/report/missing.js'
import { createFakeLoad, createFakePlane, createFakeTarget, createInterruption } from '../fakes/fake-bench.js'
import { createControlledPlane } from '../fakes/fake-control.js'
import { runFake } from '../fakes/fake-run.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { ProcessSpec } from '../../src/model/types.ts' @import { RunEvent } from '../../src/run/events.js' */

// Rounds of each arm, where one test does not need all six.
const TWO_ROUNDS = 'profiles: { standard: { rounds: 2 } }'

describe('runPlan', () => {
  let folder = ''
  beforeEach(() => {
    folder = path.join(makeFolder('run-test'), 'run')
  })

  it('measures every arm in every round, and sums exactly', async () => {
    const target = await createFakeTarget({ cores: spec => (spec.role === 'sidecar' ? 0.2 : 0.05) })
    const { summary, records } = await runFake({ folder, target })
    expect(records.map(r => r.outcome)).toEqual(Array(24).fill('completed'))
    expect(listArms(summary).map(a => a.plane)).toEqual(['none', 'cheap', 'dear', 'cheap'])

    const [nothing, cheap] = listArms(summary)
    const rate = records[0].load.verified / records[0].window.seconds
    expect(cheap.throughputPerSecond).toEqual({
      median: rate,
      low: rate,
      high: rate,
      values: Array(6).fill(rate),
    })
    expect(cheap.cpuPerRequestMicros.median).toBeCloseTo((0.4 / rate) * 1e6, 6)
    expect(cheap.sidecars.map(s => s.service)).toEqual(['gateway', 'ratings'])
    expect(cheap.sidecars[0].cpuPerRequestMicros.median).toBeCloseTo((0.2 / rate) * 1e6, 6)
    expect(cheap.sidecars[0].cpuOfCap.median).toBeCloseTo(0.8, 9)
    expect(cheap.sidecars[0].throttledFraction.median).toBe(0.5)
    expect(cheap.sidecars[0].memory.rssBytes.median).toBe(4e6)
    expect(cheap.responseTimeMs?.p99.median).toBeCloseTo(9.9, 9)
    expect(cheap.responseTimeMs?.p999.median).toBeNull()
    expect(nothing).toMatchObject({
      cpuLimitCores: null,
      sidecars: [],
      cpuPerRequestMicros: { median: null },
    })
    expect(target.running.size).toBe(0)
  })

  it('leaves a table that names what bound each arm', async () => {
    const target = await createFakeTarget({ cores: spec => (spec.role === 'sidecar' ? 0.25 : 0.05) })
    const { summary } = await runFake({ folder, target, more: TWO_ROUNDS })
    const table = renderDetailsText({ ...summary, notMeasured: [{ plane: 'envoy', reason: 'not here' }] })
    expect(table.match(/Not measured: envoy: not here/g)).toHaveLength(1)
    expect(table).toMatch(/cheap +0\.25 .* sidecar/)
    expect(table).toMatch(/none +- .* users/)
  })

  it('goes on when a sidecar dies in a window, and keeps why', async () => {
    const isDying = (/** @type {ProcessSpec} */ { role, folder }) => role === 'sidecar' && folder.includes('r2-')
    const target = await createFakeTarget({
      ending: (spec, isObserved) => (isObserved && isDying(spec) ? 'signal SIGSEGV' : null),
    })
    const { summary, records } = await runFake({ folder, target, more: TWO_ROUNDS })
    const failed = records.filter(r => r.outcome === 'failed')
    expect(failed.map(r => [r.trial.round, r.trial.arm.plane]).sort()).toEqual([
      [2, 'cheap'],
      [2, 'cheap'],
      [2, 'dear'],
    ])
    expect(failed[0].reasons[0]).toMatch(/'s sidecar died in the window with signal SIGSEGV; the end of its log: boom$/)
    expect(records).toHaveLength(8)
    const [sample] = readFileSync(`${folder}/raw/${failed[0].trial.id}/samples.jsonl`, 'utf8').split('\n')
    expect(Object.keys(JSON.parse(sample).processes)).toContain('gateway-sidecar')
    expect(listArms(summary).flatMap(a => a.throughputPerSecond.values)).toContain(null)
    expect(target.running.size).toBe(0)
  })

  it('leaves out an arm that does not serve, and measures the others', async () => {
    const reason = 'it ended with status 134; the end of its log:\n  CHECK\n  MmapAligned() failed'
    const { summary, records } = await runFake({
      folder,
      more: TWO_ROUNDS,
      thresholds: ['cheap/dear cpuPerRequest <= 0.6'],
      async gate({ arms, leaveOut }) {
        leaveOut?.(
          arms.filter(({ plane }) => plane === 'dear'),
          reason,
        )
        return []
      },
    })
    expect(new Set(records.map(r => r.trial.arm.plane))).toEqual(new Set(['none', 'cheap']))
    expect(records.map(r => r.outcome)).toEqual(records.map(() => 'completed'))
    const { manifest } = readRun(folder)
    expect(manifest.notMeasured).toEqual([{ plane: 'dear', reason }])
    expect(new Set(manifest.arms.map(arm => arm.plane))).toEqual(new Set(['none', 'cheap']))
    expect(createAnswer(summary).notMeasured[0]).toMatchObject({
      ...{ what: 'dear', why: 'it ended with status 134: CHECK / MmapAligned() failed' },
    })
    expect(summary.thresholds).toMatchObject([{ value: null, held: null }])
  })

  it('goes on with the others if sidecars of an interleaved arm die, and leaves it out after the second time', async () => {
    const target = await createFakeTarget({
      ending: ({ role, armId }, isObserved) =>
        isObserved && role === 'sidecar' && armId?.includes('dear') ? 'status 134' : null,
    })
    const { summary, records } = await runFake({
      ...{ folder, target },
      more: 'measure: [cost]\nprofiles: { standard: { rounds: 4, hasControl: true } }',
    })
    const outcomes = records.map(({ trial: { round, arm, repeats }, outcome }) =>
      [round, arm.plane, ...(arm.repeatOf ? ['A/A'] : []), ...(repeats ? ['again'] : []), outcome].join(' '),
    )
    const cheap = (/** @type {string} */ how) => [`cheap ${how}`.trim(), `cheap A/A ${how}`.trim()]
    const died = [
      ...cheap('failed'),
      'dear failed',
      ...cheap('again failed'),
      'dear again failed',
      ...cheap('again completed'),
    ]
    const alone = (/** @type {number} */ round) => cheap('completed').map(what => `${round} ${what}`)
    expect(outcomes.sort()).toEqual([...died.map(what => `1 ${what}`), ...[2, 3, 4].flatMap(alone)].sort())
    expect(createAnswer(summary).notMeasured[0]).toEqual({
      ...{ what: 'dear', commands: [] },
      why: expect.stringMatching(/^(gateway|ratings)'s sidecar of .*dear.* died in the window with status 134/),
    })
  })

  it('says of a sidecar that is stopped who it is, and when', async () => {
    const target = await createFakeTarget({
      isStopped: ({ service, role, folder }, isObserved) =>
        isObserved && role === 'sidecar' && service === 'ratings' && folder.includes('r2-'),
    })
    const { records } = await runFake({ folder, target, more: TWO_ROUNDS })
    const failed = records.filter(r => r.outcome === 'failed')
    expect(failed.map(r => r.trial.round)).toEqual([2, 2, 2])
    expect(failed[0].reasons).toEqual(["ratings's sidecar came to a stop in the window; the end of its log: boom"])
  })

  it('has a reason, and no stack, of a sidecar that refuses a connection after the window', async () => {
    const planes = ['cheap', 'dear'].map(name => ({ ...createFakePlane(name), parseOverflows: () => 0 }))
    const target = await createFakeTarget({ readAdmin: () => Promise.reject(new Error('connect ECONNREFUSED')) })
    // Each waits until the counters are given up.
    const more = 'profiles: { standard: { rounds: 1, hasControl: false } }'
    const { records } = await runFake({ folder, target, planes: [none, ...planes], more })
    const failed = records.filter(r => r.outcome === 'failed')
    expect(new Set(failed.map(r => r.trial.arm.plane))).toEqual(new Set(['cheap', 'dear']))
    expect(failed[0].reasons).toEqual([
      expect.stringMatching(
        /^(gateway|ratings)'s sidecar did not tell its counters after the window: connect ECONNREFUSED; the end of/,
      ),
    ])
  })

  it('calls a trial invalid whose cap was not in force', async () => {
    const target = await createFakeTarget({
      cpuLimitCores: spec => (spec.service === 'ratings' && spec.role === 'sidecar' ? null : spec.cpuLimitCores),
    })
    const { summary, records } = await runFake({ folder, target, more: TWO_ROUNDS })
    expect(records.filter(r => r.outcome === 'invalid')).toHaveLength(6)
    expect(records.find(r => r.outcome === 'invalid').reasons).toEqual([
      "cap: ratings's sidecar was to be capped at 0.25 cores, and the kernel says no quota",
    ])
    expect(listArms(summary)[1]).toMatchObject({
      trials: { completed: 0, failed: 0, invalid: 2 },
      throughputPerSecond: { median: null },
    })
  })

  it('runs an unsteady window again at the end of its round, keeps both, and takes its CPU per request from the first', async () => {
    let calls = 0
    const load = createFakeLoad({ results: () => (calls++ === 0 ? { verifiedInSecondHalf: 300, verified: 900 } : {}) })
    const { summary, records } = await runFake({ folder, load, more: TWO_ROUNDS })
    expect(records).toHaveLength(9)
    const again = records.find(r => r.trial.repeats)
    expect(again.trial.id).toBe(`${again.trial.repeats}-again`)
    expect(records.indexOf(again)).toBe(4)
    const arm = listArms(summary).find(a => a.id === again.trial.arm.id)
    expect(arm?.throughputPerSecond.values[0]).toBeCloseTo(1000 / again.window.seconds, 6)
  })

  it('gives an arm whose users were cold a longer warm-up from then on', async () => {
    let calls = 0
    const load = createFakeLoad({ results: () => (calls++ === 0 ? { coldUsers: 2 } : {}) })
    const { records } = await runFake({ folder, load, more: TWO_ROUNDS })
    const { arm } = records[0].trial
    const warmups = records.filter(r => r.trial.arm.id === arm.id).map(r => r.trial.arm.load.warmupSeconds)
    expect(warmups).toEqual([arm.load.warmupSeconds, ...Array(2).fill(2 * arm.load.warmupSeconds)])
  })

  it('lengthens the warm-up of an arm that stays cold to four times the planned one at most, and says so', async () => {
    const load = createFakeLoad({ results: () => ({ verified: 0, verifiedInSecondHalf: 0 }) })
    const axes = '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [0.25], users: [10] }'
    const { records } = await runFake({ folder, load, axes, more: 'profiles: { standard: { hasControl: false } }' })
    const trials = records.map(r => r.trial).filter(t => t.arm.id === records[0].trial.arm.id && t.repeats === null)
    expect(trials.map(t => t.arm.load.warmupSeconds)).toEqual([1.5, 3, 6, 6, 6, 6])
    expect(trials.slice(0, 3).map(t => t.warmup)).toEqual([
      undefined,
      { plannedSeconds: 1.5, isLongest: false },
      { plannedSeconds: 1.5, isLongest: true },
    ])
  })

  it('lengthens a long warm-up by half a minute at most', async () => {
    const load = createFakeLoad({ results: () => ({ verified: 0, verifiedInSecondHalf: 0 }) })
    const more = 'profiles: { standard: { rounds: 2, warmupSeconds: 60, hasControl: false } }'
    const { records } = await runFake({ folder, load, more })
    expect(Math.max(...records.map(r => r.trial.arm.load.warmupSeconds))).toBe(90)
  })

  describe('on 16 CPUs', () => {
    const cores = Array.from({ length: 16 }, (_, i) => [i])

    it('pins the trial that finds the capacity as it pins those that are chosen by it', async () => {
      const target = await createFakeTarget()
      const axes = '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [1], ratePerSecond: [10], users: [10] }'
      const { records } = await runFake({ folder, target, cores, axes, more: 'mostOfCapacity: 0.8' })
      expect(records[0].trial.arm.id).toMatch(/^capacity-/)
      expect(records[0].placement.sidecar).toEqual([0, 1])
      for (const record of records) expect(record.placement).toEqual(records[0].placement)
      for (const { role, cpuSet } of target.deployed) expect(cpuSet).toEqual(records[0].placement[role])
    })

    it('pins every trial of a search by the cap that it tries', async () => {
      const axes = '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [1], ratePerSecond: [300], users: [10] }'
      const more = 'search: { kind: size, p99Ms: 50, isExtrapolated: false }'
      const { records } = await runFake({ folder, cores, axes, more })
      expect(records.some(r => r.trial.arm.cpuLimitCores !== 1)).toBe(true)
      for (const { trial, placement } of records)
        expect(placement?.sidecar.length ?? 0, trial.id).toBe(
          trial.arm.cpuLimitCores > 7 ? 0 : Math.ceil(2 * trial.arm.cpuLimitCores),
        )
    })
  })

  describe('with --retain', () => {
    const unsteadyAt = (/** @type {number[]} */ numbers) => {
      let calls = 0
      return createFakeLoad({
        results: () => (numbers.includes(++calls) ? { verifiedInSecondHalf: 300, verified: 900 } : {}),
      })
    }

    it('leaves the last trial running, and removes it before a window is measured again', async () => {
      const target = await createFakeTarget()
      const { records } = await runFake({ folder, target, load: unsteadyAt([8]), retain: true, more: TWO_ROUNDS })
      expect(records.at(-1).trial.repeats).toBe(records.at(-2).trial.id)
      expect(trialsOf(target.running)).toEqual([records.at(-1).trial.id])
      expect(target.mostBesideEachOther()).toBe(1)
      await target.close()
    })

    it('leaves the last trial running if services are kept, and removes the others', async () => {
      const target = await createFakeTarget()
      const { records } = await runFake({ folder, target, retain: true, more: `keepsServices: true\n${TWO_ROUNDS}` })
      const { arm } = records.at(-1).trial
      expect(trialsOf(target.running)).toEqual([records.find(r => r.trial.arm.id === arm.id).trial.id])
      await target.close()
    })

    it('leaves nothing running when it is interrupted', async () => {
      const target = await createFakeTarget()
      const interrupted = runFake({ folder, target, ...createInterruption(1), retain: true })
      await expect(interrupted).rejects.toThrow('interrupted')
      expect(target.running.size).toBe(0)
    })
  })

  describe('when a trial fails before its window', () => {
    const profiles = 'profiles: { standard: { rounds: 1, hasControl: false } }'
    const axes =
      '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [0.25], users: [10], changesPerMinute: [6000] }'
    const load = {
      ...createFakeLoad(),
      parseWindow: () => ({ startMs: Date.now() + 100, endMs: Date.now() + 400 }),
    }
    const observe = async () => {
      throw new BenchError('nothing can be read')
    }

    it('enters no phase and makes no change of that trial any more', async () => {
      const target = await createFakeTarget()
      /** @type {string[]} */
      const called = []
      const call = (/** @type {any} */ name, /** @type {any} */ args) => {
        called.push(name)
        return name === 'send' || name === 'reach' ? target.call(name, args) : null
      }
      /** @type {RunEvent[]} */
      const events = []
      const watch = (/** @type {RunEvent} */ event) => void events.push(event)
      const { records } = await runFake({
        ...{ folder, target: { ...target, observe, call }, load, axes, more: profiles, watch },
        planes: [createControlledPlane({ createProcess: null })],
      })
      expect(records.map(r => r.reasons[0])).toEqual(['nothing can be read'])
      await delay(300)
      expect(called).toEqual(['perform', 'reach', 'send'])
      expect(events.flatMap(e => (e.kind === 'phase' ? [e.phase] : []))).toEqual([
        ...['parity', 'starting', 'warm-up', 'stopping'],
      ])
    })
  })

  it.for([
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ])('fails a trial whose load is an hour %s this program, instead of waiting for it', async ([way, movedMs]) => {
    const at = () => Date.now() + Number(movedMs)
    const load = { ...createFakeLoad(), parseWindow: () => ({ startMs: at(), endMs: at() + 2 }) }
    const { records } = await runFake({
      folder,
      load,
      axes: '{ plane: [cheap], link: [gateway-ratings], cpuLimitCores: [0.25], users: [10] }',
      more: 'profiles: { standard: { rounds: 1, hasControl: false } }',
    })
    expect(records.map(r => r.outcome)).toEqual(['failed'])
    expect(records[0].reasons[0]).toMatch(
      new RegExp(`the clock of the load generator is 3(?:599|6\\d\\d) s ${way} this program's`),
    )
  })

  it('removes the services of a check that fails', async () => {
    const target = await createFakeTarget()
    const look = async () => {
      throw new BenchError('nothing can be read')
    }
    await expect(runFake({ folder, target: { ...target, look }, gate: checkEqualWork })).rejects.toThrow(
      'nothing can be read',
    )
    expect(target.running.size).toBe(0)
  })

  it('stops when it is aborted, keeps what was measured, and leaves nothing running', async () => {
    const target = await createFakeTarget()
    await expect(runFake({ folder, target, ...createInterruption(5) })).rejects.toThrow('interrupted')
    expect(readRun(folder).records.length).toBeGreaterThanOrEqual(4)
    expect(readRun(folder).manifest.ended).toBe('interrupted')
    expect(target.running.size).toBe(0)
  })
})

describe('an interrupted run', () => {
  const more = 'measure: [cost]\nprofiles: { standard: { hasControl: false } }'
  const axes = '{ plane: [cheap, dear], link: [gateway-ratings], cpuLimitCores: none, users: [10] }'

  /** @param {number} repeats that end before */
  async function interruptAfter(repeats) {
    const folder = path.join(makeFolder('interrupted-test'), 'run')
    const cores = (/** @type {ProcessSpec} */ { role, armId }) =>
      role !== 'sidecar' ? 0.05 : armId?.includes('dear') ? 0.2 : 0.1
    const stop = new AbortController()
    const watch = (/** @type {RunEvent} */ event) => {
      if (event.kind === 'repeat-ended' && event.round === repeats) stop.abort(new BenchError('interrupted by SIGINT'))
    }
    const target = await createFakeTarget({ cores })
    const run = runFake({ folder, target, axes, more, watch, signal: stop.signal })
    if (repeats < 12) await expect(run).rejects.toThrow('interrupted by SIGINT')
    else await run.catch(() => {})
    const summary = writeSummary(folder)
    const recorded = readRun(folder)
    const [cost] = listComparisons(summary).filter(c => c.quantity === 'cpuPerRequest' && c.service === null)
    return { cost, summary, manifest: recorded.manifest, sentences: renderUnfinishedRun({ ...recorded, summary }) }
  }

  it('has an answer: its ratio so far, and how far it came', async () => {
    const { cost, summary, manifest, sentences } = await interruptAfter(5)
    expect(manifest).toMatchObject({ ended: 'interrupted', rounds: 12 })
    expect(sentences).toEqual(['Interrupted after 5 of 12 repeats.'])
    expect(cost).toMatchObject({ verdict: 'indicative', ratio: { median: 0.5, low: null } })
    expect(cost.ratio.values).toHaveLength(5)
    expect(listArms(summary)[0].cpuPerRequestMicros).toMatchObject({
      low: null,
      values: Array(5).fill(expect.any(Number)),
    })
  })

  it('has the intervals of a confidence sequence, which hold whenever a viewer ends it: none of seven', async () => {
    const [seven, eight] = [await interruptAfter(7), await interruptAfter(8)]
    expect(seven.cost).toMatchObject({ verdict: 'indicative', ratio: { low: null } })
    expect(eight.cost).toMatchObject({ verdict: 'lower', ratio: { low: 0.5, high: 0.5 } })
    expect(eight.sentences).toEqual(['Interrupted after 8 of 12 repeats.'])
  })

  it('has the intervals of the repeats that were planned, if these were all measured', async () => {
    const { cost, manifest } = await interruptAfter(12)
    expect(manifest.ended).toBe('interrupted')
    expect(cost.ratio).toMatchObject({ low: 0.5, values: Array(12).fill(0.5) })
  })
})

/** @param {Set<ProcessSpec>} specs */
function trialsOf(specs) {
  return [...new Set([...specs].map(spec => /raw\/([^/]+)/.exec(spec.folder)?.[1]))]
}
