import { describe, expect, it } from 'vitest'
import { holdEstimates } from '../../bench/self/estimate.js'
import { summarise } from '../../src/analysis/summarise.js'
import { tellNeeds } from '../../src/kinds/load/estimates.js'
import { parseExperiment } from '../../src/plan/experiment.js'
import { createPlan } from '../../src/plan/plan.js'
import { answerOf } from '../../src/report/answer.js'
import { tabulateArms } from '../../src/report/arms-table.js'
import { renderNext, renderNotes } from '../../src/report/notes.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createRecord, describeFakeProcess, hasSidecars } from '../fakes/fake-records.js'

/** @import { Arm, GateFinding, TrialRecord, Use } from '../../src/model/types.ts' */

const SHOWS = { quantities: [], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false }

/** What `--cpu 0.25,1` plans for Pipy, the larger cap first. */
function planArms() {
  const experiment = parseExperiment(
    'name: cap\nquestion: q\naxes: { plane: [pipy], link: [gateway-ratings], capCores: [1] }\n',
    'cap.yaml',
  )
  const overrides = {
    ...{ planes: null, caps: [0.25, 1], axes: {}, rounds: null, profile: 'standard', seed: 1, isPinned: true },
    app: /** @type {const} */ ('pipy'),
  }
  const { arms } = createPlan({ experiment, overrides, cpus: 2, missing: [], hasSidecars })
  const armOf = (/** @type {number} */ cap) =>
    /** @type {Arm} */ (arms.find(arm => arm.capCores === cap && arm.repeatOf === null))
  return [armOf(1), armOf(0.25)]
}

/** @typedef {'sidecar' | 'users'} Bound */

/**
 * Rounds of Pipy at a cap of 1, where users bound it at half of its cap, and at 0.25, where the sidecar did.
 * @param {{ rates: number[], boundRates?: number[], bound?: Bound[], smallBound?: Bound[],
 *   gates?: GateFinding[] }} options rates: requests/s at a cap
 *   of 1; bound: what bound the rounds at it; smallBound: those at 0.25; gates: what those rounds failed
 */
function summariseRun({ rates, boundRates = [], bound = [], smallBound = [], gates = [] }) {
  const arms = planArms()
  const rounds = [rates, boundRates].flatMap((own, i) =>
    own.map((verified, j) =>
      createRecord({
        ...{ arm: arms[i], round: j + 1, load: { verified }, gates: i === 0 ? gates : [] },
        boundBy: i === 0 ? (bound[j] ?? 'users') : (smallBound[j] ?? 'sidecar'),
        processes: [
          i === 0
            ? describeFakeProcess({ cpuCores: 0.5, capCores: 1 })
            : describeFakeProcess({ cpuCores: 0.25, capCores: 0.25 }),
          describeFakeProcess({ service: 'k6', role: 'generator', cpuCores: 0.9, capCores: null }),
        ],
      }),
    ),
  )
  const manifest = createManifest({
    ...{ rounds: rates.length, arms: arms.slice(0, boundRates.length > 0 ? 2 : 1), settings: { shows: SHOWS } },
  })
  const summary = summarise({ manifest, records: rounds })
  return {
    summary,
    records: rounds,
    estimate: summary.arms[0].estimatedCapacityPerSecond,
    notes: renderNotes(summary).join('\n'),
  }
}

describe('bench:self -- estimate', () => {
  it('is not held by trials that bound alone, of which it would say what share of the cap they used', () => {
    const { records } = summariseRun({ rates: [1000], boundRates: [490] })
    const held = (/** @type {TrialRecord[]} */ of) => holdEstimates(of).filter(({ isKept }) => isKept)
    expect(held(records)).toMatchObject([{ measured: '1.0204', promise: expect.stringContaining('pipy, 0.25 cores') }])
    expect(held(records.filter(({ boundBy }) => boundBy === 'sidecar'))).toEqual([])
  })
})

describe('estimated capacity in a run', () => {
  it('is told as an estimate with its interval, in the answer and the table', () => {
    const rates = [1000, 1010, 1020, 1030, 1040, 1050]
    const { summary, estimate } = summariseRun({ rates, boundRates: rates.map(rate => rate / 2) })
    expect(estimate).toMatchObject({ median: 2050, low: 2000, high: 2100 })
    expect(answerOf(summary)).toContain(
      'estimated capacity (cap / CPU per request; within 5 % where this run measured it): pipy (200 users, 1 cores) 2050 [2000, 2100] requests/s',
    )
    expect(tabulateArms(summary)[0].columns.at(-1)?.[0]).toBe('est. capacity')
    expect(tabulateArms(summary)[0].rows[0].at(-1)).toBe('2050\n[2000, 2100]')
  })

  it('is not offered where nothing in the run checks it; the run names the command that does', () => {
    const { summary, estimate } = summariseRun({ rates: [1000, 1000] })
    expect(summary.estimateChecks).toEqual([])
    expect(estimate).toMatchObject({ median: null, values: [null, null] })
    expect(answerOf(summary)).not.toContain('estimate')
    const machine = { ...summary.machine, cpus: 2 }
    expect(renderNext({ ...summary, machine })).toContain(
      'Estimated capacity at this cap, checked at 0.5: npm run bench -- --cpu 0.5,1',
    )
  })

  it('comes with the CPUs that all processes would take at it', () => {
    const run = summariseRun({ rates: [1000, 1000], boundRates: [500, 500] })
    const summary = { ...run.summary, machine: { ...run.summary.machine, cpus: 2 } }
    expect(tellNeeds({ summary, records: run.records })).toEqual([
      "At its estimated capacity pipy at 1 cores would take 2.8 CPUs (gateway's sidecar 1.00, k6 1.80); this machine has 2.",
    ])
  })

  it('is held against the caps of the run that bound', () => {
    const { summary, estimate, notes } = summariseRun({ rates: [1000, 1000], boundRates: [490, 510] })
    const [arm, bound] = summary.arms
    expect([arm.load.users, bound.load.users]).toEqual([200, 50])
    expect(summary.estimateChecks).toMatchObject([
      { armId: arm.id, boundArmId: bound.id, capCores: 0.25, isKept: true },
    ])
    expect(summary.estimateChecks[0].ratio.values).toEqual([500 / 490, 500 / 510])
    expect(estimate.median).toBe(2000)
    expect(tabulateArms(summary)[0].rows[0].at(-1)).toBe('2000')
    expect(notes).toContain('by the CPU per request of pipy at 1 cores: 1.00 at 0.25')
  })

  it('is not offered where it is more than 5 % off at one of them', () => {
    const { summary, estimate, notes } = summariseRun({ rates: [1000, 1000], boundRates: [470, 470] })
    expect(summary.estimateChecks).toMatchObject([{ ratio: { median: 500 / 470 }, isKept: false }])
    expect(estimate).toMatchObject({ median: null, values: [null, null] })
    expect(answerOf(summary)).not.toContain('estimate')
    expect(tabulateArms(summary)[0].columns.at(-1)?.[0]).toBe('bound by')
    expect(notes).toContain('1.06 at 0.25: more than 5 % off, so no capacity is estimated')
  })

  it('is not checked at a cap that bound in few rounds, which shows no capacity', () => {
    const rounds = { rates: [1000, 1000, 1000], boundRates: [500, 500, 500] }
    const { summary, estimate } = summariseRun({ ...rounds, smallBound: ['users', 'sidecar', 'users'] })
    expect(summary.arms[1].capacityPerSecond.median).toBe(500)
    expect(summary.estimateChecks).toEqual([])
    expect(estimate.median).toBeNull()
  })

  it('is not checked at a larger cap', () => {
    const { summary } = summariseRun({
      rates: [1000, 1000],
      bound: ['sidecar', 'sidecar'],
      boundRates: [250, 250],
      smallBound: ['users', 'users'],
    })
    expect(summary.arms[0].capacityPerSecond.median).toBe(1000)
    expect(summary.estimateChecks).toEqual([])
  })

  it('is offered of the plane alone that has a check', () => {
    const { summary, records } = summariseRun({ rates: [1000, 1000], boundRates: [500, 500] })
    const other = records
      .filter(({ trial }) => trial.arm.capCores === 1)
      .map(record => {
        const arm = { ...record.trial.arm, plane: 'envoy', id: 'envoy-1' }
        return { ...record, trial: { ...record.trial, arm } }
      })
    const manifest = createManifest({
      rounds: 2,
      arms: [...planArms(), other[0].trial.arm],
      settings: { shows: SHOWS },
    })
    const both = summarise({ manifest, records: [...records, ...other] })
    expect(both.arms[0].estimatedCapacityPerSecond).toEqual(summary.arms[0].estimatedCapacityPerSecond)
    expect(both.arms[2].estimatedCapacityPerSecond.median).toBeNull()
  })

  it('is not offered where a sidecar bound a round, although a gate spoiled the capacity of that', () => {
    const gates = [{ gate: 'generator', spoils: /** @type {Use[]} */ (['capacity']), reason: '' }]
    const boundRates = [500, 500]
    const { summary, estimate } = summariseRun({ rates: [1000, 1900], boundRates, bound: ['users', 'sidecar'], gates })
    expect(summary.arms[0].capacityPerSecond.median).toBeNull()
    expect(estimate).toMatchObject({ median: null, values: [null, null] })
  })
})
