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
      compare({ b: 'haproxy', median: 1.25, verdict: 'higher' }),
      compare({ a: 'envoy', b: 'haproxy', median: 2.5, verdict: 'higher' }),
    ]
    expect(render(...others)).toEqual([
      'pipy uses less CPU per request than envoy (2.0 ×), and more than haproxy (0.8 ×).',
    ])
    expect(render(compare({ b: 'nginx', median: 1, verdict: 'no-difference-shown' }), others[0])).toEqual([
      'pipy uses less CPU per request than envoy (2.0 ×); no difference found between pipy and nginx.',
    ])
    expect([...others.slice(0, 2), compare({ b: 'caddy', median: null, verdict: 'invalid' })].map(renderRatio)).toEqual(
      [{ text: '2.00 × [1.98, 2.02]' }, { text: '0.80 × [0.80, 0.80]' }, null],
    )
  })

  it('names the cheapest and the dearest of many proxies, and no other: the picture has their ratios', () => {
    const ofPipy = [
      compare({ b: 'envoy', median: 0.5 }),
      compare({ b: 'envoy:istio', median: 0.385, spread: 0.01 }),
      compare({ b: 'haproxy', median: 0.8 }),
    ]
    expect(render(...ofPipy)).toEqual([
      'pipy uses the least CPU per request; envoy:istio the most, 2.6 × pipy (95 % CI 2.5 to 2.7).',
    ])
    expect(render(...ofPipy, compare({ b: 'nginx', median: 1.25, verdict: 'higher' }))).toEqual([
      'nginx uses the least CPU per request, 0.80 × pipy (95 % CI 0.80 to 0.80); envoy:istio the most, 2.6 × pipy (95 % CI 2.5 to 2.7).',
    ])
    expect(render(...ofPipy.map(c => ({ ...c, verdict: /** @type {const} */ ('invalid') })))).toEqual([
      'No verdict on envoy, envoy:istio and haproxy.',
    ])
    expect(
      render(
        ...['envoy', 'nginx', 'caddy'].map((b, i) =>
          compare({ b, median: 0.5 + i / 10, verdict: 'indicative', repeats: 3 }),
        ),
      ),
    ).toEqual(['pipy uses the least CPU per request; envoy the most, about 2.0 × pipy (3 repeats: no interval yet).'])
  })

  it('names together those between which no difference was found, and the proxies without a verdict', () => {
    const tie = { verdict: /** @type {const} */ ('no-difference-shown') }
    const comparisons = [
      compare({ b: 'envoy', median: 0.4 }),
      compare({ b: 'envoy:istio', median: 0.385, spread: 0.01 }),
      compare({ b: 'ztunnel', median: 1.01, spread: 0.02, ...tie }),
      compare({ b: 'caddy', median: null, verdict: 'invalid' }),
    ]
    const alike = compare({ a: 'envoy', b: 'envoy:istio', median: 0.96, spread: 0.05, ...tie })
    expect(render(...comparisons, alike)).toEqual([
      'pipy and ztunnel use the least CPU per request (no difference found); envoy and envoy:istio the most, 2.6 × pipy (95 % CI 2.5 to 2.7); no verdict on caddy.',
    ])
    expect(render(...['envoy', 'nginx', 'caddy'].map(b => compare({ b, median: 1, ...tie })))).toEqual([
      'No difference found in CPU per request: pipy, envoy, nginx and caddy are within 1.0 % of each other.',
    ])
  })

  it('has the words of a quantity that nobody uses', () => {
    const times = [0.5, 0.6, 0.7].map((median, i) => compare({ b: `envoy:${i}`, quantity: 'startSeconds', median }))
    expect(renderPairs({ comparisons: times, primary: 'startSeconds' })[0]).toMatch(
      /^pipy has the lowest time to the first answer; envoy:0 the highest, 2\.0 × pipy /,
    )
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
