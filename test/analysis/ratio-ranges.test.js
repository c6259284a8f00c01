import { describe, expect, it } from 'vitest'
import { computeRatioRanges } from '../../src/analysis/ratio-ranges.js'
import { createArm } from '../fakes/fake-records.js'

/** @import { Comparison } from '../../src/model/types.ts' */

/**
 * @param {[number, number, number]} interval median, low, high
 * @param {{ load?: object, cpuLimitCores?: number | null, fields?: Partial<Comparison> }} [options]
 */
function createComparison([median, low, high], { load = {}, cpuLimitCores = 1, fields = {} } = {}) {
  const { link, conditions, ...arm } = createArm({ cpuLimitCores, load: { users: 32, ...load } })
  return /** @type {Comparison} */ ({
    ...{ a: 'pipy', b: 'envoy', link, conditions, cpuLimitCores, load: arm.load, contrast: null, isControl: false },
    ...{ quantity: 'cpuPerRequest', service: null, ratio: { median, low, high, values: [] }, ...fields },
  })
}
const interleaved = { kind: /** @type {const} */ ('interleaved'), isInterleaved: /** @type {const} */ (true) }

describe('computeRatioRanges', () => {
  it('spans the medians of one pair over users, placements and limits', () => {
    const [band, ...others] = computeRatioRanges([
      createComparison([0.5, 0.48, 0.52], { load: interleaved }),
      createComparison([0.45, 0.44, 0.46], { load: { ...interleaved, placement: 'apart' } }),
      createComparison([0.57, 0.55, 0.58], { load: { ...interleaved, users: 200 } }),
    ])
    expect(others).toEqual([])
    expect(band).toMatchObject({ a: 'pipy', b: 'envoy', low: 0.45, high: 0.57, isContradicted: null })
    expect(band.measured.map(({ load }) => [load.users, load.placement])).toEqual([
      [32, undefined],
      [32, 'apart'],
      [200, undefined],
    ])
  })

  it('finds windows and interleaved arms whose intervals exclude each other', () => {
    const ofWindows = (/** @type {[number, number, number]} */ interval) =>
      computeRatioRanges([
        createComparison([0.426, 0.421, 0.432], { load: interleaved }),
        createComparison(interval, { load: { users: 200 } }),
      ])[0].isContradicted
    expect(ofWindows([0.56, 0.5, 0.65])).toBe(true)
    expect(ofWindows([0.38, 0.35, 0.41])).toBe(true)
    expect(ofWindows([0.46, 0.43, 0.5])).toBe(false)
  })

  it('holds one worker of interleaved arms against windows whose limit gives them one, and not two', () => {
    const one = { conditions: { ...createArm({}).conditions, workers: 1 } }
    const bandsOf = (/** @type {number} */ cpuLimitCores) =>
      computeRatioRanges([
        createComparison([0.52, 0.51, 0.53], { load: interleaved, fields: one }),
        createComparison([0.6, 0.59, 0.66], { load: { users: 200 }, cpuLimitCores }),
      ]).map(({ isContradicted }) => isContradicted)
    expect(bandsOf(1)).toEqual([true])
    expect(bandsOf(0.25)).toEqual([true])
    expect(bandsOf(2)).toEqual([null, null])
  })

  it('keeps pairs, payloads and links apart, and leaves out A/A, other quantities and ratios without an interval', () => {
    const same = /** @type {[number, number, number]} */ ([0.5, 0.4, 0.6])
    expect(
      computeRatioRanges([
        createComparison(same),
        createComparison(same, { fields: { b: 'none' } }),
        createComparison(same, { load: { payloadBytes: 1 } }),
        createComparison(same, { fields: { link: 'pair' } }),
      ]),
    ).toHaveLength(4)
    expect(
      computeRatioRanges([
        createComparison(same, { fields: { isControl: true } }),
        createComparison(same, { fields: { quantity: 'rss' } }),
        createComparison(same, { fields: { service: 'gateway' } }),
        createComparison(same, { fields: { contrast: 'users' } }),
        createComparison(same, { fields: { ratio: { median: 0.5, low: null, high: null, values: [0.5] } } }),
      ]),
    ).toEqual([])
  })
})
