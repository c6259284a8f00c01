import { describe, expect, it } from 'vitest'
import { renderContrasts } from '../../src/answer/contrasts.js'
import { renderRatio } from '../../src/answer/pair.js'
import { renderPairs } from '../../src/answer/pairs.js'
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

/**
 * Compares each pair of proxies by their cost, with an interval that is wide for a noisy one.
 * @param {Record<string, number>} costs
 * @param {{ tie?: number, noise?: Record<string, number>, invalid?: (a: string, b: string) => boolean, repeats?: number,
 *   quantity?: string }} [options] tie: the largest gap without a difference; noise: half of the interval of a proxy's ratios
 */
function compareAll(costs, { tie = 0.01, noise = {}, invalid = () => false, repeats = 12, quantity } = {}) {
  const names = Object.keys(costs)
  return names.flatMap((a, i) =>
    names.slice(i + 1).map(b => {
      const median = costs[a] / costs[b]
      const gap = Math.abs(median - 1)
      const spread = noise[a] ?? noise[b] ?? 0.01
      const isTie = gap < tie || gap <= (noise[a] ?? noise[b] ?? 0)
      const verdict = repeats < 6 ? 'indicative' : isTie ? 'no-difference-shown' : median < 1 ? 'lower' : 'higher'
      const fields = { a, b, spread, repeats, ...(quantity && { quantity }) }
      return invalid(a, b)
        ? compare({ ...fields, median: null, verdict: 'invalid' })
        : compare({ ...fields, median, verdict: /** @type {Comparison['verdict']} */ (verdict) })
    }),
  )
}
const renderAll = (/** @type {Parameters<typeof compareAll>} */ ...args) => render(...compareAll(...args))

describe('the verdict on a pair', () => {
  it('names no gap of so few repeats if it is smaller than one that counts', () => {
    const few = { verdict: /** @type {const} */ ('indicative'), repeats: 3 }
    expect(render(compare({ ...few, median: 1.004 }), memory({ ...few, median: 0.998 }))).toEqual([
      'No difference shown in CPU per request of pipy and envoy: less than 5 % apart (3 repeats: no interval yet).',
    ])
    expect(render(compare({ ...few, median: 0.53 }), memory({ ...few, median: 0.998 }))[0]).toMatch(
      /^pipy uses about 47 % less CPU per request than envoy \(3 repeats: no interval yet\) and about as much memory\.$/,
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

  it('says about how much it is, if there are too few repeats for an interval', () => {
    const few = { repeats: 3, verdict: /** @type {const} */ ('indicative') }
    expect(render(compare(few), memory(few))).toEqual([
      'pipy uses about 57 % less CPU per request than envoy (3 repeats: no interval yet) and about 75 % less memory.',
    ])
  })

  it('says within how much two are alike, if no difference is found', () => {
    const none = { b: 'pipy=mine', median: 1.002, spread: 0.009, verdict: /** @type {const} */ ('no-difference-shown') }
    expect(render(compare(none), memory(none))).toEqual([
      'No difference found in CPU per request: pipy and pipy=mine are within 1.1 % of each other; no difference in memory either.',
    ])
    expect(render(compare(none), memory({ ...none, median: 0.8, verdict: 'lower' }))[0]).toMatch(
      /of each other; pipy uses 20 % less memory\.$/,
    )
  })

  it('says why there is no verdict, in words of a report', () => {
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
      'pipy uses less CPU per request than envoy (2.00 ×), and more than haproxy (0.80 ×).',
    ])
    expect(render(compare({ b: 'nginx', median: 1, verdict: 'no-difference-shown' }), others[0])).toEqual([
      'pipy uses less CPU per request than envoy (2.00 ×); no difference found between pipy and nginx.',
    ])
    expect([...others.slice(0, 2), compare({ b: 'caddy', median: null, verdict: 'invalid' })].map(renderRatio)).toEqual(
      [{ text: '2.00 × [1.98, 2.02]' }, { text: '0.80 × [0.80, 0.80]' }, null],
    )
  })

  it('on the first of several proxies has the verb of the quantity', () => {
    const first = (/** @type {string} */ quantity, /** @type {Record<string, number>} */ costs) =>
      renderPairs({ comparisons: compareAll(costs, { quantity }), primary: quantity, others: [] })
    const costs = { pipy: 1, envoy: 2, haproxy: 0.8 }
    expect(first('rolloutSeconds', costs)).toEqual([
      'pipy has rolled out sooner than envoy (2.00 ×), and later than haproxy (0.80 ×).',
    ])
    expect(first('rolloutSeconds', { pipy: 2, envoy: 1, haproxy: 2 })).toEqual([
      'pipy has rolled out later than envoy (0.50 ×); no difference found between pipy and haproxy.',
    ])
    expect(first('cpuPerRequest', costs)).toEqual([
      'pipy uses less CPU per request than envoy (2.00 ×), and more than haproxy (0.80 ×).',
    ])
    expect(first('p99', costs)).toEqual([
      'pipy has a lower p99 than envoy (2.00 ×), and a higher one than haproxy (0.80 ×).',
    ])
    expect(first('capacity', costs)).toEqual([
      'pipy has less capacity than envoy (2.00 ×), and more than haproxy (0.80 ×).',
    ])
  })

  it('on the first of several proxies says which have no interval yet, and which no verdict', () => {
    const costs = { pipy: 1, envoy: 2, haproxy: 0.8 }
    expect(renderAll(costs, { repeats: 3 })).toEqual([
      'So far (3 repeats: no interval yet), pipy uses less CPU per request than envoy (2.00 ×), and more than haproxy (0.80 ×).',
    ])
    expect(renderAll(costs, { invalid: () => true })).toEqual([
      'No verdict on CPU per request of pipy, envoy and haproxy.',
    ])
    expect(renderAll({ pipy: 1, envoy: 1, nginx: 1 }, { invalid: (_, b) => b === 'nginx' })).toEqual([
      'No difference found in CPU per request between pipy and envoy; no verdict on nginx.',
    ])
  })

  it('compares each of many proxies with the first, and names those that do not differ and those without a verdict', () => {
    const costs = { pipy: 1, envoy: 2, 'envoy:istio': 2.6, nginx: 0.8, ztunnel: 0.99, caddy: 1 }
    const options = { tie: 0.05, invalid: (/** @type {string} */ _, /** @type {string} */ b) => b === 'caddy' }
    expect(renderAll(costs, options)).toEqual([
      'pipy uses less CPU per request than envoy and envoy:istio (2.00 to 2.60 ×), and more than nginx (0.80 ×); no difference found between pipy and ztunnel; no verdict on caddy.',
    ])
    expect(renderAll({ pipy: 1, envoy: 0.5, nginx: 0.8 })).toEqual([
      'pipy uses more CPU per request than envoy and nginx (0.50 to 0.80 ×).',
    ])
  })

  it('has the multiples of the picture, not those of pairs without the first', () => {
    // Medians of ratios are not transitive: envoy to nginx says that envoy is the dearer one.
    const pairs = compareAll({ pipy: 1, envoy: 2, nginx: 2.1 })
    const noisy = pairs.map(pair => (pair.a === 'envoy' ? compare({ ...pair, median: 1.3, verdict: 'higher' }) : pair))
    expect(render(...noisy)).toEqual(['pipy uses less CPU per request than envoy and nginx (2.00 to 2.10 ×).'])
    expect(renderRatio(noisy[1])?.text).toMatch(/^2\.10 × /)
  })

  it('compares the others if the first proxy has no verdict', () => {
    const invalid = (/** @type {string} */ a) => a === 'pipy'
    expect(renderAll({ pipy: 1, envoy: 2, nginx: 1.5, caddy: 3, linkerd: 4 }, { invalid })).toEqual([
      'envoy uses less CPU per request than caddy and linkerd (1.50 to 2.00 ×), and more than nginx (0.75 ×); no verdict on pipy.',
    ])
    // The rest has verdicts among itself: only those against the first are missing.
    expect(
      renderAll(
        { pipy: 1, 'pipy:fsm': 2, envoy: 2, nginx: 3 },
        { invalid: (a, b) => a === 'pipy' && b !== 'pipy:fsm' },
      ),
    ).toEqual(['pipy uses less CPU per request than pipy:fsm (2.00 ×); no verdict on envoy and nginx against pipy.'])
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
