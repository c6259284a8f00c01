import { expect, it } from 'vitest'
import { describePrediction, medianRatio } from '../../bench/self/lab.js'

const isKept = (/** @type {{ isKept: boolean }[]} */ findings) => findings.map(one => one.isKept)

it('one variant that changes much does not carry the prediction of CPU time by instructions', () => {
  const counted = { a: 1.01, b: 1.02, c: 1.03, d: 1.04, large: 3 }
  const timed = { a: 1.05, b: 1.02, c: 1.04, d: 1.01, large: 3 }
  const findings = describePrediction(counted, timed)
  expect(isKept(findings.slice(1))).toEqual([true, false, false])
  expect(findings[3].promise).toContain('without large')
  expect(isKept(describePrediction(counted, counted).slice(1))).toEqual([true, true, true])
})

it('variants without a round that counts are left out, and fewer than twelve are too few', () => {
  const counted = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`v${i}`, 1 + i / 100]))
  expect(isKept(describePrediction(counted, { ...counted, v0: Number.NaN }))).toEqual([true, true, true, true])
  expect(isKept(describePrediction(counted, { ...counted, v0: Number.NaN, v1: Number.NaN }))[0]).toBe(false)
})

it('the ratio of a variant is the median of those within a round, of rounds that have both', () => {
  expect(medianRatio([12, 10, 30, null], [10, 10, null, 10])).toBeCloseTo(1.1)
  expect(medianRatio([null, 1], [1, null])).toBeNaN()
})
