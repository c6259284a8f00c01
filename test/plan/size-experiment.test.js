import { describe, expect, it } from 'vitest'
import { createPlan } from '../../src/plan/plan.js'
import { createSizeExperiment } from '../../src/plan/size-experiment.js'
import { hasSidecars } from '../fakes/fake-records.js'

const asked = { ratePerSecond: 300, p99Ms: 20, link: 'pair', users: null, payloadBytes: null, isExtrapolated: false }

describe('createSizeExperiment', () => {
  it('asks the question as an experiment of this machine, with a search', () => {
    expect(createSizeExperiment(asked)).toMatchObject({
      name: 'size',
      question: 'Which CPU and memory limit holds 300 requests/s with a p99 of at most 20 ms?',
      axes: { plane: ['pipy', 'envoy'], link: ['pair'], ratePerSecond: [300], capCores: [1] },
      ...{ trafficPolicy: 'open', targets: ['local'] },
      search: { kind: 'size', p99Ms: 20, isExtrapolated: false },
    })
  })

  it('leaves users and payload to their defaults where they were not asked for', () => {
    const { axes } = createSizeExperiment(asked)
    expect([axes.users, axes.payloadBytes]).toEqual([undefined, undefined])
    const own = createSizeExperiment({ ...asked, users: 10, payloadBytes: 100 })
    expect(own.axes).toMatchObject({ users: [10], payloadBytes: [100] })
  })

  it.each([1, 2, 16])('can be planned on %i CPUs, with windows that hold a p99', cpus => {
    const overrides = { planes: null, caps: null, axes: {}, rounds: null, profile: 'quick', seed: 1 }
    const plan = createPlan({
      ...{ experiment: createSizeExperiment(asked), cpus, missing: [], hasSidecars },
      overrides: { ...overrides, app: 'pipy', isPinned: true },
    })
    expect(plan.arms.map(a => [a.id, a.load.windowSeconds])).toEqual([
      ['pair-pipy-1-300rps', 3.5],
      ['pair-envoy-1-300rps', 3.5],
    ])
    expect(plan.trials).toEqual([])
  })

  it('refuses what is no limit', () => {
    expect(() => createSizeExperiment({ ...asked, p99Ms: 0 })).toThrow('search.p99Ms')
  })
})
