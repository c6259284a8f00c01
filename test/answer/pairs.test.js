import { describe, expect, it } from 'vitest'
import { renderContrasts, renderPairs, renderRatio } from '../../src/answer/pairs.js'
import { createArm } from '../fakes/fake-records.js'

/** @import { Comparison } from '../../src/model/types.ts' */

/** @param {Partial<Comparison> & { median?: number | null, spread?: number, repeats?: number }} fields @returns {Comparison} */
function compare({ median = 0.426, spread = 0.006, repeats = 12, ...fields } = {}) {
  const { kind, link, cpuLimitCores, load, conditions } = createArm({})
  const isSure = median !== null && repeats >= 6
  return {
    ...{
      kind,
      a: 'pipy',
      b: 'envoy',
      link,
      cpuLimitCores,
      load,
      conditions,
      contrast: null,
      isControl: false,
      gapLeast: 0.01,
    },
    ...{ quantity: 'cpuPerRequest', service: null, aaSpread: 0.009, verdict: 'lower', reasons: [] },
    ratio: {
      ...{ median, values: Array(repeats).fill(median) },
      ...(isSure ? { low: median - spread, high: median + spread } : { low: null, high: null }),
    },
    ...fields,
  }
}
const memory = (/** @type {Parameters<typeof compare>[0]} */ fields = {}) =>
  compare({ quantity: 'rss', median: 0.25, spread: 0.001, ...fields })
const render = (/** @type {Comparison[]} */ ...comparisons) => renderPairs({ comparisons })

describe('the verdict on a pair', () => {
  it('names no gap of so few repeats where it is smaller than one that counts', () => {
    const few = { verdict: /** @type {const} */ ('indicative'), repeats: 3 }
    expect(render(compare({ ...few, median: 1.004 }), memory({ ...few, median: 0.998 }))).toEqual([
      'No difference in CPU per request of pipy and envoy so far (3 repeats: no interval yet).',
    ])
    expect(render(compare({ ...few, median: 0.53 }), memory({ ...few, median: 0.998 }))[0]).toMatch(
      /^pipy uses about 47 % less CPU per request than envoy \(3 repeats: no interval yet\) and as much memory\.$/,
    )
  })

  it('is a sentence with the gap, its interval, and the memory', () => {
    expect(render(compare(), memory())).toEqual([
      'pipy uses 57.4 % less CPU per request than envoy (95 % CI 56.8 to 58.0) and 75 % less memory.',
    ])
    expect(render(compare({ median: 1.25, verdict: 'higher' }), memory({ median: 2.4, verdict: 'higher' }))).toEqual([
      'pipy uses 25.0 % more CPU per request than envoy (95 % CI 24.4 to 25.6) and 2.4 × the memory.',
    ])
    expect(render(compare({ median: 2.43, spread: 0.1, verdict: 'higher' }))).toEqual([
      'pipy has 2.4 × the CPU per request of envoy (95 % CI 2.3 to 2.5).',
    ])
  })

  it('says about how much it is, where there are too few repeats for an interval', () => {
    const few = { repeats: 3, verdict: /** @type {const} */ ('indicative') }
    expect(render(compare(few), memory(few))).toEqual([
      'pipy uses about 57 % less CPU per request than envoy (3 repeats: no interval yet) and about 75 % less memory.',
    ])
  })

  it('says within how much two are alike, where no difference is found', () => {
    const none = { b: 'pipy=mine', median: 1.002, spread: 0.009, verdict: /** @type {const} */ ('no-difference-shown') }
    expect(render(compare(none), memory(none))).toEqual([
      'No difference found in CPU per request: pipy and pipy=mine are within 1.1 % of each other; no difference in memory either.',
    ])
    expect(render(compare(none), memory({ ...none, median: 0.8, verdict: 'lower' }))[0]).toMatch(
      /of each other; pipy uses 20 % less memory\.$/,
    )
  })

  it('says why there is none, in words of a report', () => {
    const reasons = ['users bound in 6 of 6 rounds', 'unsteady in 1 of 6 rounds (pipy)']
    expect(render(compare({ median: null, verdict: 'invalid', reasons }))).toEqual([
      'No verdict on CPU per request of pipy and envoy: not saturated in 6 of 6 repeats.',
    ])
  })

  it('is on the first of several proxies, whose ratios stand in the picture', () => {
    const others = [
      compare({ b: 'envoy', median: 0.5 }),
      compare({ b: 'envoy:istio', median: 0.385, spread: 0.01 }),
      compare({ b: 'haproxy', median: 1.25, verdict: 'higher' }),
      compare({ b: 'nginx', median: 1, verdict: 'no-difference-shown' }),
      compare({ b: 'caddy', median: null, verdict: 'invalid' }),
      compare({ a: 'envoy', b: 'envoy:istio', median: 0.8 }),
    ]
    expect(render(...others)).toEqual([
      'pipy uses less CPU per request than envoy (2.0 ×) and envoy:istio (2.6 ×), and more than haproxy (0.8 ×); no difference found between pipy and nginx; no verdict on caddy.',
    ])
    expect(others.map(renderRatio).slice(1, 5)).toEqual([
      { text: '2.60 × [2.53, 2.67]' },
      { text: '0.80 × [0.80, 0.80]' },
      { text: '1.00 × [0.99, 1.01]' },
      null,
    ])
  })

  it('counts the points of an axis', () => {
    const at = (
      /** @type {number} */ cpuLimitCores,
      /** @type {number} */ median,
      /** @type {Comparison['verdict']} */ verdict,
    ) => compare({ cpuLimitCores, median, verdict })
    expect(render(at(1, 0.4, 'lower'), at(2, 0.6, 'lower'))).toEqual([
      'pipy uses 40 to 60 % less CPU per request than envoy, at each of 2 points.',
    ])
    expect(render(at(1, 0.4, 'lower'), at(2, 1.1, 'higher'), at(4, 1, 'no-difference-shown'))).toEqual([
      'CPU per request of pipy against envoy at 3 points: less at 1 (60 %), more at 1 (10 %), no difference at 1.',
    ])
  })
})

it('what an axis changes is a sentence for each value, or the least and the most of many', () => {
  const contrast = (/** @type {string} */ a, /** @type {number} */ median) =>
    compare({ ...{ a: `pipy with ${a}`, b: 'pipy with no features', contrast: 'features', median, verdict: 'higher' } })
  expect(renderContrasts({ comparisons: [contrast('access-log', 1.48)] })).toEqual([
    'pipy with access-log uses 48.0 % more CPU per request than pipy with no features (95 % CI 47.4 to 48.6).',
  ])
  expect(
    renderContrasts({ comparisons: [contrast('access-log', 1.48), contrast('metrics', 1.03), contrast('all', 2.1)] }),
  ).toEqual([
    'Against pipy with no features, CPU per request is from +3 % (pipy with metrics) to +110 % (pipy with all).',
  ])
})
