import { describe, expect, it } from 'vitest'
import { chooseRunStatus } from '../../src/analysis/status.js'
import { evaluateThreshold, parseThreshold, testThreshold } from '../../src/analysis/thresholds.js'
import { EXIT } from '../../src/lib/errors.js'
import { createArm } from '../fakes/fake-records.js'
import { createSummary } from '../fakes/fake-summary.js'

const arms = [
  createArm({ plane: 'none' }),
  createArm({ plane: 'pipy' }),
  createArm({ plane: 'pipy', variant: '/somewhere/my-scripts' }),
  createArm({ plane: 'envoy' }),
]
const parse = (/** @type {string} */ expression) => parseThreshold(expression, arms, ['gateway', 'ratings'])

describe('parseThreshold', () => {
  it('reads planes, quantity, service, operator and limit', () => {
    const read = { a: 'pipy', b: 'envoy', quantity: 'cpuPerRequest', service: 'gateway', operator: '<=', limit: 0.6 }
    expect(parse('pipy/envoy cpuPerRequest@gateway <= 0.6')).toMatchObject(read)
    expect(parse('envoy/pipy rss>2')).toMatchObject({ a: 'envoy', b: 'pipy', operator: '>', limit: 2 })
  })

  it('knows a variant by its path, as it was typed, and by its folder', () => {
    for (const pair of ['pipy=./my-scripts/pipy', 'pipy=/somewhere/my-scripts/pipy', 'pipy=my-scripts/pipy'])
      expect(parse(`${pair} cpuPerRequest <= 1.05`)).toMatchObject({ a: 'pipy=my-scripts', b: 'pipy' })
  })

  it.each([
    ['', "write it as 'pipy/envoy cpuPerRequest <= 0.6'"],
    ['pipy/envoy cpuPerRequest == 0.6', 'write it as'],
    ['x'.repeat(5000), "x': it has more than 1000 characters; write it as"],
    ['pipy/envoy cpuPerRequest <= x', '"x" is no ratio above 0'],
    ['pipy/envoy cpuPerRequest <= 0', '"0" is no ratio above 0'],
    ['pipy/envoy cpuPerRequest <= Infinity', '"Infinity" is no ratio above 0'],
    ['pipy/envoy cpuPerReqest <= 1', 'unknown quantity "cpuPerReqest"; did you mean "cpuPerRequest"?'],
    ['pipy/envoi cpuPerRequest <= 1', '"pipy/envoi" is not two planes of this run (pipy, pipy=my-scripts, envoy)'],
    ['pipy cpuPerRequest <= 1', '"pipy" is not two planes of this run'],
    ['pipy/none cpuPerRequest <= 1', '"pipy/none" is not two planes'],
    ['pipy/pipy cpuPerRequest <= 1', 'a plane cannot be compared with itself'],
    ['pipy/envoy cpuPerRequest@gatway <= 1', 'unknown service "gatway"; did you mean "gateway"?'],
    ['pipy/envoy capacity@gateway <= 1', 'capacity is no quantity of a single sidecar'],
    ['pipy/envoy p99 <= 1', 'p99 needs the open loop: give --rate'],
  ])('refuses "%s", and says what to write', (expression, words) => {
    expect(() => parse(expression)).toThrow(words)
  })
})

describe('evaluateThreshold', () => {
  const comparison = /** @type {any} */ ({
    ...{ a: 'pipy', b: 'envoy', link: 'link', cpuLimitCores: 0.25, load: {}, quantity: 'cpuPerRequest', service: null },
    ...{ ratio: { median: 0.5 }, verdict: 'lower', contrast: null },
  })
  const hold = (/** @type {string} */ expression, comparisons = [comparison]) =>
    evaluateThreshold(parse(expression), comparisons)

  it('holds the median ratio, either way round, at every link and cap', () => {
    expect(hold('pipy/envoy cpuPerRequest <= 0.5')).toMatchObject([{ value: 0.5, held: true }])
    expect(hold('envoy/pipy cpuPerRequest <= 1.9')).toMatchObject([{ value: 2, held: false }])
    expect(hold('pipy/envoy cpuPerRequest <= 0.6', [comparison, { ...comparison, cpuLimitCores: 1 }])).toHaveLength(2)
  })

  it.each([
    ['<=', true],
    ['>=', true],
    ['<', false],
    ['>', false],
  ])('at the limit itself, %s is held: %s', (operator, held) => {
    expect(hold(`pipy/envoy cpuPerRequest ${operator} 0.5`)).toMatchObject([{ held }])
  })

  it('holds the cost side by side if a run measured it, and other quantities everywhere', () => {
    const beside = { ...comparison, cpuLimitCores: null, load: { isInterleaved: true }, ratio: { median: 0.55 } }
    const both = [beside, comparison]
    expect(hold('pipy/envoy cpuPerRequest <= 0.6', both)).toMatchObject([{ value: 0.55 }])
    const memory = both.map(c => ({ ...c, quantity: 'rss' }))
    expect(hold('pipy/envoy rss <= 0.6', memory)).toHaveLength(2)
  })

  it('is of its two planes and its quantity alone', () => {
    const others = [
      { ...comparison, a: 'envoy', b: 'nginx' },
      { ...comparison, a: 'nginx', b: 'pipy' },
      { ...comparison, a: 'pipy', b: 'nginx' },
      { ...comparison, a: 'nginx', b: 'envoy' },
      { ...comparison, quantity: 'rss' },
      { ...comparison, contrast: 'tls' },
    ]
    expect(hold('pipy/envoy cpuPerRequest <= 0.5', others)).toEqual([])
  })

  it('is neither held nor crossed if the quantity was spoiled, or has no record', () => {
    const spoiled = { ...comparison, verdict: 'invalid' }
    expect(hold('pipy/envoy cpuPerRequest <= 0.6', [spoiled])).toMatchObject([{ value: null, held: null }])
    expect(hold('pipy/envoy cpuPerRequest@gateway <= 0.6')).toMatchObject([{ held: null }])
  })
})

describe('testThreshold', () => {
  const notMeasured = [{ plane: 'envoy', reason: 'it ended with status 134' }]
  const left = [
    createArm({ plane: 'pipy' }),
    createArm({ plane: 'nginx' }),
    createArm({ plane: 'pipy', link: 'ratings' }),
  ]
  const triedArms = [createArm({ plane: 'none', hasSidecars: false }), createArm({ plane: 'caddy' })]
  const hold = (/** @type {string} */ expression, run = left) =>
    testThreshold(expression, { arms: run, triedArms, notMeasured, comparisons: [] })

  it('is untested at every place where a plane of it was left out, and crosses nothing', () => {
    const results = hold('pipy/envoy cpuPerRequest <= 0.6')
    expect(results).toMatchObject([
      { link: left[0].link, value: null, held: null },
      { link: 'ratings', value: null, held: null },
    ])
    const summary = createSummary([], { thresholds: results })
    expect(chooseRunStatus(summary, { isVerdictRequired: false }).status).toBe(EXIT.noResult)
  })

  it('is untested if no rate of a plane could be reached', () => {
    expect(hold('pipy/caddy cpuPerRequest <= 0.6')).toMatchObject([{ held: null }, { held: null }])
  })

  it('knows no plane that was never of the run', () => {
    expect(() => hold('pipy/envoi cpuPerRequest <= 0.6')).toThrow('(pipy, nginx, envoy, caddy)')
  })

  it('is held if the plane stands in other arms', () => {
    const comparisons = /** @type {any} */ ([
      {
        a: 'pipy',
        b: 'envoy',
        quantity: 'cpuPerRequest',
        service: null,
        contrast: null,
        load: {},
        ratio: { median: 0.5 },
      },
    ])
    const run = { arms: [...left, createArm({ plane: 'envoy' })], triedArms, notMeasured, comparisons }
    expect(testThreshold('pipy/envoy cpuPerRequest <= 0.6', run)).toMatchObject([{ value: 0.5, held: true }])
  })
})
