import { describe, expect, it } from 'vitest'
import { createComparisonAnswer, renderComparisonDetails } from '../../src/report/comparison.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm } from '../fakes/fake-records.js'

/**
 * @import { Comparison } from '../../src/model/types.ts'
 * @import { RunComparison } from '../../src/analysis/compare-runs.js'
 */

const runs = {
  old: createNamed('results/a', { version: '0.1.0', git: 'abc' }),
  new: createNamed('results/b', { version: '0.2.0', git: null }),
}

/** @param {string} folder @param {{ version: string, git: string | null }} kit */
function createNamed(folder, kit) {
  const run = { id: 'run-1', experiment: 'cap', startedAt: '2026-11-21T20:00:00.000Z', seed: 1 }
  return { folder, manifest: createManifest({ run, kit: { ...kit, sha256: '' } }) }
}

/**
 * A comparison of pipy at six rounds.
 * @param {Partial<Comparison> & { median?: number | null }} fields @returns {Comparison}
 */
function createComparison({ median = 1, ...fields }) {
  const { kind, link, cpuLimitCores, load, conditions } = createArm({})
  return {
    ...{
      a: 'pipy in new',
      b: 'pipy in old',
      kind,
      link,
      cpuLimitCores,
      load,
      conditions,
      contrast: null,
      isControl: false,
    },
    ...{ quantity: 'cpuPerRequest', service: null, aaSpread: null, verdict: 'no-difference-shown', reasons: [] },
    ratio: { median, low: median, high: median, values: Array(6).fill(median) },
    ...fields,
  }
}
const dearer = createComparison({
  ratio: { median: 1.12, low: 1.1, high: 1.14, values: Array(6).fill(1.12) },
  verdict: 'higher',
})
const sameMemory = createComparison({ quantity: 'rss' })
const control = createComparison({
  ...{ a: 'none in new', b: 'none in old', cpuLimitCores: null, quantity: 'applicationCpuPerRequest', median: 1.012 },
})

/** @param {Partial<RunComparison>} result */
const render = result =>
  renderComparisonDetails({ comparisons: [], controls: [], refused: [], warnings: [], thresholds: [], ...result }, runs)
const without = (/** @type {string} */ text) => text.split('\n').slice(3)

describe('renderComparisonDetails', () => {
  it('says which run is old and which is new, and who made them', () => {
    expect(render({}).split('\n')).toEqual([
      'old: results/a (experiment cap, started 2026-11-21T20:00:00.000Z, kit 0.1.0 abc)',
      'new: results/b (experiment cap, started 2026-11-21T20:00:00.000Z, kit 0.2.0)',
    ])
  })

  it('shows the primary verdict first, then the others, and what changed without sidecars', () => {
    const text = render({
      comparisons: [dearer, { ...dearer, service: 'gateway' }, sameMemory],
      controls: [control],
    })
    expect(without(text)).toEqual([
      'pipy in new uses 12 % more CPU per request than pipy in old [10, 14], 6 repeats',
      'Secondary, not adjusted for multiple comparisons:',
      '  resident memory of pipy in new and pipy in old: no difference found at this noise (±3.0 %)',
      '',
      'Without sidecars the applications used 1.2 % more CPU per request in new',
    ])
  })

  it('says in the answer which trials were compared, and once why interleaved arms were not', () => {
    const differing = ['workers: 2 in old, 1 in new']
    const refused = ['pipy', 'envoy'].map(arm => ({ arm, differing, isInterleaved: /** @type {const} */ (true) }))
    const result = { comparisons: [{ ...dearer, cpuLimitCores: 0.25 }], controls: [], warnings: [], thresholds: [] }
    const { conditions, warnings } = createComparisonAnswer({ ...result, refused }, runs)
    expect(conditions.at(-1)).toBe('one proxy after the other, 0.25 CPU each')
    expect(warnings).toEqual(['Not compared, interleaved: pipy and envoy (workers: 2 in old, 1 in new).'])
  })

  it('says before the verdicts what differs, and what was not compared', () => {
    const text = render({
      warnings: ['kernel: Linux 6.1 in old, Linux 6.2 in new'],
      refused: [
        {
          arm: 'pipy at 0.5 cores',
          differing: ['cap: 0.25 cores in old, 0.5 cores in new', 'link: a in old, b in new'],
        },
      ],
      comparisons: [dearer],
    })
    expect(without(text)).toEqual([
      'warning: kernel: Linux 6.1 in old, Linux 6.2 in new',
      '',
      'not compared: pipy at 0.5 cores: cap: 0.25 cores in old, 0.5 cores in new; link: a in old, b in new',
      '',
      'pipy in new uses 12 % more CPU per request than pipy in old [10, 14], 6 repeats',
    ])
  })

  it('gives each arm a heading if there are several', () => {
    const text = render({
      comparisons: [dearer, { ...dearer, a: 'pipy=b in new', b: 'pipy=a in old' }, { ...dearer, cpuLimitCores: 1 }],
    })
    expect(without(text).filter(line => line.endsWith(':'))).toEqual([
      'pipy in new and pipy in old, 0.25 cores:',
      'pipy=b in new and pipy=a in old, 0.25 cores:',
      'pipy in new and pipy in old, 1 core:',
    ])
  })

  it('says whose round was spoiled', () => {
    const text = render({
      comparisons: [
        createComparison({ verdict: 'invalid', reasons: ['generator bound in 1 of 6 rounds (pipy in old)'] }),
      ],
    })
    expect(without(text)).toEqual([
      'CPU per request of pipy in new and pipy in old: no verdict: generator saturated in 1 of 6 repeats',
      '  (pipy in old)',
    ])
  })

  it('says which change without sidecars it is, and when it is not known', () => {
    const spoiled = createComparison({
      ...control,
      median: null,
      link: 'pair',
      reasons: ['trial failed in 6 of 6 rounds'],
    })
    spoiled.ratio = { median: null, low: null, high: null, values: Array(6).fill(null) }
    const cheaper = { ...control, ratio: { median: 0.95, low: 0.94, high: 0.96, values: Array(6).fill(0.95) } }
    expect(without(render({ controls: [cheaper, spoiled] }))).toEqual([
      'Without sidecars (link link) the applications used 5.0 % less CPU per request in new',
      "Without sidecars (link pair) it is not known what the applications' CPU per request did: trial",
      '  failed in 6 of 6 repeats',
    ])
  })

  it('shows thresholds that were held, crossed and not tested', () => {
    const expression = 'new/old cpuPerRequest <= 1.05'
    const text = render({
      thresholds: [
        { expression, arm: 'pipy at 0.25 cores', value: 1.02, held: true },
        { expression, arm: 'pipy at 1 core', value: 1.12, held: false },
        { expression, arm: 'pipy at 2 cores', value: null, held: null },
        { expression, arm: null, value: null, held: null },
      ],
    })
    expect(without(text)).toEqual([
      'Threshold new/old cpuPerRequest <= 1.05 (pipy at 0.25 cores): met: 1.020',
      'Threshold new/old cpuPerRequest <= 1.05 (pipy at 1 core): NOT met: 1.120',
      'Threshold new/old cpuPerRequest <= 1.05 (pipy at 2 cores): not tested: excluded',
      'Threshold new/old cpuPerRequest <= 1.05: not tested: no arm that has its quantity was compared',
    ])
  })
})
