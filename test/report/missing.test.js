import { describe, expect, it } from 'vitest'
import { renderFiredGates } from '../../src/report/fired-gates.js'
import { renderUnfinishedRun } from '../../src/report/missing.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm, createRecord } from '../fakes/fake-records.js'
import { createResult, createSummaryArm } from '../fakes/fake-summary.js'

/** @import { ResultOf, TrialRecord } from '../../src/model/types.ts' */

const arm = createArm({ calibratedBy: 'link-pipy-capacity' })
const manifest = createManifest({ arms: [arm], rounds: 6 })

/** @param {number} count @param {Partial<TrialRecord>} [fields] @param {number} [first] */
const recorded = (count, fields, first = 1) =>
  Array.from({ length: count }, (_, i) => ({ ...createRecord({ arm, round: first + i }), ...fields }))
const failed = (/** @type {number} */ count, first = 1) => recorded(count, { outcome: 'failed' }, first)
const render = (/** @type {TrialRecord[]} */ records) =>
  renderUnfinishedRun({ manifest, records, summary: { results: [] } })

describe('the notes on a run that is not whole', () => {
  it('is nothing if it is whole', () => {
    expect(render(recorded(6))).toEqual([])
  })

  it('is how many trials of how many are recorded, and how many of them failed', () => {
    expect(render(recorded(4))).toEqual(['This run was cut short, or still goes on: 4 of 6 trials are recorded.'])
    expect(render([...recorded(3), ...failed(2, 4)])).toEqual([
      'This run was cut short, or still goes on: 5 of 6 trials are recorded, and 2 of them failed.',
    ])
  })

  it('is how many failed, if all were tried', () => {
    expect(render(failed(6))).toEqual(['6 of 6 trials failed.'])
  })

  it('counts an arm once a round, in however many deployments it stands', () => {
    const records = [...recorded(5), ...recorded(3)]
    expect(render(records)).toEqual(['This run was cut short, or still goes on: 5 of 6 trials are recorded.'])
  })

  it('counts no trial that only looked for the capacity, also where that was cut short', () => {
    const [record] = recorded(1)
    const trial = { ...record.trial, arm: { ...arm, id: 'link-pipy-capacity' } }
    expect(render([{ ...record, trial }])).toEqual([
      'This run was cut short, or still goes on: 0 of 6 trials are recorded.',
    ])
  })

  it('is how many searches of how many have ended', () => {
    const search = /** @type {const} */ ({ kind: 'knee', precision: 0.05, p99Ms: 50, startPerSecond: 100 })
    const run = {
      manifest: {
        ...manifest,
        arms: [arm, createArm({ plane: 'envoy' })].map(arm => ({ ...arm, kind: 'search' })),
        search,
      },
      records: recorded(7),
    }
    const searchResult = /** @type {any} */ ({})
    const summaryOf = (/** @type {Pick<ResultOf<'search'>, 'searches' | 'sizes'>} */ fields) => ({
      results: [createResult({ kind: 'search', ...fields })],
    })
    expect(renderUnfinishedRun({ ...run, summary: summaryOf({ searches: [searchResult], sizes: [] }) })).toEqual([
      'This run was cut short, or still goes on: 1 of 2 searches have ended, after 7 trials.',
    ])
    expect(
      renderUnfinishedRun({ ...run, summary: summaryOf({ searches: [searchResult], sizes: [searchResult] }) }),
    ).toEqual([])
  })
})

const LOAD = { plane: 'pipy', load: { kind: /** @type {const} */ ('idle') } }
const TRIALS = { completed: 6, failed: 0, invalid: 0 }

describe('the gates that fired', () => {
  it('are a line each, and a line for each part of a trial that a gate judged', () => {
    const resolution = { gate: 'resolution', trials: 6 }
    const arms = [
      { ...resolution, part: 'rollout', reason: 'unknown are 196 of 498 ms' },
      { ...resolution, part: 'change', reason: 'unknown are 725 of 2275 ms' },
      { gate: 'clock', trials: 1, reason: 'the clocks are 30 ms apart' },
    ]
    const spoiled = { ...createSummaryArm(LOAD), trials: TRIALS, spoiled: arms }
    const less = [{ ...arms[1], trials: 2, reason: 'unknown are 600 of 2000 ms' }]
    const other = { ...createSummaryArm({ ...LOAD, plane: 'envoy' }), trials: TRIALS, spoiled: less }
    expect(renderFiredGates({ results: [createResult({ arms: [spoiled, other] })] })).toEqual([
      'Check resolution of the rollout (pipy 6/6 trials): unknown are 196 of 498 ms',
      'Check resolution of the change (pipy 6/6, envoy 2/6 trials): unknown are 725 of 2275 ms',
      'Check clock (pipy 1/6 trials): the clocks are 30 ms apart',
    ])
  })
})
