import { describe, expect, it } from 'vitest'
import { chooseRunStatus } from '../../src/analysis/status.js'
import { createResult, createSummary } from '../fakes/fake-summary.js'

const arm = (completed = 6) => ({ kind: 'capacity', trials: { completed }, load: {}, conditions: {} })
const arms = [arm(), arm()]
const pair = (verdict = 'lower', median = /** @type {number | null} */ (0.5)) => ({
  ...arm(),
  b: 'envoy',
  verdict,
  ratio: { median },
})
const held = (/** @type {boolean | null} */ is) => ({ expression: 'x', held: is, value: is === null ? null : 0.5 })
/** @param {any} fields of the summary and of its only result */
const status = ({ thresholds = [], ...fields }, isVerdictRequired = false) => {
  const kind = fields.searches ? 'search' : 'capacity'
  const result = createResult(/** @type {any} */ ({ kind, arms, comparisons: [pair()], ...fields }))
  return chooseRunStatus({ ...createSummary([]), thresholds, results: [result] }, { isVerdictRequired }).status
}

describe('chooseRunStatus', () => {
  it('is 0 if one quantity of one pair could be compared, indicative or not', () => {
    expect(status({})).toBe(0)
    expect(status({ comparisons: [pair('invalid', null), pair('indicative')] })).toBe(0)
  })

  it('is 3 if no search found its limit', () => {
    expect(status({ comparisons: [], searches: [{ isFound: false }] })).toBe(3)
    expect(status({ comparisons: [], searches: [{ isFound: false }, { isFound: true }] })).toBe(0)
  })

  it('is 0 if there was no pair to compare', () => {
    expect(status({ comparisons: [] })).toBe(0)
  })

  it('is 3 if everything was spoiled, or no trial was completed', () => {
    expect(status({ comparisons: [pair('invalid'), { ...pair(), isControl: true }] })).toBe(3)
    expect(status({ arms: [arm(), arm(0)] })).toBe(3)
  })

  it('is 3 if a verdict was required and none was reached', () => {
    expect(status({ comparisons: [pair('indicative')] }, true)).toBe(3)
    expect(status({ comparisons: [pair('no-difference-shown')] }, true)).toBe(0)
  })

  it('is 5 if a threshold was crossed, and 3 if one could not be tested', () => {
    expect(status({ thresholds: [held(true)] })).toBe(0)
    expect(status({ thresholds: [held(true), held(false)] })).toBe(5)
    expect(status({ thresholds: [held(null), held(false)] })).toBe(3)
  })
})
