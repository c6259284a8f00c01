import { describe, expect, it } from 'vitest'
import { computeAxisCosts, drawAxisCosts, renderAxisCosts } from '../../../src/kinds/cost/axis-costs.js'
import { summariseValues } from '../../../src/lib/stats.js'
import { listArms } from '../../../src/model/results.js'
import { createResult, createSummary } from '../../fakes/fake-summary.js'

/** @import { AxisName, Comparison, Result } from '../../../src/model/types.ts' */

const NOISE = [-0.4, 0.3, 0, 0.2, -0.2, 0]
/** @type {Record<string, [number, number]>} µs of Pipy and Envoy */
const MICROS = { lean: [60, 140], 'access-log': [84, 156], 'rate-limit': [65, 152], 'retry-budget': [69, 149] }

/** @param {string} plane @param {string} features */
const costOf = (plane, features) => MICROS[features][plane === 'pipy' ? 0 : 1]

/** @param {{ rounds?: number, planes?: string[], wrong?: string, contrasts?: AxisName[] }} [options] wrong: a feature that did other work */
function compute({ rounds = 6, planes = ['pipy', 'envoy'], wrong, contrasts = ['features'] } = {}) {
  const summary = createSummary(
    Object.entries(MICROS).flatMap(([features, micros]) =>
      planes.map((plane, i) => ({
        plane,
        load: { kind: 'interleaved', isInterleaved: true },
        conditions: features === 'lean' ? {} : { features },
        // Slower and faster deployments say nothing: ratios are of arms that stood together.
        cpuPerRequest: NOISE.slice(0, rounds).map(noise => (micros[i] ?? 100) * (1 + noise)),
      })),
    ),
  )
  const arms = listArms(summary)
  const comparisons = /** @type {Comparison[]} */ (
    arms.flatMap(({ plane, link, cpuLimitCores, load, conditions }) => {
      const { features } = conditions
      return features === undefined
        ? []
        : [
            {
              ...{ link, cpuLimitCores, load, conditions },
              ...{ a: `${plane} with ${features}`, b: `${plane} with no features`, contrast: 'features' },
              ...{ quantity: 'cpuPerRequest', service: null, isControl: false },
              ratio: summariseValues(
                NOISE.slice(0, rounds).map(noise => (costOf(plane, features) + noise / 10) / costOf(plane, 'lean')),
              ),
              verdict: features === wrong ? 'invalid' : 'higher',
            },
          ]
    })
  )
  const result = /** @type {Result} */ (createResult({ arms, comparisons }))
  return computeAxisCosts(result, { shows: { ...summary.shows, contrasts } })
}

describe('the costs of an axis', () => {
  it('are microseconds of each proxy beyond the first value, and their difference by repeat', () => {
    const [log] = compute()
    expect(log).toMatchObject({ label: 'access-log', base: 'no features', names: ['pipy', 'envoy'] })
    expect(log.micros.map(Math.round)).toEqual([24, 16])
    expect(log.difference).toMatchObject({
      median: expect.closeTo(8, 9),
      low: expect.closeTo(8, 9),
      high: expect.closeTo(8, 9),
    })
  })

  it('have a row each, with a verdict, and a sentence for all', () => {
    const costs = compute()
    const [picture] = drawAxisCosts(costs)
    expect(picture.columns.map(({ heading }) => heading)).toEqual(['pipy', 'envoy', 'pipy − envoy', ''])
    expect(picture.rows.map(({ label, cells }) => [label, ...cells.map(cell => cell?.text)])).toEqual([
      ['access-log', '+24.0', '+16.0', '+8.0 [+8.0, +8.0]', 'more'],
      ['rate-limit', '+5.0', '+12.0', '−7.0 [−7.0, −7.0]', 'fewer'],
      ['retry-budget', '+9.0', '+9.0', '0.0 [0.0, 0.0]', 'no difference shown'],
    ])
    expect(renderAxisCosts(costs)).toEqual([
      'What each costs pipy, against envoy: more microseconds: access-log; fewer: rate-limit; no difference shown: retry-budget.',
    ])
  })

  it('have a picture and a sentence for each condition', () => {
    const costs = ['ecdsa-p256', 'rsa-2048'].flatMap(condition => compute().map(cost => ({ ...cost, condition })))
    const [, picture, ...others] = drawAxisCosts(costs)
    expect(others).toEqual([])
    expect(picture.columns[0].group).toBe('µs a request beyond no features (rsa-2048)')
    expect(picture.rows).toHaveLength(3)
    expect(renderAxisCosts(costs).map(sentence => sentence.slice(0, 60))).toEqual([
      'What each costs pipy, against envoy (ecdsa-p256): more micro',
      'What each costs pipy, against envoy (rsa-2048): more microse',
    ])
  })

  it('have no verdict of few repeats, none of work that was not done, and are those of two proxies alone', () => {
    const few = compute({ rounds: 3 })
    expect(drawAxisCosts(few)[0].rows[0].cells.at(-1)?.text).toBe('no interval yet')
    expect(renderAxisCosts(few)).toEqual([])
    expect(compute({ wrong: 'rate-limit' }).map(({ label }) => label)).toEqual(['access-log', 'retry-budget'])
    expect(compute({ planes: ['pipy'] })).toEqual([])
    expect(compute({ planes: ['pipy', 'envoy', 'nginx'] })).toEqual([])
    expect(compute({ contrasts: [] })).toEqual([])
    expect(drawAxisCosts([])).toEqual([])
  })
})
