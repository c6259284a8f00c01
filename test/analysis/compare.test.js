import { describe, expect, it } from 'vitest'
import { compareArms } from '../../src/analysis/compare.js'
import { chooseVerdict, computePrecision } from '../../src/analysis/verdict.js'
import { listGateFindings } from '../../src/judge/gates.js'
import { extrapolateCount } from '../../src/lib/confidence-sequence.js'
import { summarisePrecision } from '../../src/report/precision.js'
import { renderComparisonVerdict } from '../../src/report/verdicts.js'
import { createArm, createFakeProcess, createRecord } from '../fakes/fake-records.js'

/** @import { Arm, AxisName } from '../../src/model/types.ts' @import { ComparisonInput } from '../../src/analysis/compare.js' */

const six = (/** @type {number} */ value) => Array(6).fill(value)

/**
 * A run of pipy and envoy whose sidecars used so many cores in each round, at 1000 requests a second.
 * @param {{ pipy: number[], envoy: number[], aa?: number[], change?: (round: number, plane: string) => object, disparities?: string[], unequal?: string[], precision?: number }} options
 */
function compare({ pipy, envoy, aa, change = () => ({}), disparities = [], unequal, precision }) {
  const none = createArm({ plane: 'none', cpuLimitCores: null })
  const arms = [none, createArm({ plane: 'pipy' }), createArm({ plane: 'envoy' })]
  if (aa) arms.push(createArm({ plane: 'pipy', id: 'link-pipy-aa', repeatOf: 'link-pipy' }))
  /** @type {Record<string, number[] | undefined>} */
  const cores = { 'link-pipy': pipy, 'link-envoy': envoy, 'link-pipy-aa': aa }
  const records = arms.flatMap(arm =>
    (cores[arm.id] ?? []).map((value, i) => {
      const processes = [createFakeProcess({ cpuCores: value, cpuLimitCores: 0.25 })]
      const record = createRecord({ arm, round: i + 1, processes, ...change(i + 1, arm.plane) })
      return { ...record, gates: listGateFindings(record) }
    }),
  )
  return compareArms({
    arms,
    records,
    rounds: pipy.length,
    seed: 1,
    precision,
    listDisparities: () => disparities,
    renderUnequal: () => unequal ?? [],
    listWrong: () => [],
  })
}
/** @param {ReturnType<typeof compare>} comparisons */
const find = (comparisons, quantity = 'cpuPerRequest') => {
  const [comparison, ...more] = comparisons.filter(c => c.quantity === quantity && c.service === null && !c.isControl)
  expect(more).toEqual([])
  return comparison
}

/**
 * Six rounds of arms that an axis tells apart.
 * @param {AxisName} axis @param {Arm[]} arms @param {Pick<ComparisonInput, 'listDisparities' | 'listWrong'>} checks
 */
function compareOn(axis, arms, checks) {
  const records = arms.flatMap(arm => [1, 2, 3, 4, 5, 6].map(round => createRecord({ arm, round })))
  return compareArms({ arms, records, rounds: 6, seed: 1, contrasts: [axis], ...checks })
}

describe('compareArms', () => {
  it('compares each pair of planes round by round, and never with none', () => {
    const [first] = compare({ pipy: [0.1, 0.1, 0.11, 0.1, 0.1, 0.1], envoy: [0.2, 0.2, 0.2, 0.25, 0.2, 0.2] })
    expect(first).toMatchObject({ a: 'pipy', b: 'envoy', quantity: 'cpuPerRequest', service: null, verdict: 'lower' })
    expect(first.ratio.values.map(v => v?.toFixed(3))).toEqual(['0.500', '0.500', '0.550', '0.400', '0.500', '0.500'])
    expect(first.ratio).toMatchObject({ median: 0.5, low: 0.4 })
  })

  it('finds who uses less, by how much, with which interval', () => {
    const made = { pipy: [0.104, 0.104, 0.108, 0.1, 0.104, 0.104], envoy: six(0.2) }
    const intervalOf = (/** @type {ReturnType<typeof find>} */ { ratio: { median, low, high } }) =>
      [median, low, high].map(value => value?.toFixed(2))
    const less = find(compare(made))
    expect(less).toMatchObject({ a: 'pipy', b: 'envoy', verdict: 'lower', reasons: [] })
    expect(intervalOf(less)).toEqual(['0.52', '0.50', '0.54'])
    const more = find(compare({ pipy: made.envoy, envoy: made.pipy }))
    expect(more).toMatchObject({ a: 'pipy', b: 'envoy', verdict: 'higher', reasons: [] })
    expect(intervalOf(more)).toEqual(['1.92', '1.85', '2.00'])
  })

  it('names no winner if the interval includes 1', () => {
    const comparisons = compare({ pipy: [0.1, 0.1, 0.1, 0.1, 0.1, 0.131], envoy: six(0.13) })
    const { verdict, ratio } = find(comparisons)
    expect(verdict).toBe('no-difference-shown')
    expect([ratio.low, ratio.high].map(v => v?.toFixed(3))).toEqual(['0.769', '1.008'])
  })

  it('names no winner below 3 %, however sure', () => {
    const comparisons = compare({ pipy: six(0.1), envoy: six(0.1025) })
    expect(find(comparisons).ratio.high).toBeLessThan(1)
    expect(find(comparisons).verdict).toBe('no-difference-shown')
  })

  it('names no winner below the spread of an arm against itself', () => {
    const made = { pipy: six(0.1), envoy: six(0.11) }
    expect(compare(made)[0].verdict).toBe('lower')
    const noisy = compare({ ...made, aa: six(0.112) })
    expect(noisy[0]).toMatchObject({ verdict: 'no-difference-shown' })
    expect(noisy[0].aaSpread).toBeCloseTo(0.107, 3)
  })

  it('is indicative below six rounds', () => {
    const comparisons = compare({ pipy: [0.1, 0.1, 0.1], envoy: [0.2, 0.2, 0.2] })
    expect(find(comparisons)).toMatchObject({ verdict: 'indicative', reasons: ['3 rounds: 6 are needed'] })
    expect(find(comparisons).ratio.median).toBe(0.5)
  })

  it('says in how many rounds what spoiled a quantity, and whose', () => {
    const generator = createFakeProcess({ service: 'k6', role: 'generator', cpuLimitCores: null, cpuCores: 0.9 })
    const change = (/** @type {number} */ round) => ({
      boundBy: /** @type {const} */ ('sidecar'),
      processes: [createFakeProcess({ cpuCores: 0.25 }), ...(round <= 4 ? [generator] : [])],
    })
    const made = compare({ pipy: six(0.25), envoy: six(0.25), change })
    const reasons = ['generator bound in 4 of 6 rounds']
    expect(find(made, 'capacity')).toMatchObject({ verdict: 'invalid', reasons })
    expect(made[0].verdict).toBe('no-difference-shown')

    const oneSide = compare({
      ...{ pipy: six(0.1), envoy: six(0.2) },
      change: (round, plane) =>
        plane === 'envoy' && round === 2 ? { samples: { count: 1, largestGapSeconds: 2, missing: 0 } } : {},
    })
    const ofOne = ['samples missing in 1 of 6 rounds (envoy)']
    expect(find(oneSide)).toMatchObject({ verdict: 'invalid', reasons: ofOne })
  })

  it('tolerates one spoiled round of twenty that were planned, but not of nineteen, nor two', () => {
    const of = (/** @type {number} */ rounds, /** @type {number} */ last) => {
      const cores = (/** @type {number} */ value) => Array.from({ length: rounds }, () => value)
      const change = (/** @type {number} */ round, /** @type {string} */ plane) =>
        round <= last && plane === 'pipy' ? { load: { verified: 0 }, outcome: /** @type {const} */ ('invalid') } : {}
      return find(compare({ pipy: cores(0.1), envoy: cores(0.2), change }))
    }
    expect(of(20, 1).verdict).toBe('lower')
    expect(of(20, 1).reasons.join()).toContain('in 1 of 20 rounds')
    expect([of(19, 1), of(20, 2)].map(({ verdict }) => verdict)).toEqual(['invalid', 'invalid'])
  })

  it('speaks of capacity only if the sidecar bound the run', () => {
    const made = { pipy: six(0.24), envoy: six(0.24) }
    const reasons = ['users bound in 6 of 6 rounds']
    expect(find(compare(made), 'capacity')).toMatchObject({ verdict: 'invalid', reasons })
    const change = (/** @type {number} */ _, /** @type {string} */ plane) => ({
      boundBy: /** @type {const} */ ('sidecar'),
      load: plane === 'pipy' ? { verified: 2000, verifiedInSecondHalf: 1000, distribution: null } : {},
    })
    const twice = { verdict: 'higher', ratio: { median: 2, low: 2, high: 2 } }
    expect(find(compare({ ...made, change }), 'capacity')).toMatchObject(twice)
  })

  it('says nothing of planes that did not do equal work', () => {
    const disparities = ['parity-tls: envoy: no TLS']
    const comparisons = compare({ pipy: six(0.1), envoy: six(0.2), disparities })
    expect(new Set(comparisons.map(c => c.verdict))).toEqual(new Set(['invalid']))
    expect(find(comparisons).reasons).toEqual(disparities)
  })

  it('gives a verdict on a plane as deployed, and says that its work is unequal', () => {
    const unequal = ['unequal work: tls']
    const comparisons = compare({ pipy: six(0.1), envoy: six(0.2), unequal })
    expect(find(comparisons)).toMatchObject({ verdict: 'lower', reasons: unequal })
  })

  it('judges no contrast of an arm that does other than it must', () => {
    const arms = ['lean', 'access-log'].map(features => createArm({ id: features, conditions: { features } }))
    const judge = (/** @type {string[]} */ wrong) =>
      compareOn('features', arms, { listDisparities: () => ['other features'], listWrong: () => wrong })
    const [spoiled] = judge(['parity-features: pipy: lean, access-log is expected'])
    expect(spoiled).toMatchObject({ contrast: 'features', verdict: 'invalid' })
    expect(spoiled.reasons).toEqual(['parity-features: pipy: lean, access-log is expected'])
    expect(judge([])[0].reasons).toEqual([])
  })

  it('compares arms of which one has simulated sidecars, but for sums, in which those are not', () => {
    const idle = { kind: /** @type {const} */ ('idle') }
    const armOf = (/** @type {string} */ plane, /** @type {object} */ conditions) => {
      const id = `${plane}-${JSON.stringify(conditions)}`
      return createArm({ plane, cpuLimitCores: null, id, load: idle, conditions })
    }
    const arms = [
      armOf('pipy', { sidecars: 1600 }),
      armOf('envoy', { sidecars: 1600, simulated: 1200 }),
      armOf('envoy', { sidecars: 400 }),
    ]
    const all = compareOn('sidecars', arms, { listDisparities: () => [], listWrong: () => [] })
    const reasonsOf = (/** @type {string} */ quantity, /** @type {string | null} */ service = null) =>
      all.filter(c => c.quantity === quantity && c.service === service).map(({ a, b, reasons }) => [a, b, reasons])
    const between = [
      ['pipy', 'envoy (1200 of 1600 simulated)'],
      ['envoy with 400 sidecars', 'envoy (1200 of 1600 simulated) with 1600 sidecars'],
    ]
    const sums = ['0 of 1600 and 1200 of 1600', '0 of 400 and 1200 of 1600']
    expect(reasonsOf('rss')).toEqual(
      between.map((names, i) => [...names, [`simulated sidecars are in no sum: ${sums[i]}`]]),
    )
    expect(reasonsOf('rss', 'gateway')).toEqual(between.map(names => [...names, []]))
  })

  it('says when a ratio drifted over the run', () => {
    const comparisons = compare({ pipy: [0.1, 0.102, 0.104, 0.106, 0.108, 0.11], envoy: six(0.2) })
    expect(comparisons[0].reasons).toEqual(['the ratio drifted from 0.500 to 0.550'])
  })

  it('compares the sidecars of each service, and memory over all', () => {
    const comparisons = compare({ pipy: six(0.1), envoy: six(0.2) })
    expect(comparisons.map(c => `${c.quantity}${c.service ? `@${c.service}` : ''}`)).toEqual([
      ...'cpuPerRequest cpuPerRequest@gateway capacity rss rss@gateway anon anon@gateway startSeconds'.split(' '),
    ])
  })
})

describe('judge', () => {
  it('calls a gap of exactly the floor a difference', () => {
    const ratio = { median: 0.97, low: 0.96, high: 0.98, values: six(0.97) }
    expect(chooseVerdict({ ratio, floor: 0.03, isSpoiled: false })).toBe('lower')
    expect(chooseVerdict({ ratio: { ...ratio, median: 0.971 }, floor: 0.03, isSpoiled: false })).toBe(
      'no-difference-shown',
    )
  })

  it.each([
    [0.9, 0.8, 1, 'no-difference-shown'],
    [0.9, 0.8, 0.99, 'lower'],
    [1.1, 1, 1.2, 'no-difference-shown'],
    [1.1, 1.01, 1.2, 'higher'],
    [1.1, null, null, 'indicative'],
    [null, null, null, 'invalid'],
  ])('calls a ratio of %f with an interval of %f to %f %s', (median, low, high, verdict) => {
    expect(chooseVerdict({ ratio: { median, low, high }, floor: 0.03, isSpoiled: false })).toBe(verdict)
    expect(chooseVerdict({ ratio: { median, low, high }, floor: 0.03, isSpoiled: true })).toBe('invalid')
  })
})

describe('compareArms of rounds that went on until they were precise', () => {
  const pipy = Array.from({ length: 20 }, (_, i) => 0.196 + 0.0002 * (i % 5))
  const envoy = Array(20).fill(0.2)
  const precision = 0.02
  const target = { width: 0.05, mostRounds: 100, ended: null }

  it('finds a gap of half the width, if A/A shows the noise', () => {
    const comparison = find(compare({ pipy, envoy, aa: pipy, precision }))
    expect(comparison).toMatchObject({ verdict: 'lower', gapLeast: 0.01 })
    expect(renderComparisonVerdict(comparison)).toContain(
      '1.8 % less CPU per request than envoy [1.6, 2.0], 20 repeats',
    )
    expect(find(compare({ pipy, envoy, precision }))).toMatchObject({ verdict: 'no-difference-shown', gapLeast: 0.03 })
    expect(find(compare({ pipy, envoy, aa: pipy }))).toMatchObject({ verdict: 'no-difference-shown' })
    expect(find(compare({ pipy, envoy, aa: pipy }))).not.toHaveProperty('gapLeast')
  })

  it('has wider intervals, the first of eight rounds', () => {
    const spread = Array.from({ length: 9 }, (_, i) => 0.1 + 0.001 * i)
    const of = (/** @type {number} */ n, options = {}) =>
      find(compare({ pipy: spread.slice(0, n), envoy: envoy.slice(0, n), ...options }))
    expect(of(9).ratio).toMatchObject({ low: spread[1] / 0.2, high: spread[7] / 0.2 })
    expect(of(9, { precision }).ratio).toMatchObject({ low: spread[0] / 0.2, high: spread[8] / 0.2 })
    const reasons = ['7 rounds: 8 are needed', expect.any(String)]
    expect(of(7, { precision })).toMatchObject({ verdict: 'indicative', reasons })
  })

  it('tolerates one spoiled round of twenty, but not three', () => {
    const spoil = (/** @type {number} */ last) => (/** @type {number} */ round, /** @type {string} */ plane) =>
      round <= last && plane === 'pipy' ? { load: { verified: 0 }, outcome: 'invalid' } : {}
    const of = (/** @type {number} */ last) =>
      find(compare({ pipy: pipy.map(v => v / 2), envoy, aa: pipy, precision, change: spoil(last) }))
    expect(of(1).verdict).toBe('lower')
    expect(of(1).reasons.join()).toContain('in 1 of 20 rounds')
    expect(of(3).verdict).toBe('invalid')
  })

  it('is not precise while one of nine rounds is spoiled, and is after the next', () => {
    const spoil = (/** @type {number} */ round, /** @type {string} */ plane) =>
      round === 3 && plane === 'pipy' ? { load: { verified: 0 }, outcome: 'invalid' } : {}
    const of = (/** @type {number} */ rounds) => {
      const cut = (/** @type {number[]} */ values) => values.slice(0, rounds)
      const cores = { pipy: cut(pipy.map(v => v / 2)), envoy: cut(envoy), aa: cut(pipy) }
      const comparisons = compare({ ...cores, precision: 0.05, change: spoil })
      const { verdict } = find(comparisons)
      const measurement = computePrecision({ target, rounds, comparisons })
      return { verdict, ...measurement.pairs[0], ...summarisePrecision(measurement) }
    }
    const nine = of(9)
    expect(nine).toMatchObject({ verdict: 'invalid', isNarrow: false, isReached: false, roundsMore: 1 })
    expect(nine.width).toBeLessThan(0.05)
    expect(nine.sentence).toContain(
      'wide, and more than one round in ten was excluded; for 5.0 % it needs about 1 more round',
    )
    expect(of(10)).toMatchObject({ verdict: 'lower', isNarrow: true, isReached: true, roundsMore: 0 })
  })

  it('ends in spite of unequal work, which more rounds do not cure', () => {
    const comparisons = compare({ pipy, envoy, precision: 0.05, disparities: ['workers: 1, 2'] })
    expect(find(comparisons).verdict).toBe('invalid')
    expect(computePrecision({ target, rounds: 20, comparisons }).isReached).toBe(true)
  })

  it('says how many more rounds a narrower interval takes, from three ratios on', () => {
    const more = (/** @type {(number | null)[]} */ values, /** @type {number} */ width) => {
      const [comparison] = compare({ pipy, envoy, precision: 0.05 })
      const { pairs } = computePrecision({
        target: { ...target, width },
        rounds: values.length,
        comparisons: [{ ...comparison, ratio: { median: 0.5, low: null, high: null, values } }],
      })
      return pairs[0].roundsMore
    }
    const ratios = [0.5, 0.52, 0.54]
    const needed = extrapolateCount({ values: ratios.map(Math.log), width: Math.log(1.2), most: 1000 })
    expect(needed).toBeGreaterThan(3)
    expect(more(ratios, 0.2)).toBe(Number(needed) - 3)
    expect(more([...ratios, null, null], 0.2)).toBe(Math.max(Number(needed) - 3, 15))
    expect(more(ratios.slice(1), 0.2)).toBeNull()
    // The same three, asked for more closely.
    expect(more(ratios, 0.1)).toBeGreaterThan(Number(needed) - 3)
  })
})
