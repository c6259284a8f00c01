import { describe, expect, it } from 'vitest'
import { createGroupKey, renderArmName } from '../../src/model/arms.js'
import { findLargestBindingCpuLimit } from '../../src/model/cpu-limits.js'
import { estimateMostSeconds, estimatePlanSeconds, estimateSeconds, extendSearchWarmup } from '../../src/plan/plan.js'
import { parseExperiment } from '../../src/request/experiment.js'
import { createFakePlan } from '../fakes/fake-plan.js'
import { createArm } from '../fakes/fake-records.js'

/** @typedef {NonNullable<Parameters<typeof createFakePlan>[1]>} Options */

const experiment = parseExperiment(
  `name: cap
question: q
axes: { plane: [none, pipy, envoy], link: [ratings, gateway-ratings], cpuLimitCores: [2, 1] }
`,
  'cap.yaml',
)

/** @param {Options['overrides']} [overrides] */
const plan = (overrides, cpus = 16) => createFakePlan(experiment, { overrides, cpus })

/**
 * Plans an experiment, by default in its quick profile.
 * @param {string} axes YAML @param {string} [rest] @param {Options} [options]
 */
const planOf = (axes, rest = '', { overrides, ...options } = {}) =>
  createFakePlan(parseExperiment(`name: own\nquestion: q\naxes: { ${axes} }\n${rest}`, 'own.yaml'), {
    overrides: { profile: 'quick', ...overrides },
    ...options,
  })
/** @param {import('../../src/model/types.ts').RequestKind} kind */
const renderKind = ({ method, responseBytes, serviceTime }) => `${method} ${responseBytes} ${serviceTime}`
const choiceOf = (/** @type {string} */ plane) => ({ plane, variant: null, profile: null })
/** @param {ReturnType<typeof planOf>} plan */
const idsOf = ({ arms }) => arms.map(a => a.id)

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

  it('has pairs under no load in turns, each with one server, and ends sidecars that do not stay, of arms that have some', () => {
    const both = 'plane: [none, pipy], link: [pair], cpuLimitCores: [1]'
    expect(() => planOf(`${both}, pairs: [2]`, 'measure: [cost]')).toThrow(
      'has a load in turns, which would go to one pair alone',
    )
    expect(() => planOf(`${both}, pairs: [2], services: [2]`, 'load: { kind: idle }')).toThrow('each with one server')
    const ending = `${both}, ending: [sigterm], services: [2], ratePerSecond: [100]`
    expect(() => planOf(ending, 'keepsServices: true')).toThrow('leave keepsServices out')
    expect(planOf(ending).arms.map(({ plane, conditions }) => [plane, conditions.ending])).toEqual([
      ['none', undefined],
      ['pipy', 'sigterm'],
    ])
  })

  it('gives all arms requests that are answered if an axis names a part of one', () => {
    const both = 'plane: [pipy], link: [pair], cpuLimitCores: [1]'
    const loadsOf = (/** @type {string} */ axes) =>
      planOf(axes)
        .arms.filter(arm => !arm.repeatOf)
        .map(({ load }) => load)
    expect(loadsOf(both).map(({ payloadBytes, requests }) => [payloadBytes, requests])).toEqual([[1024, undefined]])
    const varied = loadsOf(`${both}, responseBytes: [100, 14336], serviceTime: [0ms, 30ms]`)
    expect(varied.map(({ payloadBytes, requests = [] }) => [payloadBytes, ...requests.map(renderKind)])).toEqual([
      [undefined, 'GET 100 undefined'],
      [undefined, 'GET 100 30ms'],
      [undefined, 'GET 14336 undefined'],
      [undefined, 'GET 14336 30ms'],
    ])
    expect(new Set(planOf(`${both}, serviceTime: [0ms, 30ms]`).arms.map(arm => createGroupKey(arm))).size).toBe(2)
  })

  it('gives all arms the kinds of a mix, under a name that changes with it', () => {
    const mixOf = (/** @type {number} */ bytes) =>
      planOf(
        `plane: [pipy], link: [pair], cpuLimitCores: [1], traffic: [{ name: shop, kinds: [{ weight: 1, method: GET, path: /a, response: ${bytes} }] }]`,
      ).arms[0].load
    const [small, large] = [mixOf(1), mixOf(2)]
    expect(small.requests).toMatchObject([{ method: 'GET', path: '/a', responseBytes: 1 }])
    expect(small.traffic).toMatch(/^shop-[0-9a-f]{8}$/)
    expect(large.traffic).not.toBe(small.traffic)
    expect(mixOf(1).traffic).toBe(small.traffic)
  })

  it('measures cost first, and each kind once, however a file names them', () => {
    const plan = (/** @type {any} */ overrides) =>
      createFakePlan(
        parseExperiment(
          'name: own\nquestion: q\nmeasure: [capacity, cost, cost]\naxes: { plane: [pipy, envoy], link: [pair], cpuLimitCores: [1] }\n',
          'own.yaml',
        ),
        { overrides },
      )
    const kindsOf = (/** @type {any} */ overrides) => [...new Set(plan(overrides).arms.map(({ kind }) => kind))]
    expect(kindsOf({ profile: 'quick' })).toEqual(['cost', 'capacity'])
    const ids = plan({ profile: 'quick' }).trials.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(kindsOf({ profile: 'quick', precision: 0.02 })).toEqual(['cost'])
  })

  it('warms interleaved arms up for as long as the slowest of them needs', () => {
    const { arms } = createFakePlan(
      parseExperiment(
        'name: own\nquestion: q\nmeasure: [cost]\naxes: { plane: [pipy], link: [pair], cpuLimitCores: [1], serviceTime: [0ms, 1s] }\n',
        'own.yaml',
      ),
      { overrides: { profile: 'quick' } },
    )
    const warmups = arms.map(({ load }) => load.warmupSeconds)
    expect(new Set(warmups).size).toBe(1)
    // Three answers of each of two arms, each up to three times the mean.
    expect(warmups[0]).toBeGreaterThanOrEqual(18)
  })

  it('has users for the service time, and warms them up for longer', () => {
    const { load } = planOf(
      'plane: [pipy], link: [pair], cpuLimitCores: [1], ratePerSecond: [1000], serviceTime: [100ms]',
    ).arms[0]
    // 1000/s for 100 ms are 100 at a time, and a drawn time may be three times as long.
    expect(load.users).toBe(600)
    expect(planOf('plane: [pipy], link: [pair], cpuLimitCores: [1], ratePerSecond: [1000]').arms[0].load.users).toBe(64)
  })

  it.each([
    ['payloadBytes: [100], responseBytes: [100]', '', 'own varies the payload'],
    ['method: [GET], requestBytes: [100]', '', 'a GET has no body'],
    [
      'responseBytes: [1], traffic: [{ name: s, kinds: [{ weight: 1, method: GET, path: / }] }]',
      '',
      'says of each kind of request what axes.responseBytes says of all',
    ],
    ['method: [HEAD], responseBytes: [100]', '', 'an answer to HEAD has no body'],
    [
      'serviceTime: ["exp:30ms"], ratePerSecond: [10]',
      'search: { kind: size, p99Ms: 80, isExtrapolated: false }',
      /--service-time: the application itself has a p99 of 138.2 ms.*give a --p99 well above 138.2ms/,
    ],
    [
      'traffic: [{ name: s, kinds: [{ weight: 1, method: GET, path: /, serviceTime: 90ms }] }], ratePerSecond: [10]',
      'search: { kind: size, p99Ms: 80, isExtrapolated: false }',
      '--traffic: the application itself',
    ],
    [
      'serviceTime: [30ms], ratePerSecond: [10]',
      'search: { kind: services, services: [{ name: a, p99Ms: 20, ratePerSecond: 10, payloadBytes: 1024 }] }',
      'leaves nothing for sidecars',
    ],
    [
      'serviceTime: [30ms], ratePerSecond: [10]',
      'search: { kind: size, p99Ms: 30, isExtrapolated: false }',
      'leaves nothing for sidecars',
    ],
  ])('refuses %s', (axes, rest, words) => {
    expect(() => planOf(`plane: [pipy], link: [pair], cpuLimitCores: [1], ${axes}`, rest)).toThrow(words)
  })

  it('gives versions of one plane shorter turns than others, on CPUs without the generator', () => {
    const choices = [choiceOf('pipy'), { ...choiceOf('pipy'), variant: '/mine' }]
    const loadsOf = (/** @type {string} */ axes, overrides = {}, options = {}) =>
      planOf(`link: [ratings], ${axes}`, 'measure: [cost]', { overrides, pinnableCpus: 2, ...options }).arms.map(
        ({ load }) => [load.sliceMs, load.placement ?? 'unpinned'],
      )
    const planes = 'plane: [pipy, envoy], cpuLimitCores: [1]'
    expect(new Set(loadsOf(planes).map(String))).toEqual(new Set(['500,unpinned']))
    for (const plane of ['[envoy, envoy:osm-1.1]', '[pipy]', '[none, pipy]'])
      expect(loadsOf(`plane: ${plane}, cpuLimitCores: [1]`)[0]).toEqual([500, 'unpinned'])
    expect(new Set(loadsOf(planes, { planes: choices }).map(String))).toEqual(new Set(['20,apart']))
    expect(loadsOf(planes, { sliceMs: 50 })[0]).toEqual([50, 'unpinned'])
    expect(loadsOf(planes, { axes: { placement: ['apart'] } })[0]).toEqual([500, 'apart'])
    for (const overrides of [
      { axes: { placement: ['unpinned'] } },
      { axes: { workers: [1, 2] } },
      { axes: { tls: ['plaintext', 'ecdsa-p256'] } },
      { cpuLimits: [2] },
    ])
      expect(loadsOf(planes, { planes: choices, ...overrides })[0]).toEqual([500, 'unpinned'])
    expect(loadsOf(planes, { planes: choices }, { pinnableCpus: 1 })[0]).toEqual([500, 'unpinned'])
    expect(loadsOf(planes, { planes: choices }, { hasOnlyPipelines: () => true })[0]).toEqual([500, 'unpinned'])
    expect(loadsOf(planes, { planes: choices, axes: { placement: ['apart'] } })[0]).toEqual([500, 'apart'])
    expect(loadsOf(`${planes}, ratePerSecond: [10]`, { planes: choices })[0][1]).toBe('unpinned')
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

  it('falls back to 0.25 cores if no published cap can bind, and says so', () => {
    const small = plan({}, 2)
    expect(new Set(small.arms.map(a => a.cpuLimitCores))).toEqual(new Set([null, 0.25]))
    expect(small.notes[0]).toContain('measuring at 0.25 instead')
    expect(small.notMeasured.map(n => n.plane)).toEqual(['every plane at 1 and 2 CPU each'])
  })

  it('has services in namespaces only if connections of some are redirected, and says so in the name of each arm', () => {
    const of = (/** @type {string[]} */ interception) =>
      plan({ axes: { link: ['ratings'], interception }, cpuLimits: [0.5], profile: 'quick', measure: ['capacity'] })
        .arms
    expect(of(['redirect']).map(({ id }) => id)).toEqual(
      ['none-redirection', 'pipy-0.5-redirection', 'envoy-0.5-redirection'].map(id => `ratings-${id}`),
    )
    expect(of(['none']).map(({ conditions }) => conditions.interception)).toEqual([undefined, undefined, undefined])
    expect(of(['none', 'redirect']).map(({ conditions }) => conditions.interception)).toEqual(
      ['none', 'redirect'].flatMap(value => [value, value, value]),
    )
  })

  it('has arms without sidecars stand beside the others if rules differ', () => {
    const of = (/** @type {string[]} */ interception) =>
      plan({ axes: { link: ['ratings'], interception }, profile: 'quick', measure: ['cost'] }).arms.map(a => a.plane)
    expect(of(['none', 'redirect'])).toEqual(['none', 'pipy', 'envoy', 'none', 'pipy', 'envoy'])
    expect(of(['redirect'])).toEqual(['pipy', 'envoy'])
  })

  it('keeps the published caps that can bind', () => {
    expect(new Set(plan({}, 4).arms.map(a => a.cpuLimitCores))).toEqual(new Set([null, 1]))
  })

  it('refuses a cap whose workers exceed the CPUs', () => {
    expect(() => plan({ cpuLimits: [2.5] }, 2)).toThrow('--cpu 2.5: this machine has 2 CPUs; give at most 2')
  })

  it('runs a cap that cannot bind if requested, and names the one that can', () => {
    const { arms, notes } = plan({ cpuLimits: [1] }, 2)
    expect(arms.some(a => a.cpuLimitCores === 1)).toBe(true)
    expect(notes[0]).toContain('--cpu 0.5')
  })

  it('uses 200 users, and 50 at caps of 0.25 and below, with a warm-up for their handshakes', () => {
    const { arms } = plan({ cpuLimits: [0.1, 1], axes: { link: ['ratings'] } })
    const load = (/** @type {string} */ id) => arms.find(a => a.id === id)?.load
    expect(load('ratings-pipy-0.1')).toMatchObject({ users: 50, warmupSeconds: 2.5 })
    expect(load('ratings-pipy-1')).toMatchObject({ users: 200, warmupSeconds: 1.5 })
    expect(load('ratings-none')).toMatchObject({ users: 200 })
  })

  it('takes the ends of each axis for a smoke run', () => {
    const { arms, rounds } = plan({ cpuLimits: [0.1, 0.25, 1], axes: { link: ['ratings'] }, profile: 'smoke' })
    expect(new Set(arms.map(a => a.cpuLimitCores))).toEqual(new Set([null, 0.1, 1]))
    expect(rounds).toBe(1)
  })

  it('measures what is left when the program of a plane is missing', () => {
    const missing = [{ plane: 'pipy', reason: 'gone' }]
    const left = createFakePlan(experiment, { missing })
    expect(left.arms.map(a => a.plane)).not.toContain('pipy')
    expect(left.notMeasured).toEqual(missing)
  })

  it('names the nearest profile', () => {
    expect(() => plan({ profile: 'quik' })).toThrow('unknown profile "quik"; did you mean "quick"?')
  })

  it('estimates the default run of one cap and one link below four minutes', () => {
    expect(estimateSeconds(plan({ cpuLimits: [1], axes: { link: ['ratings'] } }).trials)).toBeLessThan(240)
  })

  it('counts the time in which idle sidecars are measured, if requests over new connections come seldom', () => {
    const [trial] = plan({ cpuLimits: [1], axes: { link: ['ratings'] } }).trials.filter(({ arm }) => arm.hasSidecars)
    const secondsOf = (/** @type {Partial<typeof trial.arm.load>} */ load, hasSidecars = true) =>
      estimateSeconds([{ arm: { ...trial.arm, hasSidecars, load: { ...trial.arm.load, ...load } } }])
    const kept = secondsOf({ ratePerSecond: 100 })
    expect(secondsOf({ ratePerSecond: 100, connections: 'new' }) - kept).toBeCloseTo(2, 9)
    expect(secondsOf({ ratePerSecond: 5000, connections: 'new' })).toBe(kept)
    expect(secondsOf({ ratePerSecond: 100, connections: 'new' }, false)).toBe(kept)
  })

  it('repeats an arm (A/A) only if planes are compared', () => {
    const controls = (/** @type {object} */ overrides) =>
      plan(overrides)
        .arms.filter(a => a.repeatOf)
        .map(a => a.repeatOf)
    expect(controls({ axes: { link: ['ratings'] }, cpuLimits: [1] })).toEqual(['ratings-pipy-1'])
    expect(controls({ axes: { link: ['ratings'] }, cpuLimits: [1], profile: 'quick' })).toEqual([])
    expect(controls({ axes: { link: ['ratings'] }, cpuLimits: [1], planes: [choiceOf('envoy')] })).toEqual([])
  })

  it('makes an open loop of a rate, with a warm-up in which every user has its turns', () => {
    const { arms } = plan({ axes: { link: ['ratings'], ratePerSecond: [100, 1000] }, cpuLimits: [1], profile: 'quick' })
    expect(arms.map(a => a.id)).toEqual(
      ['none-100rps', 'pipy-1-100rps', 'envoy-1-100rps', 'none-1000rps', 'pipy-1-1000rps', 'envoy-1-1000rps'].map(
        id => `ratings-${id}`,
      ),
    )
    expect(arms[1].load).toMatchObject({ kind: 'open', users: 64, ratePerSecond: 100, warmupSeconds: 2.88 })
    expect(arms[4].load.warmupSeconds).toBe(1.5)
  })

  it('warms sidecars up for as long as the handshakes take with their CPU request, if a neighbour fills the node', () => {
    const axes = { link: ['ratings'], ratePerSecond: [100], cpuRequestCores: [0.02, 1] }
    const options = { cpuLimits: /** @type {const} */ ('none'), profile: 'quick', planes: [choiceOf('pipy')] }
    const warmups = (/** @type {object} */ beside) =>
      plan({ ...options, axes: { ...axes, ...beside } }).arms.map(({ load }) => load.warmupSeconds)
    expect(warmups({ neighbourCores: [2] })).toEqual([16, 2.88])
    expect(warmups({})).toEqual([2.88, 2.88])
  })

  it('refuses two variants of one name', () => {
    const planes = ['/a/x', '/b/x'].map(variant => ({ ...choiceOf('pipy'), variant }))
    expect(() => plan({ planes })).toThrow('two variants are both called pipy=x')
  })
})

describe('largestBindingCpuLimit', () => {
  it.each([
    [1, 0.25],
    [2, 0.5],
    [4, 1],
    [8, 2],
  ])('is, on %i CPUs, %d cores', (cpus, cap) => expect(findLargestBindingCpuLimit(cpus)).toBe(cap))
})

describe('a plan with a precision', () => {
  const precise = (/** @type {object} */ overrides, maxMinutes = 60) =>
    plan({ cpuLimits: [1], axes: { link: ['ratings'] }, precision: { width: 0.03, maxMinutes }, ...overrides })

  it('has the rounds that there is time for, in the same order for any time', () => {
    const [short, long] = [10, 60].map(minutes => precise({}, minutes))
    expect(estimatePlanSeconds(short)).toBeLessThanOrEqual(600)
    expect(estimatePlanSeconds(short)).toBeGreaterThan(560)
    expect(long.rounds).toBeGreaterThan(5 * short.rounds)
    expect(long.trials.slice(0, short.trials.length)).toEqual(short.trials)
    expect(plan({ cpuLimits: [1], axes: { link: ['ratings'] } }).trials).toEqual(short.trials.slice(0, 6 * 4))
  })

  it('is refused if the time is too short, and what else cannot be precise', () => {
    expect(() => precise({}, 2)).toThrow(
      /--precision needs at least 8 rounds, about 4 min here, and --max-minutes allows 2: give it 4/,
    )
    expect(() => precise({ rounds: 6 })).toThrow('leave out --rounds')
    expect(() => precise({ planes: [choiceOf('pipy')] })).toThrow('no two planes are compared: name two with --planes')
  })
})

describe('the axes of a plan', () => {
  it('are combined, each value with each, and named in the arm if there are several', () => {
    const arms = idsOf(
      planOf('plane: [envoy, "envoy:osm-1.1"], link: [pair], workers: [1, 2], users: [50], cpuLimitCores: [1]'),
    )
    expect(arms).toEqual([
      'pair-envoy-1-1-worker',
      'pair-envoy-osm-1.1-1-1-worker',
      'pair-envoy-1-2-workers',
      'pair-envoy-osm-1.1-1-2-workers',
    ])
  })

  it('make no difference without sidecars if only sidecars have them', () => {
    const { arms } = planOf(
      'plane: [none, pipy], link: [pair], tls: [plaintext, rsa-2048], workers: [1, 2], cpuLimitCores: [1]',
    )
    const none = arms.filter(a => a.plane === 'none')
    expect(none.map(a => a.id)).toEqual(['pair-none-mTLS-ecdsa-p256'])
    expect(none[0].conditions).toMatchObject({ tls: 'ecdsa-p256', workers: null })
    expect(arms.filter(a => a.plane === 'pipy')).toHaveLength(4)
  })

  it('make a difference without sidecars if the load has them', () => {
    const { arms } = planOf(
      'plane: [none], link: [pair], payloadBytes: [100, 1024], connections: [kept, new], cpuLimitCores: [1]',
    )
    expect(arms.map(a => [a.load.payloadBytes, a.load.connections])).toEqual([
      [100, 'kept'],
      [100, 'new'],
      [1024, 'kept'],
      [1024, 'new'],
    ])
  })

  // The name has whole MiB: the second is taken for the first.
  it('keep two memory limits apart that differ by less than 1 MiB', () => {
    const { arms } = planOf('plane: [pipy], link: [pair], memoryLimitBytes: [12582912, 12845056], cpuLimitCores: [1]')
    expect(arms).toHaveLength(2)
  })

  it('are taken from the profile, and from what was asked before that', () => {
    const axes = 'plane: [pipy], link: [pair], users: [50, 100, 200], cpuLimitCores: [1]'
    const profiles = 'profiles: { quick: { rounds: 2, axes: { users: [10, 20] } } }'
    const users = (/** @type {object} */ overrides) => planOf(axes, profiles, { overrides }).arms.map(a => a.load.users)
    expect(users({})).toEqual([10, 20])
    expect(users({ profile: 'full' }).slice(0, 3)).toEqual([50, 100, 200])
    expect(users({ axes: { users: [7] } })).toEqual([7])
    expect(planOf(axes, profiles).rounds).toBe(2)
    expect(planOf(axes, profiles, { overrides: { rounds: 5 } }).rounds).toBe(5)
  })

  it('are cut to their ends for a smoke run, those too that its profile has of its own', () => {
    const axes = 'plane: [pipy], link: [pair], services: [1, 5, 10], users: [50], cpuLimitCores: [1]'
    const services = (rest = '') =>
      planOf(axes, rest, { overrides: { profile: 'smoke' } }).arms.map(a => a.conditions.services)
    expect(services()).toEqual([1, 10])
    expect(services('profiles: { smoke: { axes: { services: [2, 3, 4] } } }')).toEqual([2, 4])
  })

  it('give a rate to each service if it is of a service', () => {
    const axes = 'plane: [pipy], link: [pair], services: [1, 10], ratePerSecond: [100], cpuLimitCores: [1]'
    const rates = (rest = '') => planOf(axes, rest).arms.map(a => a.load.ratePerSecond)
    expect(rates()).toEqual([100, 100])
    expect(rates('load: { ratePer: service }')).toEqual([100, 1000])
  })

  it('drop the caps above the CPUs, and none for that alone that they cannot bind at a rate', () => {
    const axes = 'plane: [pipy], link: [pair], cpuLimitCores: [1, 2, 4]'
    const caps = (/** @type {ReturnType<typeof planOf>} */ { arms }) => arms.map(a => a.cpuLimitCores)
    expect(caps(planOf(axes, '', { cpus: 4 }))).toEqual([1])
    const open = planOf(`${axes}, ratePerSecond: [100]`, '', { cpus: 2 })
    expect(caps(open)).toEqual([1, 2])
    expect(open.notMeasured).toEqual([
      { plane: 'every plane at 4 CPU each', reason: 'this machine has 2 CPUs', cpuLimitsCores: [4] },
    ])
  })

  it('make an idle load of no users', () => {
    const { arms } = planOf('plane: [pipy], link: [pair], cpuLimitCores: [0.25]', 'load: { kind: idle }')
    expect(arms[0].load).toMatchObject({ kind: 'idle', users: 0, warmupSeconds: 1.5, windowSeconds: 3.5 })
    expect(arms[0].load).not.toHaveProperty('ratePerSecond')
  })

  it('give a client a certificate only if its sidecar speaks mTLS', () => {
    const axes = 'plane: [none, pipy], link: [pair], tls: [plaintext, rsa-2048], cpuLimitCores: [1]'
    const { arms } = planOf(axes, 'load: { hasCertificate: true }')
    expect(arms.map(a => [a.plane, a.conditions.tls, a.load.hasCertificate])).toEqual([
      ['none', 'ecdsa-p256', false],
      ['pipy', 'plaintext', false],
      ['pipy', 'rsa-2048', true],
    ])
  })

  it('give a burst a window with two seconds before it, and twice its length or eight seconds after it', () => {
    const axes = 'plane: [pipy], link: [pair], ratePerSecond: [100], burstSeconds: [1, 30], cpuLimitCores: [1]'
    const { arms } = planOf(axes, 'load: { burstFactor: 3 }')
    expect(arms.map(a => [a.load.burst, a.load.windowSeconds])).toEqual([
      [{ factor: 3, beginsSeconds: 2, seconds: 1 }, 11],
      [{ factor: 3, beginsSeconds: 2, seconds: 30 }, 92],
    ])
    const { arms: higher } = planOf(axes, 'load: { burstFactor: 3 }', { overrides: { burstFactor: 10 } })
    expect(higher.map(a => a.load.burst?.factor)).toEqual([10, 10])
  })

  it('have windows and warm-ups of at least what the place of the run needs', () => {
    const overrides = { windowLeastSeconds: 120, warmupLeastSeconds: 30 }
    const [arm] = planOf('plane: [pipy], link: [pair], cpuLimitCores: [1]', '', { overrides }).arms
    expect(arm.load).toMatchObject({ warmupSeconds: 30, windowSeconds: 120 })
  })

  it('do without what a plane cannot do, and say each reason once', () => {
    const axes = 'plane: [pipy, envoy], link: [pair], protocol: [http/1.1, http/2], users: [5, 6], cpuLimitCores: [1]'
    const left = planOf(axes, '', {
      findUnsupported: ({ plane, conditions }) =>
        plane === 'pipy' && conditions.protocol === 'http/2' ? { reason: 'no', isRefused: true } : null,
    })
    expect(left.arms.map(a => [a.plane, a.conditions.protocol])).toEqual([
      ['pipy', 'http/1.1'],
      ['envoy', 'http/1.1'],
      ['envoy', 'http/2'],
      ['pipy', 'http/1.1'],
      ['envoy', 'http/1.1'],
      ['envoy', 'http/2'],
    ])
    expect(left.notMeasured).toEqual([{ plane: 'pipy', reason: 'no', isRefused: true }])
    expect(left.trials.every(t => left.arms.includes(t.arm))).toBe(true)
  })

  it('refuse a run of which nothing is left', () => {
    const axes = 'plane: [pipy], link: [pair], cpuLimitCores: [1]'
    expect(() => planOf(axes, '', { findUnsupported: () => ({ reason: 'it is full' }) })).toThrow(
      'nothing to measure: pipy: it is full',
    )
  })

  it('repeat an arm (A/A) of every combination, and none of a plane alone', () => {
    const controls = (/** @type {string} */ planes) =>
      planOf(`plane: [${planes}], link: [pair], users: [5, 6], cpuLimitCores: [1]`, '', {
        overrides: { profile: 'full' },
      })
        .arms.filter(a => a.repeatOf)
        .map(a => [a.id, a.repeatOf])
    expect(controls('pipy, envoy')).toEqual([
      ['pair-pipy-1-5-users-aa', 'pair-pipy-1-5-users'],
      ['pair-pipy-1-6-users-aa', 'pair-pipy-1-6-users'],
    ])
    expect(controls('none, pipy')).toEqual([])
  })
})

describe('a plan with a search', () => {
  const axes = 'plane: [pipy, envoy], link: [pair], users: [20], cpuLimitCores: [0.5]'
  const knee = 'search: { kind: knee, p99Ms: 50, startPerSecond: 400 }'

  it('has an arm to start from for each plane, and neither trials nor A/A', () => {
    const plan = planOf(axes, knee, { overrides: { profile: 'standard' } })
    expect(idsOf(plan)).toEqual(['pair-pipy-0.5', 'pair-envoy-0.5'])
    expect(plan.trials).toEqual([])
    expect(plan.search).toEqual({ kind: 'knee', p99Ms: 50, startPerSecond: 400, precision: 0.05 })
  })

  it('is coarse in a smoke run', () => {
    expect(planOf(axes, knee, { overrides: { profile: 'smoke' } }).search?.precision).toBe(0.5)
  })

  it('takes a cap that could not bind in a closed loop', () => {
    expect(planOf(axes.replace('0.5', '1'), knee, { cpus: 1 }).arms.map(a => a.cpuLimitCores)).toEqual([1, 1])
  })

  it('has windows that hold 1050 requests at its rate', () => {
    const memory = 'search: { kind: memory-floor }'
    const windows = (/** @type {number} */ rate) =>
      planOf(`${axes}, ratePerSecond: [${rate}]`, memory).arms.map(a => a.load.windowSeconds)
    expect(windows(100)).toEqual([10.5, 10.5])
    expect(windows(1000)).toEqual([3.5, 3.5])
  })

  it('has none if none was requested', () => expect(planOf(axes).search).toBeNull())
})

describe('the calibrations of a plan', () => {
  const axes = 'plane: [none, pipy], link: [pair], services: [1, 10], ratePerSecond: [100, 1000], cpuLimitCores: [1]'
  const plan = planOf(axes, 'mostOfCapacity: 0.8')

  it('are closed loops of three seconds, one for all rates of a plane', () => {
    expect(plan.mostOfCapacity).toBe(0.8)
    expect(plan.calibrations.map(a => a.id)).toEqual([
      'capacity-pair-none-1-service',
      'capacity-pair-pipy-1-1-service',
      'capacity-pair-none-10-services',
      'capacity-pair-pipy-1-10-services',
    ])
    expect(plan.calibrations[1].load).toMatchObject({ kind: 'closed', users: 64, windowSeconds: 3 })
    expect(plan.calibrations[1].load).not.toHaveProperty('ratePerSecond')
  })

  it('are found for every arm, that which repeats one (A/A) too', () => {
    for (const arm of plan.arms) {
      const calibration = plan.calibrations.find(c => c.id === arm.calibratedBy)
      expect([calibration?.plane, calibration?.conditions.services]).toEqual([arm.plane, arm.conditions.services])
    }
  })

  it('are empty if nothing is left out', () => expect(planOf(axes).calibrations).toEqual([]))
})

describe('withWarmupFor', () => {
  it('gives handshakes at a small cap, and low rates, the time they need', () => {
    const warmup = (/** @type {number} */ cpuLimitCores, /** @type {number} */ ratePerSecond) =>
      extendSearchWarmup(createArm({ cpuLimitCores, load: { kind: 'open', users: 64, ratePerSecond } })).load
        .warmupSeconds
    // 64 × 5 ms / 0.02 cores; three requests of 64 users, and a half more, at 100/s; and what it had.
    expect(warmup(0.02, 1000)).toBe(16)
    expect(warmup(1, 100)).toBe(2.88)
    expect(warmup(1, 1000)).toBe(1)
  })
})

describe('estimatePlanSeconds', () => {
  it('adds to the trials the checks, the calibrations and a search', () => {
    const axes = 'plane: [pipy, envoy], link: [pair], ratePerSecond: [1000], cpuLimitCores: [1]'
    // Each trial 1.5 + 3.5 + 1.4 s; checks 1 + 2 × 4 + 2 × 0.4; calibrations 1.5 + 3 + 1.4.
    expect(estimatePlanSeconds(planOf(axes))).toBeCloseTo(6 * 6.4 + 9.8, 9)
    expect(estimatePlanSeconds(planOf(axes, 'mostOfCapacity: 0.8'))).toBeCloseTo(6 * 6.4 + 9.8 + 2 * 5.9, 9)
    expect(estimatePlanSeconds(planOf(axes, 'search: { kind: memory-floor }'))).toBeCloseTo(9.8 + 24 * 6.4, 9)
  })
})

describe('estimateMostSeconds', () => {
  const axes = 'plane: [pipy, envoy], link: [pair], ratePerSecond: [1000], cpuLimitCores: [1]'
  it('has the trials of a search for limits on a busy machine, beside those that it usually takes', () => {
    const sized = planOf(axes, 'search: { kind: size, p99Ms: 50, isExtrapolated: false }')
    expect(estimatePlanSeconds(sized)).toBeCloseTo(9.8 + 12 * 6.4, 9)
    expect(estimateMostSeconds(sized)).toBeCloseTo(9.8 + 62 * 6.4, 9)
  })

  it('is null for runs whose trials are known, and for searches without a bound', () => {
    expect(estimateMostSeconds(planOf(axes))).toBeNull()
    expect(estimateMostSeconds(planOf(axes, 'search: { kind: memory-floor }'))).toBeNull()
  })
})

describe('a plan with a control plane', () => {
  const rollout = (
    more = '',
    axes = 'plane: [pipy], link: [pair], cpuLimitCores: none, sidecars: [200, 1600], tls: [plaintext]',
  ) => parseExperiment(`name: rollout\nquestion: q\naxes: { ${axes} }\nload: { kind: idle }\n${more}`, 'rollout.yaml')
  const planOf = (overrides = {}, experiment = rollout()) =>
    createFakePlan(experiment, {
      overrides,
      cpus: 2,
      listControls: plane => ({ pipy: ['repo'], envoy: ['file', 'ads'] })[plane] ?? [],
      findRealMost: ({ control }) => (control === 'ads' ? 400 : null),
    })
  const both = 'plane: [pipy, envoy], link: [pair], cpuLimitCores: none, sidecars: [2], tls: [plaintext]'

  it('has an arm of each number of sidecars, without a cap, and takes longer for more', () => {
    const { arms, trials } = planOf()
    expect(arms.map(arm => [arm.id, arm.cpuLimitCores, arm.conditions.sidecars])).toEqual([
      ['pair-pipy-repo-200-sidecars', null, 200],
      ['pair-pipy-repo-1600-sidecars', null, 1600],
    ])
    const [few, many] = arms.map(({ id }) => estimateSeconds(trials.filter(trial => trial.arm.id === id)))
    expect(many - few).toBeGreaterThan(100)
  })

  it('asks for other numbers, and for nothing that its sidecars have not', () => {
    expect(planOf({ axes: { sidecars: [7] } }).arms.map(arm => arm.conditions.sidecars)).toEqual([7])
    expect(() => planOf({ cpuLimits: [0.5] })).toThrow('--cpu: the sidecars of rollout run in batches')
    expect(() => planOf({ axes: { memoryLimitBytes: [2 ** 26] } })).toThrow(
      '--memory: rollout cannot vary memoryLimitBytes with its sidecars',
    )
    expect(() => planOf({ planes: [choiceOf('none')] })).toThrow(
      '--planes none: rollout starts sidecars, and it has none',
    )
  })

  it('has the first control of each plane, or the requested ones that a plane has, and compares across them', () => {
    const namesOf = (/** @type {ReturnType<typeof planOf>} */ { arms }) =>
      arms.filter(arm => arm.repeatOf === null).map(renderArmName)
    expect(namesOf(planOf({}, rollout('', both)))).toEqual(['pipy@repo', 'envoy@file'])
    const several = planOf({ controls: ['ads', 'file'] }, rollout('', both))
    expect(namesOf(several)).toEqual(['pipy@repo', 'envoy@ads', 'envoy@file'])
    expect(new Set(several.arms.map(arm => createGroupKey(arm))).size).toBe(1)
    const experiment = rollout('', `${both}, control: [ads]`)
    expect(namesOf(planOf({}, experiment))).toEqual(['pipy@repo', 'envoy@ads'])
    expect(namesOf(planOf({ planes: [{ ...choiceOf('envoy'), control: 'file' }] }, experiment))).toEqual(['envoy@file'])
  })

  it('simulates sidecars beyond the most that are real, if a control plane has simulated ones, and says so', () => {
    const many = rollout(
      '',
      'plane: [pipy, envoy], link: [pair], cpuLimitCores: none, sidecars: [400, 1600], tls: [plaintext]',
    )
    const simulatedOf = (overrides = {}) =>
      planOf({ controls: ['ads'], ...overrides }, many)
        .arms.filter(({ repeatOf }) => repeatOf === null)
        .map(arm => [renderArmName(arm), arm.conditions.simulated])
    expect(simulatedOf()).toEqual([
      ['pipy@repo', undefined],
      ['envoy@ads', undefined],
      ['pipy@repo', undefined],
      ['envoy@ads (1200 of 1600 simulated)', 1200],
    ])
    expect(simulatedOf({ realMost: 800 }).at(-1)).toEqual(['envoy@ads (800 of 1600 simulated)', 800])
    expect(() => planOf({ realMost: 20 })).toThrow(
      '--real 20: no control plane of this run has simulated sidecars: pipy@repo',
    )
  })

  it('refuses a control that no plane has, and one where nothing is controlled', () => {
    expect(() => planOf({ controls: ['ads'] })).toThrow('--control ads: no plane of this run has it: pipy has repo')
    expect(() => plan({ controls: ['repo'] })).toThrow('--control needs an experiment with a control plane')
    const planes = [{ ...choiceOf('envoy'), control: 'ads' }]
    expect(() => plan({ planes })).toThrow('--planes envoy@ads needs an experiment with a control plane')
  })

  it('takes the requested control for changes of one sidecar, and names none that was not requested', () => {
    const axes = 'plane: [pipy, envoy], link: [pair], cpuLimitCores: [1], changesPerMinute: [60]'
    const reload = (more = '') =>
      parseExperiment(
        `name: reload\nquestion: q\naxes: { ${axes}${more} }\nprofiles: { standard: { hasControl: false } }\n`,
        'reload.yaml',
      )
    const namesOf = (/** @type {object} */ overrides, experiment = reload()) =>
      planOf(overrides, experiment).arms.map(renderArmName)
    expect(namesOf({})).toEqual(['pipy', 'envoy'])
    expect(namesOf({ controls: ['file', 'ads'] })).toEqual(['pipy@repo', 'envoy@file', 'envoy@ads'])
    expect(namesOf({ planes: [choiceOf('envoy'), { ...choiceOf('envoy'), control: 'ads' }] })).toEqual([
      ...['envoy', 'envoy@ads'],
    ])
    expect(namesOf({}, reload(', control: [ads]'))).toEqual(['pipy@repo', 'envoy@ads'])
    expect(() => planOf({ controls: ['xds'] }, reload())).toThrow('--control xds: no plane of this run has it')
    expect(() => planOf({ axes: { shards: [2] } }, reload())).toThrow(
      '--shards needs an experiment with a control plane',
    )
  })

  it('has an arm of each limit of the control plane', () => {
    const { arms } = planOf({
      axes: { sidecars: [20], controlCpuLimitCores: [0.5, null], controlMemoryBytes: [2 ** 26] },
    })
    expect(
      arms.map(({ id, conditions }) => [id, conditions.controlCpuLimitCores, conditions.controlMemoryBytes]),
    ).toEqual([
      ['pair-pipy-repo-control-plane-at-0.5-cores', 0.5, 2 ** 26],
      ['pair-pipy-repo', undefined, 2 ** 26],
    ])
    expect(() => plan({ axes: { controlCpuLimitCores: [1] } })).toThrow(
      '--control-cpu needs an experiment with a control plane',
    )
    expect(() => plan({ axes: { controlMemoryBytes: [2 ** 26] } })).toThrow('--control-memory needs an experiment')
  })

  it('removes a shard if there is another', () => {
    const { arms } = planOf({ axes: { sidecars: [20], shards: [2, 3], isShardRemoved: [true] } })
    expect(arms.map(({ id, conditions }) => [id, conditions.isShardRemoved])).toEqual([
      ['pair-pipy-repo-2-shards', true],
      ['pair-pipy-repo-3-shards', true],
    ])
    const refused = 'has an arm with one control plane: give it --shards of at least 2'
    expect(() => planOf({ axes: { isShardRemoved: [true] } })).toThrow(refused)
    expect(() => planOf({ axes: { shards: [1, 3], isShardRemoved: [true] } })).toThrow(refused)
    expect(() => plan({ axes: { isShardRemoved: [true] } })).toThrow('--remove-shard needs an experiment')
    const axes =
      'plane: [pipy], link: [pair], cpuLimitCores: none, sidecars: [20], isShardRemoved: [null], tls: [plaintext]'
    const growing = rollout('grows: { deadlineSeconds: 10 }\ntargets: [local]', axes)
    expect(() => planOf({}, growing)).toThrow('axes.isShardRemoved applies only to rollout; rollout measures growth')
  })

  it('removes no shard together with services', () => {
    const axes = { sidecars: [20], shards: [2], configuredServices: [10] }
    const both = { isShardRemoved: [true], areServicesRemoved: [true] }
    expect(() => planOf({ axes: { ...axes, ...both } })).toThrow('leave --remove-services or --remove-shard out')
  })

  it('has an arm of each number of shards, and asks for no assignment to one', () => {
    const { arms } = planOf({ axes: { sidecars: [20], shards: [1, 3], commitsPerSecond: [50], commitsAtOnce: [8] } })
    expect(arms.map(arm => [arm.id, arm.conditions.shards])).toEqual([
      ['pair-pipy-repo-1-shard', 1],
      ['pair-pipy-repo-3-shards', 3],
    ])
    expect(arms[0].conditions).toMatchObject({ commitsPerSecond: 50, commitsAtOnce: 8 })
    expect(() => planOf({ axes: { assignment: ['legacy-hash'] } })).toThrow('has one control plane: give it --shards')
    expect(planOf({ axes: { sidecars: [3, 20], shards: [3] } }).arms).toHaveLength(2)
    expect(() => planOf({ axes: { sidecars: [20, 2], shards: [1, 3] } })).toThrow(
      'asked for 3 shards of 2 sidecars, and some would have none: give --shards of at most 2, or more --sidecars',
    )
    expect(() => planOf({ axes: { sizes: ['equal', 'random'] } })).toThrow('leave --sizes out')
    expect(() => plan({ axes: { shards: [3] } })).toThrow('--shards needs an experiment with a control plane')
    const axes = 'plane: [pipy], link: [pair], cpuLimitCores: none, shards: [2], tls: [plaintext]'
    expect(() => planOf({}, rollout('', axes))).toThrow('has the axis shards, and no axis sidecars')
  })

  it('grows by whole steps, and where no control plane runs, without limits and with a note', () => {
    const axes =
      'plane: [pipy, envoy], link: [pair], cpuLimitCores: none, tls: [plaintext], controlMemoryBytes: [67108864]'
    const growing = (/** @type {string} */ more) =>
      rollout('grows: { deadlineSeconds: 150 }\ntargets: [local]', `${axes}${more}`)
    const { arms, notes, settings } = createFakePlan(growing(', sidecars: [40]'), {
      cpus: 2,
      runsControl: ({ plane }) => plane === 'pipy',
    })
    expect(arms.map(({ plane, conditions }) => [plane, conditions.controlMemoryBytes])).toEqual([
      ['pipy', 2 ** 26],
      ['envoy', undefined],
    ])
    expect(notes).toEqual([expect.stringMatching('envoy: its sidecars grow without a control plane')])
    expect(settings.grows).toEqual({ deadlineSeconds: 150 })
    expect(() => planOf({}, growing(', sidecars: [50]'))).toThrow('--sidecars 50: rollout adds 20 at a time')
    expect(() => planOf({}, growing(''))).toThrow('add the axis sidecars')
  })

  it('is one of idle sidecars without caps, which are started anew', () => {
    expect(() => planOf({}, rollout('keepsServices: true'))).toThrow('keep no services')
    expect(() =>
      planOf({}, rollout('', 'plane: [pipy], link: [pair], cpuLimitCores: [1], sidecars: [2], tls: [plaintext]')),
    ).toThrow('cpuLimitCores none')
    const axes = 'plane: [pipy], link: [pair], cpuLimitCores: none, sidecars: [2], tls: [plaintext]'
    expect(() => planOf({}, rollout('', `${axes}, memoryLimitBytes: [67108864]`))).toThrow(
      'axes.memoryLimitBytes: rollout cannot vary memoryLimitBytes with its sidecars',
    )
  })

  it('is not asked of an experiment without one', () => {
    expect(() => plan({ axes: { sidecars: [20] } })).toThrow('--sidecars needs an experiment with a control plane')
  })
})
