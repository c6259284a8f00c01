import { describe, expect, it } from 'vitest'
import { parseExperiment } from '../src/experiment.js'
import { createPlan, estimateSeconds, largestBindingCap } from '../src/plan.js'

const experiment = parseExperiment(
  `name: cap
question: q
axes: { plane: [none, pipy, envoy], link: [ratings, gateway-ratings], capCores: [2, 1] }
`,
  'cap.yaml',
)

/** @type {import('../src/plan.js').Overrides} */
const asked = {
  planes: null,
  caps: null,
  axes: {},
  rounds: null,
  profile: 'standard',
  seed: 7,
  app: 'pipy',
  isPinned: true,
}
const plan = (overrides = {}, cpus = 16) =>
  createPlan({ experiment, overrides: { ...asked, ...overrides }, cpus, missing: [] })

describe('createPlan', () => {
  it('makes an arm of every plane, cap and link, and one of none per link', () => {
    expect(plan().arms.map(a => a.id)).toEqual([
      'ratings-none',
      ...['pipy-2', 'pipy-1', 'envoy-2', 'envoy-1'].map(id => `ratings-${id}`),
      'gateway-ratings-none',
      ...['pipy-2', 'pipy-1', 'envoy-2', 'envoy-1'].map(id => `gateway-ratings-${id}`),
      // Each once more: A/A.
      ...['ratings-pipy-2', 'ratings-pipy-1', 'gateway-ratings-pipy-2', 'gateway-ratings-pipy-1'].map(id => `${id}-aa`),
    ])
  })

  it('runs every arm once a round, in an order that the seed decides', () => {
    const { trials, arms } = plan()
    const order = (/** @type {number} */ round) => trials.filter(t => t.round === round).map(t => t.arm.id)
    expect(trials).toHaveLength(6 * arms.length)
    expect(order(1).toSorted()).toEqual(arms.map(a => a.id).toSorted())
    expect(order(1)).not.toEqual(order(2))
    expect(plan()).toEqual(plan())
    expect(plan({ seed: 8 }).trials).not.toEqual(trials)
  })

  it('falls back to 0.25 cores where no published cap can bind, and says so', () => {
    const small = plan({}, 2)
    expect(new Set(small.arms.map(a => a.capCores))).toEqual(new Set([null, 0.25]))
    expect(small.notes[0]).toContain('measuring at 0.25 instead')
    expect(small.notMeasured.map(n => n.plane)).toEqual(['every plane at 2 cores', 'every plane at 1 cores'])
  })

  it('keeps the published caps that can bind', () => {
    expect(new Set(plan({}, 4).arms.map(a => a.capCores))).toEqual(new Set([null, 1]))
  })

  it('refuses a cap whose workers exceed the CPUs', () => {
    expect(() => plan({ caps: [2.5] }, 2)).toThrow('--cpu 2.5: this machine has 2 CPUs; give at most 2')
  })

  it('runs a cap that cannot bind when it was asked for, and names the one that can', () => {
    const { arms, notes } = plan({ caps: [1] }, 2)
    expect(arms.some(a => a.capCores === 1)).toBe(true)
    expect(notes[0]).toContain('--cpu 0.5')
  })

  it('uses 200 users, and 50 at caps of 0.25 and below, with a warm-up for their handshakes', () => {
    const { arms } = plan({ caps: [0.1, 1], axes: { link: ['ratings'] } })
    const load = (/** @type {string} */ id) => arms.find(a => a.id === id)?.load
    expect(load('ratings-pipy-0.1')).toMatchObject({ users: 50, warmupSeconds: 2.5 })
    expect(load('ratings-pipy-1')).toMatchObject({ users: 200, warmupSeconds: 1.5 })
    expect(load('ratings-none')).toMatchObject({ users: 200 })
  })

  it('takes the ends of each axis for a smoke run', () => {
    const { arms, rounds } = plan({ caps: [0.1, 0.25, 1], axes: { link: ['ratings'] }, profile: 'smoke' })
    expect(new Set(arms.map(a => a.capCores))).toEqual(new Set([null, 0.1, 1]))
    expect(rounds).toBe(1)
  })

  it('measures what is left when the program of a plane is missing', () => {
    const missing = [{ plane: 'pipy', reason: 'gone' }]
    const left = createPlan({ experiment, overrides: asked, cpus: 16, missing })
    expect(left.arms.map(a => a.plane)).not.toContain('pipy')
    expect(left.notMeasured).toEqual(missing)
  })

  it('names the nearest profile', () => {
    expect(() => plan({ profile: 'quik' })).toThrow('unknown profile "quik"; did you mean "quick"?')
  })

  it('estimates the default run of one cap and one link below four minutes', () => {
    expect(estimateSeconds(plan({ caps: [1], axes: { link: ['ratings'] } }).trials)).toBeLessThan(240)
  })
})

describe('largestBindingCap', () => {
  it.each([
    [1, 0.25],
    [2, 0.5],
    [4, 1],
    [8, 2],
  ])('is, on %i CPUs, %d cores', (cpus, cap) => expect(largestBindingCap(cpus)).toBe(cap))

  it('repeats an arm (A/A) only where planes are compared', () => {
    const controls = (/** @type {object} */ overrides) =>
      plan(overrides)
        .arms.filter(a => a.repeatOf)
        .map(a => a.repeatOf)
    expect(controls({ axes: { link: ['ratings'] }, caps: [1] })).toEqual(['ratings-pipy-1'])
    expect(controls({ axes: { link: ['ratings'] }, caps: [1], profile: 'quick' })).toEqual([])
    expect(controls({ axes: { link: ['ratings'] }, caps: [1], planes: [{ plane: 'envoy', variant: null }] })).toEqual(
      [],
    )
  })

  it('makes an open loop of a rate, with a warm-up in which every user has its turns', () => {
    const { arms } = plan({ axes: { link: ['ratings'], ratePerSecond: [100, 1000] }, caps: [1], profile: 'quick' })
    expect(arms.map(a => a.id)).toEqual(
      ['none-100rps', 'pipy-1-100rps', 'envoy-1-100rps', 'none-1000rps', 'pipy-1-1000rps', 'envoy-1-1000rps'].map(
        id => `ratings-${id}`,
      ),
    )
    expect(arms[1].load).toMatchObject({ kind: 'open', users: 64, ratePerSecond: 100, warmupSeconds: 2.88 })
    expect(arms[4].load.warmupSeconds).toBe(1.5)
  })

  it('refuses two variants of one name', () => {
    const planes = ['/a/x', '/b/x'].map(variant => ({ plane: 'pipy', variant }))
    expect(() => plan({ planes })).toThrow('two variants are both called pipy=x')
  })
})
