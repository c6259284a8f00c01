import { describe, expect, it } from 'vitest'
import { renderContrastVerdicts } from '../../src/report/verdicts.js'
import { createArm } from '../fakes/fake-records.js'
import { createResult } from '../fakes/fake-summary.js'

/** @import { Comparison } from '../../src/model/types.ts' */

/**
 * An arm with a feature against the lean one.
 * @param {string} feature @param {Pick<Comparison, 'verdict' | 'reasons'> & { median: number }} fields
 * @returns {Comparison}
 */
function createContrast(feature, { median, ...fields }) {
  const { kind, link, cpuLimitCores, load, conditions } = createArm({})
  return {
    ...{ a: `pipy with ${feature}`, b: 'pipy with no features', kind, link, cpuLimitCores, load, conditions },
    ...{ contrast: 'features', isControl: false, quantity: 'cpuPerRequest', service: null, aaSpread: null },
    ratio: { median, low: median - 0.01, high: median + 0.01, values: Array(6).fill(median) },
    ...fields,
  }
}
const few = { verdict: /** @type {const} */ ('indicative'), reasons: ['3 rounds: 6 are needed'] }
const render = (/** @type {Comparison[]} */ ...comparisons) =>
  renderContrastVerdicts({ results: [createResult({ comparisons })], shows })
const shows = /** @type {import('../../src/model/types.ts').Summary['shows']} */ ({
  ...{ across: 'features', quantities: ['cpuPerRequest'], contrasts: [], hasCpuLine: false, hasSlopes: false },
})

describe('what an axis changes', () => {
  it('is a line for all that have no verdict for one reason', () => {
    expect(
      render(createContrast('log', { median: 1.48, ...few }), createContrast('limit', { median: 1.07, ...few })),
    ).toEqual([
      'CPU per request against pipy with no features, no interval yet: 3 repeats: 6 are needed: pipy with log 1.48 : 1, pipy with limit 1.07 : 1',
    ])
  })

  it('is a sentence for each verdict', () => {
    const higher = { verdict: /** @type {const} */ ('higher'), reasons: [] }
    expect(
      render(createContrast('log', { median: 1.48, ...higher }), createContrast('limit', { median: 1.07, ...few })),
    ).toEqual([
      'pipy with log uses 48 % more CPU per request than pipy with no features [47, 49], 6 repeats',
      'CPU per request of pipy with limit and pipy with no features: 1.07 : 1, no interval yet: 3 repeats: 6 are needed',
    ])
  })
})
