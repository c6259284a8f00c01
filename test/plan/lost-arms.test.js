import { describe, expect, it } from 'vitest'
import { splitUnreachableArms } from '../../src/plan/lost-arms.js'
import { parseExperiment } from '../../src/request/experiment.js'
import { createFakePlan } from '../fakes/fake-plan.js'

/** @import { BoundBy, Calibration } from '../../src/model/types.ts' */

const experiment = parseExperiment(
  `name: ladder
question: q
axes:
  { plane: [none, pipy, envoy], link: [pair], services: [1, 10], ratePerSecond: [100, 1000], cpuLimitCores: [1] }
mostOfCapacity: 0.8
`,
  'ladder.yaml',
)
const plan = createFakePlan(experiment)
/**
 * @param {Record<string, number | null>} reached requests/s, by a part of the calibration's name
 * @param {BoundBy} [boundBy] @returns {Calibration[]}
 */
const reaching = (reached, boundBy = 'sidecar') =>
  plan.calibrations.map(({ id }) => {
    const name = Object.keys(reached).find(part => id.includes(part))
    return { armId: id, ratePerSecond: name ? reached[name] : 1e6, boundBy, trialId: `r1-${id}` }
  })
/** @param {Calibration[]} calibrations */
const leaveOut = calibrations => splitUnreachableArms({ plan, calibrations })

describe('splitUnreachableArms', () => {
  it('leaves nothing out if every plane reaches more than enough', () => {
    expect(leaveOut(reaching({}))).toEqual({ arms: plan.arms, notMeasured: [] })
  })

  it('keeps a rate at the share of what the plane reached, and says why one above is left out', () => {
    expect(leaveOut(reaching({ envoy: 1250 })).notMeasured).toEqual([])
    const { arms, notMeasured } = leaveOut(reaching({ envoy: 1249 }))
    const why = 'not reachable here: over 80 % of the 1249 requests/s that it reached, bound by sidecar'
    expect(notMeasured).toEqual([
      { plane: 'envoy at 1000 requests/s', reason: why },
      { plane: 'envoy with 10 services at 1000 requests/s', reason: why },
    ])
    expect(arms.filter(a => a.plane === 'envoy').map(a => a.load.ratePerSecond)).toEqual([100, 100])
    expect(arms.filter(a => a.plane === 'none')).toHaveLength(4)
  })

  it('judges each number of services by its own calibration', () => {
    const { notMeasured } = leaveOut(reaching({ 'envoy-1-10-services': 200 }))
    expect(notMeasured.map(n => n.plane)).toEqual(['envoy with 10 services at 1000 requests/s'])
  })

  it('leaves out the arm that repeats one (A/A) with it, and says it once', () => {
    expect(plan.arms.filter(a => a.repeatOf).map(a => a.plane)).toEqual(['pipy', 'pipy', 'pipy', 'pipy'])
    const { arms, notMeasured } = leaveOut(reaching({ pipy: 200 }, 'host'))
    expect(arms.filter(a => a.plane === 'pipy').map(a => [a.load.ratePerSecond, a.repeatOf !== null])).toEqual([
      [100, false],
      [100, false],
      [100, true],
      [100, true],
    ])
    expect(notMeasured).toHaveLength(2)
    expect(notMeasured[0].reason).toContain('bound by host')
  })

  it('leaves out everything of a plane that answered nothing', () => {
    for (const nothing of [0, null]) {
      const { arms, notMeasured } = leaveOut(reaching({ pipy: nothing }))
      expect(arms.some(a => a.plane === 'pipy')).toBe(false)
      expect(notMeasured).toHaveLength(4)
      expect(notMeasured[0].reason).toBe('not reachable here: it answered nothing in a closed loop')
    }
  })
})
