import { expect, it } from 'vitest'
import { createAnswer } from '../../../src/report/answer/answer.js'
import { createSummary } from '../../fakes/fake-summary.js'

it('says without a verdict that one proxy was measured, and not of two profiles of a plane', () => {
  const envoy = { plane: 'envoy', cpuPerRequest: [30, 30] }
  expect(createAnswer(createSummary([envoy])).verdicts).toEqual([
    'One proxy was measured: there is nothing to compare it with.',
  ])
  const profiles = ['istio', 'osm-1.1'].map(profile => ({ ...envoy, fields: { id: profile, profile } }))
  expect(createAnswer(createSummary(profiles)).verdicts).toEqual(['There is no verdict.'])
})
