import { describe, expect, it } from 'vitest'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { loadGenerators } from '../../src/loads/registry.js'
import { assertPlanRunnable, findUnsupported } from '../../src/prepare/supported.js'
import { createArm, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'

const PLANES = await loadPlanes()
const LOADS = await loadGenerators()

/** @import { Arm, Conditions, Service } from '../../src/model/types.ts' */

/**
 * @param {Partial<Conditions>} overrides
 * @param {Partial<Pick<Arm, 'plane' | 'profile' | 'load'>> & { calls?: string[], listener?: 'inbound' | 'outbound',
 *   limits?: any, pinnableCpus?: number }} [options]
 */
function refused(overrides, { calls = ['ratings'], listener = 'inbound', limits, pinnableCpus = 2, ...fields } = {}) {
  const services = /** @type {Service[]} */ ([
    { name: 'gateway', application: 'forward', calls },
    { name: 'ratings', application: 'echo', calls: [] },
  ])
  const unsupported = findUnsupported({
    planes: PLANES,
    kind: 'capacity',
    arm: createArm({ plane: 'envoy', ...fields, conditions: { ...DEFAULT_CONDITIONS, protocol: 'tcp', ...overrides } }),
    topology: { name: 't', services, entry: { service: 'gateway', listener } },
    ...{ tools: {}, lacks: {}, cpus: 2, pinnableCpus, limits },
  })
  return unsupported?.reason ?? null
}

describe('a certificate that changes', () => {
  const rotated = /** @type {const} */ ({ protocol: 'http/1.1', changesPerMinute: 60, changed: 'certificate' })

  it('is given to a sidecar that callers see', () => {
    expect(refused(rotated)).toBeNull()
    expect(refused({ ...rotated, tls: 'plaintext' })).toMatch('its certificate is looked at from outside')
    expect(refused(rotated, { listener: 'outbound' })).toMatch('its certificate is looked at from outside')
  })
})

it('leaves out arms apart from the generator where no CPUs can be given out', () => {
  const load = { ...createArm({}).load, placement: /** @type {const} */ ('apart') }
  expect(refused({ protocol: 'http/1.1' }, { load })).toBeNull()
  expect(refused({ protocol: 'http/1.1' }, { load, pinnableCpus: 0 })).toMatch(
    'the generator has CPUs of its own only on',
  )
})

describe('sidecars that carry bytes', () => {
  it('are given by four planes', () => {
    for (const plane of ['pipy', 'envoy', 'haproxy', 'nginx']) expect(refused({}, { plane })).toBeNull()
  })

  it.each(
    /** @type {[RegExp, Partial<Conditions>, Parameters<typeof refused>[1]?][]} */ ([
      [/access-log, metrics: of requests/, { features: 'access-log+metrics' }],
      [/told by their host/, { configuredServices: 10 }],
      [/asked by host/, { changesPerMinute: 6 }],
      [/redirected connections mean one port/, { interception: 'redirect' }, { calls: ['ratings', 'gateway'] }],
      [/a port declared http/, {}, { profile: 'istio' }],
      [/ports declared http/, { interception: 'redirect' }, { plane: 'pipy', profile: 'fsm' }],
      [/layer4/, {}, { plane: 'caddy' }],
    ]),
  )('are refused: %s', (reason, overrides, options) => expect(refused(overrides, options)).toMatch(reason))
})

describe('sidecars that carry gRPC', () => {
  it.each(['envoy', 'nginx', 'caddy'])('are given by %s', plane =>
    expect(refused({ protocol: 'grpc', configuredServices: 10 }, { plane })).toBeNull())

  it.each(
    /** @type {[RegExp, Partial<Conditions>, Parameters<typeof refused>[1]?][]} */ ([
      [/access-log: tried with requests of HTTP\/1.1 only/, { features: 'access-log' }],
      [/asked by HTTP\/1.1/, { changesPerMinute: 6 }],
      [/asked by HTTP\/1.1/, { ending: 'sigterm' }],
      [/none for one declared grpc/, {}, { profile: 'osm-1.1' }],
      [/crash/, {}, { plane: 'pipy' }],
      [/crash/, { interception: 'redirect' }, { plane: 'pipy', profile: 'fsm' }],
      [/holds up others/, {}, { plane: 'haproxy' }],
    ]),
  )('are refused: %s', (reason, overrides, options) =>
    expect(refused({ protocol: 'grpc', ...overrides }, options)).toMatch(reason))
})

describe('copies of a link under a load', () => {
  const load = /** @type {any} */ ({ kind: 'closed', users: 8 })
  it('are as many as users at most, each with a server of its own', () => {
    const http = /** @type {const} */ ({ protocol: 'http/1.1' })
    expect(refused({ ...http, pairs: 8 }, { load })).toBeNull()
    expect(refused({ ...http, pairs: 9 }, { load })).toMatch('--pairs 9: 8 users send no request to some of them')
    expect(refused({ ...http, pairs: 8 }, { load, listener: 'outbound' })).toMatch('the load names one server')
  })

  it('are loud beside others that have a rate, over kept connections', () => {
    const http = /** @type {const} */ ({ protocol: 'http/1.1', pairs: 3 })
    const loud = /** @type {any} */ ({ kind: 'open', ratePerSecond: 100, users: 8, loudPerSecond: 500 })
    expect(refused(http, { load: loud })).toBeNull()
    // Each quiet pair has a user.
    expect(refused(http, { load: { ...loud, users: 3 } })).toBeNull()
    expect(refused(http, { load: { ...loud, users: 2 } })).toMatch('--pairs 3: 2 users send no request to some of them')
    for (const [conditions, fields] of /** @type {[any, any][]} */ ([
      [http, { kind: 'closed', ratePerSecond: undefined }],
      [{ ...http, pairs: 1 }, {}],
    ]))
      expect(refused(conditions, { load: { ...loud, ...fields } })).toBe(
        '--loud 500: one pair is loud beside others that have a rate: give --rate, and --pairs of at least 2',
      )
    for (const fields of [
      { connections: 'new' },
      { burst: { factor: 5, beginsSeconds: 2, seconds: 1 } },
      { requests: [] },
    ])
      expect(refused(http, { load: { ...loud, ...fields } })).toMatch(/--loud 500: .* without a burst/)
  })
})

it('a quota of a pod has room for the requests of its containers on Kubernetes', () => {
  const limits = { node: 'n' }
  expect(refused({ protocol: 'http/1.1', podCpuCores: 0.01 }, { limits })).toMatch('--pod-cpu 0.01: on Kubernetes')
})

describe('a sidecar that ends', () => {
  const conditionsOf = (/** @type {Partial<Conditions>} */ overrides) =>
    /** @type {Partial<Conditions>} */ ({ protocol: 'http', services: 2, changesPerMinute: 0, ...overrides })
  it('is supported by planes, and announced to the client only by a control', () => {
    expect(refused(conditionsOf({ ending: 'sigterm', changesPerMinute: null }), { plane: 'nginx' })).toBeNull()
    expect(refused(conditionsOf({ ending: 'told' }), { plane: 'pipy' })).toBeNull()
  })

  it.each(
    /** @type {[RegExp, Partial<Conditions>, Parameters<typeof refused>[1]?][]} */ ([
      [/no graceful end/, { ending: 'graceful' }, { plane: 'haproxy' }],
      [/outside of its network namespace/, { ending: 'sigterm', interception: 'redirect', changesPerMinute: null }],
      [/outside of its network namespace/, { ending: 'sigterm', interception: 'none', changesPerMinute: null }],
      [/changesPerMinute: \[0\]/, { ending: 'told', changesPerMinute: 6 }],
      [/changesPerMinute: \[0\]/, { ending: 'told', changesPerMinute: null }],
      [/another copy/, { ending: 'told', services: 1 }],
      [/which nobody calls/, { ending: 'sigterm' }, { calls: [] }],
      [/on one machine only/, { ending: 'sigterm' }, { limits: { node: 'n' } }],
      [/load of its own arm/, { ending: 'sigterm' }, { load: { kind: 'idle' } }],
      [/load of its own arm/, { ending: 'sigterm' }, { load: { kind: 'interleaved', isInterleaved: true } }],
    ]),
  )('is refused: %s', (reason, overrides, other) => expect(refused(conditionsOf(overrides), other)).toMatch(reason))
})

describe('the load of gRPC', () => {
  const armOf = (/** @type {Partial<Arm['load']>} */ load) =>
    createArm({ load: { kind: 'interleaved', ...load }, conditions: { ...DEFAULT_CONDITIONS, protocol: 'grpc' } })
  const run = (/** @type {string} */ generator, /** @type {Arm} */ arm) =>
    assertPlanRunnable({
      plan: { experiment: 'x', settings: /** @type {any} */ ({ keepsServices: false }), arms: [arm], calibrations: [] },
      load: LOADS[generator],
    })
  it('is made by k6, and not by wrk', () => {
    expect(() => run('k6', armOf({}))).not.toThrow()
    expect(() => run('wrk', armOf({}))).toThrow(
      '--generator wrk: this load calls gRPC, and wrk speaks HTTP/1.1 only: leave it out, and k6 makes the load',
    )
  })

  it.each(
    /** @type {[string, Partial<Arm['load']>][]} */ ([
      ['the load speaks mTLS', { hasCertificate: true }],
      ['the load connects anew', { connections: 'new' }],
      ['the load keeps idle connections', { idleConnections: 3 }],
    ]),
  )('is refused if %s', (reason, load) => expect(() => run('k6', armOf(load))).toThrow(`--protocol grpc: ${reason}`))
})
