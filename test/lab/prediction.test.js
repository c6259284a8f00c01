import { expect, it } from 'vitest'
import { describePrediction } from '../../bench/self/lab.js'

it('one variant that changes much does not carry the prediction of CPU time by instructions', () => {
  const counted = { a: 1.01, b: 1.02, c: 1.03, d: 1.04, large: 3 }
  const timed = { a: 1.05, b: 1.02, c: 1.04, d: 1.01, large: 3 }
  const findings = describePrediction(counted, timed)
  expect(findings.map(({ isKept }) => isKept)).toEqual([true, false, false])
  expect(findings[2].promise).toContain('without large')
  expect(describePrediction(counted, counted).every(({ isKept }) => isKept)).toBe(true)
})
