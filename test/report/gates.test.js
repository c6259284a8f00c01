import { describe, expect, it } from 'vitest'
import { renderFired } from '../../src/report/missing.js'
import { createSummaryArm } from '../fakes/fake-summary.js'

const LOAD = { plane: 'pipy', load: { kind: /** @type {const} */ ('idle') } }
const TRIALS = { completed: 6, failed: 0, invalid: 0 }

describe('the gates that fired', () => {
  it('are a line each, and a line for each part of a trial that a gate judged', () => {
    const resolution = { gate: 'resolution', trials: 6 }
    const arms = [
      { ...resolution, part: 'rollout', reason: 'unknown are 196 of 498 ms' },
      { ...resolution, part: 'change', reason: 'unknown are 725 of 2275 ms' },
      { gate: 'clock', trials: 1, reason: 'the clocks are 30 ms apart' },
    ]
    const spoiled = { ...createSummaryArm(LOAD), trials: TRIALS, spoiled: arms }
    const less = [{ ...arms[1], trials: 2, reason: 'unknown are 600 of 2000 ms' }]
    const other = { ...createSummaryArm({ ...LOAD, plane: 'envoy' }), trials: TRIALS, spoiled: less }
    expect(renderFired({ arms: [spoiled, other] })).toEqual([
      'Gate resolution of the rollout (pipy 6/6 trials): unknown are 196 of 498 ms',
      'Gate resolution of the change (pipy 6/6, envoy 2/6 trials): unknown are 725 of 2275 ms',
      'Gate clock (pipy 1/6 trials): the clocks are 30 ms apart',
    ])
  })
})
