import { describe, expect, it } from 'vitest'
import { createPlan } from '../../src/plan/plan.js'
import { createControlExperiment, createSizeExperiment } from '../../src/plan/size-experiment.js'
import { hasSidecars } from '../fakes/fake-records.js'

const asked = {
  ...{ ratePerSecond: 300, p99Ms: 20, link: 'pair', users: null, payloadBytes: null, features: null },
  isExtrapolated: false,
}

describe('createControlExperiment', () => {
  it('asks for rollouts of six sizes up to the one asked for', () => {
    expect(createControlExperiment(800)).toMatchObject({
      axes: { sidecars: [100, 200, 300, 400, 600, 800], capCores: 'none' },
      ...{ sizesControlOf: 800, search: null, grows: null },
    })
    expect(createControlExperiment(6).axes.sidecars).toEqual([1, 2, 3, 5, 6])
    expect(() => createControlExperiment(5)).toThrow('--sidecars 5: the need is told by a slope: ask for at least 6')
  })
})

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

  it('sizes sidecars with features, and says so', () => {
    const { axes, question } = createSizeExperiment({ ...asked, features: 'access-log' })
    expect(axes.features).toEqual(['access-log'])
    expect(question).toContain('of at most 20 ms, in sidecars with access-log?')
    expect(createSizeExperiment(asked).axes.features).toBeUndefined()
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
