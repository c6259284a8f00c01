import { describe, expect, it } from 'vitest'
import { chooseCompareStatus, compareRuns } from '../../src/analysis/compare-runs.js'
import { summarise } from '../../src/analysis/summarise.js'
import { listArms } from '../../src/model/results.js'
import { renderComparisonVerdict } from '../../src/report/verdicts.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm, createFakeProcess, createParityRow, createRecord } from '../fakes/fake-records.js'

/**
 * @import { ComparedRun, RunComparison } from '../../src/analysis/compare-runs.js'
 * @import { Arm, GateFinding, ParityRow, Role } from '../../src/model/types.ts'
 */

const six = (/** @type {number} */ value) => Array(6).fill(value)
const GATE = /** @type {GateFinding} */ ({ gate: 'samples', spoils: ['cpuPerRequest'], reason: 'a gap of 2 s' })

/** Arms, each with the cores that it used in every round, at 1000 requests a second: of its sidecar, or without one of the applications. */
const pipy = (cores = six(0.1), fields = /** @type {Parameters<typeof createArm>[0]} */ ({})) => ({
  arm: createArm({ plane: 'pipy', ...fields }),
  cores,
})
const none = (cores = six(0.1), fields = /** @type {Parameters<typeof createArm>[0]} */ ({})) => ({
  arm: createArm({ plane: 'none', id: 'none', cpuLimitCores: null, ...fields }),
  cores,
})
const repeated = (/** @type {number[]} */ cores) => pipy(cores, { id: 'link-pipy-aa', repeatOf: 'link-pipy' })

/**
 * A run bound by its sidecars, that took a second to start.
 * @param {{ arm: Arm, cores: number[] }[]} measured
 * @param {{ manifest?: object, settings?: object, spoiledRounds?: number[] }} [options] spoiledRounds: of all arms but none
 * @returns {ComparedRun}
 */
function createRun(measured, { manifest: changes = {}, settings = {}, spoiledRounds = [] } = {}) {
  const records = measured.flatMap(({ arm, cores }) =>
    cores.map((cpuCores, i) => {
      const role = /** @type {Role} */ (arm.plane === 'none' ? 'application' : 'sidecar')
      return createRecord({
        ...{ arm, round: i + 1, boundBy: /** @type {const} */ ('sidecar'), phasesSeconds: { start: 1 } },
        processes: [createFakeProcess({ role, cpuCores })],
        gates: spoiledRounds.includes(i + 1) && arm.plane !== 'none' ? [GATE] : [],
      })
    }),
  )
  const manifest = createManifest({
    machine: {},
    tools: {},
    settings: { trafficPolicy: 'open', ...settings },
    rounds: Math.max(...measured.map(({ cores }) => cores.length)),
    arms: measured.map(({ arm }) => arm),
    ...changes,
  })
  return { folder: 'a', manifest, records, summary: summarise({ manifest, records }) }
}

/**
 * @param {Parameters<typeof createRun>} old @param {Parameters<typeof createRun>} next @param {string[]} [thresholds]
 */
const compare = (old, next, thresholds = []) =>
  compareRuns({ old: createRun(...old), new: createRun(...next) }, { thresholds })
const cpuOf = (/** @type {RunComparison} */ { comparisons }) =>
  comparisons.filter(c => c.quantity === 'cpuPerRequest' && c.service === null)

describe('compareRuns', () => {
  it('shows no difference of a run with itself, in any quantity', () => {
    const run = createRun([none(), pipy([0.1, 0.12, 0.11, 0.1, 0.13, 0.1])])
    const { comparisons, controls, refused, warnings } = compareRuns({ old: run, new: run })
    const names = comparisons.map(({ quantity, service }) => (service ? `${quantity}@${service}` : quantity)).join(' ')
    expect(names).toBe('cpuPerRequest cpuPerRequest@gateway capacity rss rss@gateway anon anon@gateway startSeconds')
    const same = { verdict: 'no-difference-shown', ratio: { median: 1 } }
    expect(comparisons).toMatchObject(Array(8).fill(same))
    expect(controls).toMatchObject([{ a: 'none in new', b: 'none in old', ratio: { median: 1 } }])
    expect({ refused, warnings }).toEqual({ refused: [], warnings: [] })
  })

  it('finds what became dearer, the new over the old, round by round', () => {
    const result = compare([[none(), pipy(six(0.1))]], [[none(), pipy([0.11, 0.11, 0.112, 0.11, 0.11, 0.114])]])
    const [comparison] = cpuOf(result)
    expect(comparison).toMatchObject({
      a: 'pipy in new',
      b: 'pipy in old',
      contrast: null,
      verdict: 'higher',
      aaSpread: 0,
    })
    expect(comparison.ratio.values.map(v => v?.toFixed(2))).toEqual(['1.10', '1.10', '1.12', '1.10', '1.10', '1.14'])
    expect(renderComparisonVerdict(comparison)).toBe(
      'pipy in new uses 10 % more CPU per request than pipy in old [10, 14], 6 repeats',
    )
    expect(result.comparisons.find(c => c.quantity === 'rss')?.verdict).toBe('no-difference-shown')
  })

  it('compares each arm with the one of its name, and no A/A arm', () => {
    const arms = (/** @type {number} */ factor) => [
      ...[none(), pipy(six(0.1 * factor)), repeated(six(0.1 * factor))],
      { arm: createArm({ plane: 'envoy' }), cores: six(0.2) },
    ]
    const result = compare([arms(1)], [arms(1.5)])
    expect(cpuOf(result).map(c => `${c.a}, ${c.b}: ${c.ratio.median?.toFixed(2)}`)).toEqual([
      'pipy in new, pipy in old: 1.50',
      'envoy in new, envoy in old: 1.00',
    ])
    expect(result.refused).toEqual([])
  })
})

describe('the answers to the request of a pipeline', () => {
  const request = { method: 'GET', path: '/', requestBytes: 0, status: 200 }
  const run = (/** @type {number[]} */ sizes) => {
    const { manifest, records, ...rest } = createRun([none(), pipy(six(0.1), { load: { ownRequest: request } })])
    const answered = records.map((record, i) => ({
      ...record,
      ...(record.trial.arm.hasSidecars && { answerBytes: sizes[i % sizes.length] }),
    }))
    return { ...rest, manifest, records: answered, summary: summarise({ manifest, records: answered }) }
  }

  it('are named if their size changed, and compared nevertheless', () => {
    const { warnings, comparisons } = compareRuns({ old: run([500]), new: run([500, 520]) })
    expect(warnings).toEqual(['bytes of an answer to pipy: 500 in old, 500 or 520 in new'])
    expect(comparisons.length).toBeGreaterThan(0)
    expect(compareRuns({ old: run([500]), new: run([500]) }).warnings).toEqual([])
  })

  it('are in the summary with each size, and in no older run', () => {
    const sizesOf = (/** @type {ReturnType<typeof run>} */ { summary }) =>
      listArms(summary)[1].load.ownRequest?.answerBytes
    expect(sizesOf(run([520, 500]))).toEqual([500, 520])
    const { manifest, records } = run([])
    expect(sizesOf({ ...run([]), summary: summarise({ manifest, records }) })).toBeUndefined()
    expect(compareRuns({ old: run([]), new: run([500]) }).warnings).toEqual([])
  })
})

describe('what is compared', () => {
  it('is each arm that both have, by its name in its own run', () => {
    const a = pipy(six(0.1), { variant: '/somewhere/a' })
    const b = pipy(six(0.2), { variant: '/elsewhere/b' })
    expect(cpuOf(compare([[a]], [[b]]))).toMatchObject([{ a: 'pipy=b in new', b: 'pipy=a in old' }])
  })

  it('is not what only one run has', () => {
    const at = (/** @type {number} */ cpuLimitCores, link = 'link') =>
      pipy(six(0.1), { id: `at-${cpuLimitCores}`, cpuLimitCores, link })
    const { comparisons, refused } = compare([[at(0.25), at(1)]], [[at(0.25), at(1), at(2, 'pair')]])
    expect(new Set(comparisons.map(c => c.cpuLimitCores))).toEqual(new Set([0.25, 1]))
    expect(refused).toEqual([{ arm: 'pipy at 2 cores, link pair', differing: ['not in the old run'] }])
  })

  it('is nothing for runs that cannot be compared, and no threshold is tested', () => {
    const other = /** @type {const} */ ({ settings: { app: 'node' }, manifest: { target: 'kubernetes' } })
    const result = compare([[none(), pipy()]], [[none(), pipy()], other], ['new/old cpuPerRequest <= 1.05'])
    expect(result).toMatchObject({ comparisons: [], controls: [] })
    expect(result.refused).toEqual([{ arm: 'every arm', differing: ['applications: pipy in old, node in new'] }])
    expect(result.warnings).toEqual(['target: local in old, kubernetes in new'])
    expect(result.thresholds).toMatchObject([{ arm: null, value: null, held: null }])
  })

  it('is the rounds that both have', () => {
    const result = compare([[none(), pipy(six(0.1))]], [[none(), pipy([...six(0.1), 9, 9, 9, 9])]])
    expect(cpuOf(result)[0].ratio.values).toEqual(six(1))
    expect(result.warnings).toEqual(['rounds: 6 in old, 10 in new: the first 6 are compared'])
  })

  it('comes with a warning if no arm without sidecars was measured in both runs', () => {
    expect(compare([[pipy()]], [[none(), pipy()]]).warnings).toEqual([
      'nothing was measured without sidecars in both runs to tell what else changed between them: pipy at 0.25 cores',
    ])
  })
})

describe('what is no difference between runs', () => {
  it('is what the applications changed without sidecars', () => {
    const result = compare([[none(six(0.1)), pipy(six(0.1))]], [[none(six(0.12)), pipy(six(0.11))]])
    expect(result.controls[0]).toMatchObject({ quantity: 'applicationCpuPerRequest', service: null })
    expect(result.controls[0].ratio.median).toBeCloseTo(1.2, 9)
    const [whole] = cpuOf(result)
    expect(whole.verdict).toBe('no-difference-shown')
    expect(whole.aaSpread).toBeCloseTo(0.2, 9)
    expect(result.comparisons.find(c => c.service === 'gateway')?.aaSpread).toBeCloseTo(0.2, 9)
    expect(result.comparisons.find(c => c.quantity === 'rss')?.aaSpread).toBe(null)
  })

  it('is as much if the applications became cheaper', () => {
    const result = compare([[none(six(0.1)), pipy(six(0.1))]], [[none(six(0.08)), pipy(six(0.11))]])
    expect(cpuOf(result)[0].aaSpread).toBeCloseTo(0.2, 9)
  })

  it('is what an arm differed from itself in the noisier run', () => {
    const envoy = { arm: createArm({ plane: 'envoy' }), cores: six(0.2) }
    const old = [none(), pipy(six(0.125)), envoy, repeated(six(0.1))]
    const next = [none(), pipy(six(0.135)), envoy, repeated(six(0.135))]
    const result = compare([old], [next])
    expect(cpuOf(result)[0].ratio.median).toBeCloseTo(1.08, 9)
    expect(cpuOf(result).map(c => c.aaSpread)).toEqual([0.25, 0.25])
    expect(cpuOf(result)[0].verdict).toBe('no-difference-shown')
  })

  it('is measured on the arms without sidecars, also with more users, but not on another link', () => {
    const old = [none(six(0.1), { load: { users: 200 } }), pipy(six(0.1))]
    const next = [none(six(0.12), { load: { users: 200 } }), pipy(six(0.11))]
    expect(cpuOf(compare([old], [next]))[0].aaSpread).toBeCloseTo(0.2, 9)
    const elsewhere = (/** @type {number} */ cores) => [none(six(cores), { link: 'pair' }), pipy(six(0.1))]
    const apart = compare([elsewhere(0.1)], [elsewhere(0.12)])
    expect(cpuOf(apart)[0].aaSpread).toBe(null)
    expect(apart.controls).toHaveLength(1)
  })
})

describe('what makes a comparison of runs invalid', () => {
  it('is a spoiled round, from six rounds on', () => {
    const spoiled = compare([[none(), pipy()]], [[none(), pipy()], { spoiledRounds: [2] }])
    const reasons = ['samples missing in 1 of 6 rounds (pipy in new)']
    expect(cpuOf(spoiled)[0]).toMatchObject({ verdict: 'invalid', reasons })
    expect(spoiled.comparisons.find(c => c.quantity === 'rss')?.verdict).toBe('no-difference-shown')
    const three = Array(3).fill(0.1)
    const few = compare([[none(three), pipy(three)], { spoiledRounds: [2] }], [[none(three), pipy(three)]])
    expect(cpuOf(few)[0]).toMatchObject({
      verdict: 'indicative',
      reasons: ['samples missing in 1 of 3 rounds (pipy in old)', '2 rounds: 6 are needed'],
    })
  })

  const row = (/** @type {string} */ actual, plane = 'pipy', expected = /** @type {string | null} */ (null)) =>
    createParityRow({ plane, found: actual, expected })
  const withRows = (/** @type {ParityRow[]} */ parity, settings = {}) =>
    createRun([none(), pipy()], { manifest: { parity }, settings })

  it('is work that was not equal', () => {
    const result = compareRuns({ old: withRows([row('X25519')]), new: withRows([row('P-256')]) })
    expect(new Set(result.comparisons.map(c => c.verdict))).toEqual(new Set(['invalid']))
    expect(cpuOf(result)[0].reasons).toEqual(['parity-tls: pipy in new: P-256; pipy in old: X25519'])
    const [right, other] = ['X25519', 'P-256'].map(curve => withRows([row(curve, 'pipy', 'X25519')]))
    const wrong = compareRuns({ old: right, new: other })
    expect(cpuOf(wrong)[0].reasons).toEqual(['parity-tls: pipy in new: P-256, X25519 is expected'])
    const same = compareRuns({ old: withRows([row('P-256')]), new: withRows([row('P-256')]) })
    expect(cpuOf(same)[0].verdict).toBe('no-difference-shown')
  })

  it('is no work that both experiments set aside', () => {
    const relaxes = [{ gate: 'parity-tls', why: 'it is the axis' }]
    const [old, next] = [withRows([row('X25519')], { relaxes }), withRows([row('P-256')], { relaxes })]
    expect(cpuOf(compareRuns({ old, new: next }))[0].verdict).toBe('no-difference-shown')
    expect(cpuOf(compareRuns({ old: withRows([row('X25519')]), new: next }))[0].verdict).toBe('invalid')
  })

  it('is found between variants, too', () => {
    const variant = (/** @type {string} */ name, /** @type {string} */ curve) =>
      createRun([none(), pipy(six(0.1), { variant: `/x/${name}` })], {
        manifest: { parity: [row(curve, `pipy=${name}`)] },
      })
    const result = compareRuns({ old: variant('a', 'X25519'), new: variant('b', 'P-256') })
    expect(cpuOf(result)[0].reasons).toEqual(['parity-tls: pipy=b in new: P-256; pipy=a in old: X25519'])
  })
})

describe('thresholds on two runs', () => {
  const at = (/** @type {number} */ cpuLimitCores, /** @type {number} */ cores) =>
    pipy(six(cores), { id: `at-${cpuLimitCores}`, cpuLimitCores })
  const hold = (/** @type {string} */ expression) =>
    compare([[none(), at(0.25, 0.1), at(1, 0.1)]], [[none(), at(0.25, 0.11), at(1, 0.1)]], [expression]).thresholds

  it('are held against the median ratio of every arm, either way round', () => {
    expect(hold('new/old cpuPerRequest <= 1.05')).toMatchObject([
      { arm: 'pipy at 0.25 cores', cpuLimitCores: 0.25, link: 'link', held: false },
      { arm: 'pipy at 1 core', cpuLimitCores: 1, value: 1, held: true },
    ])
    expect(hold('new/old cpuPerRequest@gateway <= 1.05')[0].value).toBeCloseTo(1.1, 9)
    expect(hold('old/new cpuPerRequest >= 0.9')[0].value).toBeCloseTo(1 / 1.1, 9)
    expect(hold('old/new cpuPerRequest >= 0.9')).toMatchObject([{ held: true }, { held: true }])
    for (const quantity of ['capacity', 'rss', 'anon'])
      expect(hold(`new/old ${quantity} <= 1.05`)).toMatchObject(Array(2).fill({ value: 1, held: true }))
  })

  it('are held against p99 in the open loop', () => {
    const open = none(six(0.1), { load: { kind: 'open', ratePerSecond: 300 } })
    const loaded = pipy(six(0.1), { load: { kind: 'open', ratePerSecond: 300 } })
    const { thresholds } = compare([[open, loaded]], [[open, loaded]], ['new/old p99 < 1'])
    expect(thresholds).toMatchObject([{ arm: 'pipy at 0.25 cores', value: 1, held: false }])
  })

  it('name both variants', () => {
    const variant = (/** @type {string} */ name) => pipy(six(0.1), { variant: `/x/${name}` })
    const { thresholds } = compare([[variant('a')]], [[variant('b')]], ['new/old rss <= 1'])
    expect(thresholds).toMatchObject([{ arm: 'pipy=b and pipy=a at 0.25 cores', held: true }])
  })

  it('are neither held nor crossed if a round was spoiled, or nothing was compared', () => {
    const next = /** @type {Parameters<typeof createRun>} */ ([[none(), pipy()], { spoiledRounds: [1] }])
    expect(compare([[none(), pipy()]], next, ['new/old cpuPerRequest <= 2']).thresholds).toMatchObject([
      { arm: 'pipy at 0.25 cores', value: null, held: null },
    ])
    expect(compare([[pipy()]], [[pipy(six(0.1), { cpuLimitCores: 1 })]], ['new/old rss <= 2']).thresholds).toEqual([
      { expression: 'new/old rss <= 2', arm: null, value: null, held: null },
    ])
  })

  it.each([
    [
      'pipy/envoy cpuPerRequest <= 1',
      `"pipy/envoy" is not two runs (new, old); write it as 'new/old cpuPerRequest <= 1.05'`,
    ],
    ['new/new cpuPerRequest <= 1', 'a run cannot be compared with itself'],
    ['new/old rss@gatway <= 1', 'unknown service "gatway"; did you mean "gateway"?'],
    ['new/old p99 <= 1', 'p99 needs the open loop: give runs that were made with --rate'],
    ['cheaper', `--threshold 'cheaper': write it as 'new/old cpuPerRequest <= 1.05'`],
  ])('refuse "%s", and say what to write', (expression, words) => {
    expect(() => hold(expression)).toThrow(words)
  })
})

describe('chooseCompareStatus', () => {
  const status = (/** @type {Parameters<typeof compare>} */ ...runs) => chooseCompareStatus(compare(...runs))

  it('is 0 if something could be compared, whatever the verdict', () => {
    expect(status([[none(), pipy()]], [[none(), pipy(six(0.2))]])).toEqual({ status: 0, reasons: [] })
  })

  it('is 3 if all was refused, or spoiled', () => {
    const apart = ['nothing could be compared: the runs share no arm']
    expect(status([[pipy()]], [[pipy(six(0.1), { cpuLimitCores: 1 })]])).toEqual({ status: 3, reasons: apart })
    const { comparisons } = compare([[pipy()]], [[pipy()]])
    const spoiled = comparisons.map(c => ({ ...c, verdict: /** @type {const} */ ('invalid') }))
    expect(chooseCompareStatus({ comparisons: spoiled, refused: [], thresholds: [] })).toEqual({
      status: 3,
      reasons: ['nothing could be compared: no arm has a verdict'],
    })
  })

  it('is 5 if a threshold was crossed, and 3 if one could not be tested', () => {
    const dearer = [none(), pipy(six(0.2))]
    const expression = 'new/old cpuPerRequest <= 1.05'
    expect(status([[none(), pipy()]], [dearer], [expression])).toEqual({
      status: 5,
      reasons: ['the threshold new/old cpuPerRequest <= 1.05 was crossed: 2.000 (pipy at 0.25 cores)'],
    })
    expect(status([[none(), pipy()]], [dearer, { spoiledRounds: [1] }], [expression, 'new/old rss <= 0.5'])).toEqual({
      status: 3,
      reasons: [
        'the threshold new/old cpuPerRequest <= 1.05 could not be tested: its quantity was excluded (pipy at 0.25 cores)',
      ],
    })
    expect(status([[none(), pipy()]], [dearer, { settings: { app: 'node' } }], [expression]).reasons).toEqual([
      'nothing could be compared: applications: pipy in old, node in new',
      'the threshold new/old cpuPerRequest <= 1.05 could not be tested: no arm that has its quantity was compared',
    ])
  })
})
