import { describe, expect, it } from 'vitest'
import {
  createControlExperiment,
  createServicesExperiment,
  createSizeExperiment,
  parseServices,
} from '../../src/request/size-experiment.js'
import { createFakePlan } from '../fakes/fake-plan.js'

const request = {
  ...{ ratePerSecond: 300, p99Ms: 20, link: 'pair', users: null, payloadBytes: null, features: null },
  isExtrapolated: false,
}

describe('createControlExperiment', () => {
  it('has rollouts of six sizes up to the requested one', () => {
    expect(createControlExperiment(800)).toMatchObject({
      axes: { sidecars: [100, 200, 300, 400, 600, 800], cpuLimitCores: 'none' },
      ...{ sizesControlOf: 800, search: null, grows: null },
    })
    expect(createControlExperiment(6).axes.sidecars).toEqual([1, 2, 3, 5, 6])
    expect(() => createControlExperiment(5)).toThrow('--sidecars 5: the need is told by a slope: ask for at least 6')
  })
})

describe('createSizeExperiment', () => {
  it('asks the question as an experiment of this machine, with a search', () => {
    expect(createSizeExperiment(request)).toMatchObject({
      name: 'size',
      question: 'Which CPU and memory limit holds 300 requests/s with a p99 of at most 20 ms?',
      axes: { plane: ['pipy', 'envoy'], link: ['pair'], ratePerSecond: [300], cpuLimitCores: [1] },
      ...{ trafficPolicy: 'open', targets: ['local'] },
      search: { kind: 'size', p99Ms: 20, isExtrapolated: false },
    })
  })

  it('asks for the CPU request beside a neighbour, without a limit', () => {
    expect(createSizeExperiment({ ...request, neighbourCores: 2 })).toMatchObject({
      question:
        'Which CPU request and memory limit holds 300 requests/s with a p99 of at most 20 ms, beside a neighbour of 2 CPUs?',
      axes: { neighbourCores: [2], cpuLimitCores: 'none' },
    })
    expect(createSizeExperiment(request).axes).not.toHaveProperty('neighbourCores')
    const plan = createFakePlan(createSizeExperiment({ ...request, neighbourCores: 2 }), { cpus: 2 })
    expect(plan.arms.map(arm => [arm.cpuLimitCores, arm.conditions.neighbourCores])).toEqual([
      [null, 2],
      [null, 2],
    ])
  })

  it('asks for what all sidecars have, and leaves the rest to its defaults', () => {
    const { axes } = createSizeExperiment({
      ...request,
      interception: 'redirect',
      protocol: 'http/2',
      tls: 'plaintext',
    })
    expect(axes).toMatchObject({ interception: ['redirect'], protocol: ['http/2'], tls: ['plaintext'] })
    for (const name of /** @type {const} */ (['interception', 'protocol', 'tls']))
      expect(createSizeExperiment(request).axes).not.toHaveProperty(name)
  })

  it('asks for the requests that were described, of one service or of several without a payload', () => {
    const requests = { responseBytes: 14336, serviceTime: '30ms' }
    const { axes } = createSizeExperiment({ ...request, p99Ms: 80, requests })
    expect(axes).toMatchObject({ responseBytes: [14336], serviceTime: ['30ms'] })
    const of = { features: null, link: 'pair', users: null, p99Ms: 80, payloadBytes: null, requests }
    const orders = { name: 'orders', ratePerSecond: 300, p99Ms: null, payloadBytes: null }
    expect(createServicesExperiment({ ...of, services: [orders] }).axes).not.toHaveProperty('payloadBytes')
    const images = { ...orders, name: 'images', payloadBytes: 100 }
    expect(() => createServicesExperiment({ ...of, services: [orders, images] })).toThrow(
      'the service images has a payload',
    )
  })

  it('leaves users and payload to their defaults if they were not requested', () => {
    const { axes } = createSizeExperiment(request)
    expect([axes.users, axes.payloadBytes]).toEqual([undefined, undefined])
    const experiment = createSizeExperiment({ ...request, users: 10, payloadBytes: 100 })
    expect(experiment.axes).toMatchObject({ users: [10], payloadBytes: [100] })
  })

  it('sizes sidecars with features, and says so', () => {
    const { axes, question } = createSizeExperiment({ ...request, features: 'access-log' })
    expect(axes.features).toEqual(['access-log'])
    expect(question).toContain('of at most 20 ms, in sidecars with access-log?')
    expect(createSizeExperiment(request).axes.features).toBeUndefined()
  })

  it.each([1, 2, 16])('can be planned on %i CPUs, with windows that hold a p99', cpus => {
    const plan = createFakePlan(createSizeExperiment(request), { cpus, overrides: { profile: 'quick' } })
    expect(plan.arms.map(a => [a.id, a.load.windowSeconds])).toEqual([
      ['pair-pipy-1-300rps', 3.5],
      ['pair-envoy-1-300rps', 3.5],
    ])
    expect(plan.trials).toEqual([])
  })

  it('refuses what is no limit', () => {
    expect(() => createSizeExperiment({ ...request, p99Ms: 0 })).toThrow('search.p99Ms')
  })
})

const TEXT = `services:
  - { name: orders, requestsPerSecond: 300, p99: 20ms }
  - { name: images-2, requestsPerSecond: 0.5, payload: 64KiB }
`
const parse = (/** @type {string} */ text) => parseServices(text, 'services.yaml')
const ofServices = { features: null, link: 'pair', users: null, p99Ms: 50, payloadBytes: null }

describe('parseServices', () => {
  it('reads services with their loads', () => {
    expect(parse(TEXT)).toEqual([
      { name: 'orders', ratePerSecond: 300, p99Ms: 20, payloadBytes: null },
      { name: 'images-2', ratePerSecond: 0.5, p99Ms: null, payloadBytes: 65536 },
    ])
  })

  it.each([
    ['services: []', 'services.yaml:1: services: at least one service is needed'],
    [TEXT.replace('requestsPerSecond: 300', 'rate: 300'), 'services.yaml:2: services.0.rate: unknown name "rate"'],
    [TEXT.replace('images-2', 'orders'), 'services.yaml:1: services: two services have the same name'],
    [TEXT.replace('orders', 'Orders'), 'services.yaml:2: services.0.name: lower case letters, digits and hyphens'],
    [TEXT.replace('20ms', '20'), 'services.yaml:2: services.0.p99: a time such as 20ms or 1.5s is needed'],
    [TEXT.replace('64KiB', 'much'), 'services.yaml:3: services.1.payload: a size such as 1KiB is needed'],
    [TEXT.replace('0.5', '0'), 'services.yaml:3: services.1.requestsPerSecond: at least 0.1 requests/s'],
    [TEXT.replace('20ms', '2000s'), 'services.yaml:2: services.0.p99: at most 60 s'],
  ])('refuses %j', (text, message) => expect(() => parse(text)).toThrow(message))
})

describe('createServicesExperiment', () => {
  it('asks for every payload once, with the p99 of those that say none', () => {
    const { axes, search } = createServicesExperiment({ ...ofServices, services: parse(TEXT) })
    expect(axes).toMatchObject({ ratePerSecond: [300], payloadBytes: [1024, 65536], link: ['pair'] })
    expect(search).toEqual({
      kind: 'services',
      services: [
        { name: 'orders', ratePerSecond: 300, p99Ms: 20, payloadBytes: 1024 },
        { name: 'images-2', ratePerSecond: 0.5, p99Ms: 50, payloadBytes: 65536 },
      ],
    })
  })

  it('names a service without a p99', () => {
    expect(() => createServicesExperiment({ ...ofServices, p99Ms: null, services: parse(TEXT) })).toThrow(
      'the service images-2 has no p99: add one such as p99: 20ms, or --p99',
    )
  })
})
