import { describe, expect, it } from 'vitest'
import { renderSureness } from '../../src/answer/noise.js'
import { createArm } from '../fakes/fake-records.js'

/** @import { Comparison, Quantity, SummaryArm } from '../../src/model/types.ts' */

/** @param {(number | null)[]} values @param {number | null} median @returns {Quantity} */
const quantity = (values, median) => ({ median, low: null, high: null, values })

/** @param {string} plane @param {number} median of the CPU of a request */
function measured(plane, median) {
  const arm = createArm({ plane })
  return /** @type {SummaryArm} */ (
    /** @type {unknown} */ ({ ...arm, cpuPerRequestMicros: quantity([median, median], median) })
  )
}

/** @param {Partial<Comparison>} fields */
function compare(fields) {
  const { kind, link, cpuLimitCores, load, conditions } = createArm({})
  const names = { a: 'pipy', b: 'envoy', quantity: 'cpuPerRequest', service: null, contrast: null, isControl: false }
  return /** @type {Comparison} */ (
    /** @type {unknown} */ ({ kind, link, cpuLimitCores, load, conditions, ...names, verdict: 'lower', ...fields })
  )
}

/** @param {Comparison[]} comparisons */
const render = (...comparisons) =>
  renderSureness(
    { comparisons, arms: [measured('pipy', 100), measured('envoy', 200)] },
    { repeats: 'repeat', drawn: ['cpuPerRequest'] },
  )

describe('how sure a verdict is', () => {
  it('is printed with the noise floor, and a note if that comes from one repeat', () => {
    const pair = compare({ ratio: quantity([0.5, 0.5], 0.5) })
    const control = (/** @type {(number | null)[]} */ values) =>
      compare({ b: 'pipy (A/A)', isControl: true, ratio: quantity(values, 1.012) })
    expect(render(pair, control([1.012, null]))).toMatchObject({
      basis: ['Noise floor (A/A): 1.2 %, from one repeat.', '2 repeats.'],
    })
    expect(render(pair, control([1.01, 1.014]))).toMatchObject({ basis: ['Noise floor (A/A): 1.2 %.', '2 repeats.'] })
  })

  it('says how picture and verdict are computed if they differ by a point or more', () => {
    const explained = 'Quote the verdict, whose ratios are taken repeat by repeat, and not the ratio of two rows.'
    expect(render(compare({ ratio: quantity([0.47, 0.49], 0.48) }))).toEqual({
      basis: ['2 repeats.'],
      notes: [explained],
    })
    expect(render(compare({ ratio: quantity([0.49, 0.505], 0.498) })).notes).toEqual([])
    expect(render(compare({ ratio: quantity([0.47, 0.49], 0.48), verdict: 'invalid' })).notes).toEqual([])
  })
})
